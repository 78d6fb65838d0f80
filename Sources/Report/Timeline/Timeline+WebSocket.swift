import Capture
import Wire

/// Frames and messages.
extension Timeline {
    mutating func frame(_ frame: Event.FrameRecord, _ event: Event) {
        let header = frame.header
        if frame.incomplete {
            show(cutFrame(frame, event))
            return
        }
        let violations = judge(frame, event)
        if header.opcode.isControl {
            controlFrame(frame, event, violations)
            return
        }
        // A fragment, or compressed: what it says comes as a message of its own.
        if !header.fin || header.opcode == .continuation || header.rsv & 4 != 0 {
            if !violations.isEmpty {
                let text = "a frame of \(byteCount(header.payloadLength))"
                show(frameLine(event, "frame", [Styled(text)] + violations, isBroken: true))
            }
            addFragment(header, event)
            return
        }
        if let side = event.from { leftOver(side, event) }
        data(
            header.opcode, frame.content, event, suffix: violations,
            isBroken: !violations.isEmpty)
    }

    /// Which rules a frame breaks, as the end of its line.
    private mutating func judge(_ frame: Event.FrameRecord, _ event: Event) -> [Styled] {
        guard let side = event.from, var judge = connections[event.conn]?.judges[side] else {
            return []
        }
        let found: [FrameViolation] =
            switch frame.content {
            case .whole(let payload):
                judge.judge(.frame(Frame(header: frame.header, payload: payload)))
            case .pieces: judge.judge(.header(frame.header))
            }
        connections[event.conn]?.judges[side] = judge
        return found.map { Styled(" · \(visible($0.text)) (\($0.section))", .bad) }
    }

    /// Both sides speak WebSocket from here on.
    mutating func upgraded(_ conn: Int, extensions: [String]) {
        let isDeflated = extensions.contains { $0.lowercased().contains("permessage-deflate") }
        connections[conn]?.judges = [
            .app: FrameJudge(sender: .client, deflate: isDeflated),
            .board: FrameJudge(sender: .server, deflate: isDeflated),
        ]
    }

    private mutating func controlFrame(
        _ frame: Event.FrameRecord, _ event: Event, _ violations: [Styled]
    ) {
        let opcode = frame.header.opcode
        switch opcode {
        case .ping where violations.isEmpty: quiet(.ping, event)
        case .pong where violations.isEmpty: quiet(.pong, event)
        case .close:
            show(
                frameLine(
                    event, "close", closeText(frame.content) + violations,
                    isBroken: !violations.isEmpty))
        default:
            let name =
                opcode == .ping ? "ping" : opcode == .pong ? "pong" : "opcode \(opcode.rawValue)"
            show(frameLine(event, "frame", [Styled(name)] + violations, isBroken: true))
        }
    }

    private func closeText(_ content: Event.Content) -> [Styled] {
        guard case .whole(let bytes) = content, !bytes.isEmpty else {
            return [Styled("without a code", .dim)]
        }
        guard bytes.count >= 2 else { return [Styled(hexPreview(bytes), isValue: true)] }
        let code = Int(bytes[0]) << 8 | Int(bytes[1])
        let reason = String(decoding: bytes.dropFirst(2), as: UTF8.self)
        return [
            Styled("\(code)", .strong),
            Styled(reason.isEmpty ? "" : " " + visible(reason), isValue: true),
        ]
    }

    private mutating func addFragment(_ header: FrameHeader, _ event: Event) {
        guard let side = event.from else { return }
        if connections[event.conn]?.fragments[side]?.isFinished == true { leftOver(side, event) }
        // A file may begin within a connection without saying so.
        var connection = connections[event.conn] ?? Connection(opened: event.time)
        var fragments = connection.fragments[side] ?? Fragments(time: event.time)
        fragments.frames += 1
        fragments.bytes = fragments.bytes.addingReportingOverflow(header.payloadLength).partialValue
        fragments.isFinished = header.fin
        connection.fragments[side] = fragments
        connections[event.conn] = connection
    }

    /// Shows frames that no message came of.
    mutating func leftOver(_ side: Side, _ event: Event) {
        guard let fragments = connections[event.conn]?.fragments.removeValue(forKey: side) else {
            return
        }
        let what = fragments.isFinished ? "could not be decoded" : "never finished"
        show(
            TimelineLine(
                isBroken: true, time: event.time, conn: event.conn, direction: .from(side),
                label: Styled("frames", .bad),
                text: [
                    Styled(
                        "a message of \(counted(fragments.frames, "frame")), "
                            + "\(byteCount(fragments.bytes)), begun at \(clockTime(fragments.time)), \(what)"
                    )
                ]))
    }

    private func cutFrame(_ frame: Event.FrameRecord, _ event: Event) -> TimelineLine {
        var text = "cut off by the end of the connection"
        if let raw = frame.raw {
            text += " within its header: \(hexPreview(raw))"
        } else if case .whole(let bytes) = frame.content {
            text += " after \(grouped(bytes.count)) of \(byteCount(frame.header.payloadLength))"
        }
        return frameLine(event, "frame", [Styled(text, .bad)], isBroken: true)
    }

    mutating func message(_ message: Event.Message, _ event: Event) {
        if let side = event.from { connections[event.conn]?.fragments[side] = nil }
        var remarks: [String] = []
        if message.frames != 1 { remarks.append(counted(message.frames, "frame")) }
        if message.compressed { remarks.append("compressed") }
        var suffix = [Styled(remarks.isEmpty ? "" : " · " + remarks.joined(separator: ", "), .dim)]
        if message.incomplete { suffix.append(Styled(" · cut off", .bad)) }
        data(
            message.opcode, message.content, event, suffix: suffix, isBroken: message.incomplete)
    }

    /// A whole data message: what it means in the contract, or what it says.
    private mutating func data(
        _ opcode: Opcode, _ content: Event.Content, _ event: Event, suffix: [Styled],
        isBroken: Bool = false
    ) {
        var json: JSON?
        if case .whole(let bytes) = content, wantsLines { json = shortJSON(bytes) }
        if let meaning = event.bridge.first {
            switch meaning["kind"]?.stringValue {
            case "heartbeat" where !isBroken:
                quiet(event.from == .board ? .echo : .heartbeat, event)
                return
            case "command":
                command(meaning, event, content: json, suffix: suffix, isBroken: isBroken)
                return
            case "result":
                result(meaning, event, content: json, suffix: suffix, isBroken: isBroken)
                return
            case "app_event":
                var text = [Styled(word(meaning["id"]?.stringValue ?? ""), .strong)]
                if let data = json?["data"] {
                    text.append(Styled(" · " + fieldText(data), isValue: true))
                }
                show(frameLine(event, "event", text + suffix, isBroken: isBroken))
                return
            default: break
            }
        }
        guard wantsLines else { return }
        let isKnown = opcode == .text || opcode == .binary
        let label = opcode == .text ? "message" : opcode == .binary ? "binary" : "frame"
        var text: [Styled] = isKnown ? [] : [Styled("opcode \(opcode.rawValue) · ", .bad)]
        switch content {
        case .pieces: text.append(Styled("in pieces", .dim))
        case .whole(let bytes):
            if let json, json.members != nil {
                text.append(Styled(fieldText(json), isValue: true))
            } else {
                text.append(Styled(byteCount(bytes.count), .dim))
                if !bytes.isEmpty {
                    text.append(
                        Styled(
                            " · " + (opcode == .text ? contentPreview(bytes) : hexPreview(bytes)),
                            isValue: true))
                }
            }
        }
        show(frameLine(event, label, text + suffix, isBroken: isBroken || !isKnown))
    }

    private func frameLine(
        _ event: Event, _ label: String, _ text: [Styled], isBroken: Bool = false
    ) -> TimelineLine {
        TimelineLine(
            isBroken: isBroken, time: event.time, conn: event.conn, direction: event.direction,
            label: Styled(label), text: text)
    }
}
