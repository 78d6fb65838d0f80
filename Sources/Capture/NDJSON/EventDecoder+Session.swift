import Wire

extension LineDecoder {
    mutating func session() throws(LineFault) -> SessionInfo {
        var format: String?
        var version: Int?
        var texts: [EventField: String] = [:]
        var part: Int?
        var redacted: JSON?
        var labels: [FieldLine] = []
        while let field = try nextField() {
            switch field {
            case .format:
                let name = try scanner.string(field)
                guard name == "bridgetap" else { throw scanner.fault(.otherFormat(name)) }
                format = name
            case .version:
                // Told at once: a newer version may have changed anything behind it.
                let number = try scanner.integer(field)
                guard number <= EventDecoder.supportedVersion else {
                    throw scanner.fault(
                        .newerVersion(number, supported: EventDecoder.supportedVersion))
                }
                guard number > 0 else { throw bad(field, "a version of the format") }
                version = number
            case .id, .startedAt, .tool, .contract, .source, .listen, .upstream, .interface,
                .linkType:
                texts[field] = try scanner.string(field)
            case .part: part = try scanner.integer(field)
            case .redacted: redacted = try scanner.value()
            case .labels:
                guard case .object(let members) = try scanner.value() else {
                    throw bad(field, "an object of texts")
                }
                for member in members {
                    guard case .string(let text) = member.value else {
                        throw bad(field, "an object of texts")
                    }
                    labels.append(FieldLine(member.name, text))
                }
            default: try takeCommon(field)
            }
        }
        try require(format, .format)
        return SessionInfo(
            version: try require(version, .version), id: try require(texts[.id], .id),
            startedAt: try require(texts[.startedAt], .startedAt),
            tool: try require(texts[.tool], .tool),
            contract: try require(texts[.contract], .contract),
            source: try require(texts[.source], .source), listen: texts[.listen],
            upstream: texts[.upstream], interface: texts[.interface], linkType: texts[.linkType],
            part: part, redacted: redacted, labels: labels)
    }

    mutating func open() throws(LineFault) -> Event.Open {
        var app: String?
        var board: String?
        var via: String?
        var continued = false
        var upgraded = false
        var extensions: String?
        while let field = try nextField() {
            switch field {
            case .app: app = try scanner.string(field)
            case .board: board = try scanner.string(field)
            case .via: via = try scanner.string(field)
            case .continued: continued = try scanner.bool(field)
            case .upgraded: upgraded = try scanner.bool(field)
            case .extensions: extensions = try scanner.string(field)
            default: try takeCommon(field)
            }
        }
        return Event.Open(
            app: try require(app, .app), board: try require(board, .board), via: via,
            continued: continued
                ? Event.Continued(extensions: extensions, upgraded: upgraded) : nil)
    }

    mutating func close() throws(LineFault) -> Event.Close {
        var how: Event.Ending?
        var detail: String?
        while let field = try nextField() {
            switch field {
            case .how:
                guard let ending = Event.Ending(rawValue: try scanner.string(field)) else {
                    throw bad(field, "a way for a connection to end")
                }
                how = ending
            case .detail: detail = try scanner.string(field)
            default: try takeCommon(field)
            }
        }
        return Event.Close(how: try require(how, .how), detail: detail)
    }

    mutating func data() throws(LineFault) -> Event.Data {
        var bytes: Bytes?
        var why: String?
        while let field = try nextField() {
            switch field {
            case .base64: bytes = try scanner.base64(field)
            case .why: why = try scanner.string(field)
            default: try takeCommon(field)
            }
        }
        return Event.Data(bytes: try require(bytes, .base64), why: try require(why, .why))
    }

    mutating func gap() throws(LineFault) -> Event.Gap {
        var length: UInt64?
        var why: String?
        while let field = try nextField() {
            switch field {
            case .length: length = try scanner.unsigned(field)
            case .why: why = try scanner.string(field)
            default: try takeCommon(field)
            }
        }
        return Event.Gap(length: length, why: try require(why, .why))
    }

    mutating func note() throws(LineFault) -> Event.Note {
        var code: String?
        var text: String?
        var to: Int?
        var toPart: Int?
        while let field = try nextField() {
            switch field {
            case .code: code = try scanner.string(field)
            case .text: text = try scanner.string(field)
            case .to: to = try scanner.integer(field)
            case .toPart: toPart = try scanner.integer(field)
            default: try takeCommon(field)
            }
        }
        return Event.Note(
            code: try require(code, .code), text: try require(text, .text), to: to, toPart: toPart)
    }

    mutating func end() throws(LineFault) -> Event.End {
        var events: Int?
        var bytesApp: UInt64?
        var bytesBoard: UInt64?
        var dropped: Int?
        while let field = try nextField() {
            switch field {
            case .events: events = try scanner.integer(field)
            case .bytesApp: bytesApp = try scanner.unsigned(field)
            case .bytesBoard: bytesBoard = try scanner.unsigned(field)
            case .dropped: dropped = try scanner.integer(field)
            default: try takeCommon(field)
            }
        }
        return Event.End(
            events: try require(events, .events), bytesApp: try require(bytesApp, .bytesApp),
            bytesBoard: try require(bytesBoard, .bytesBoard),
            dropped: try require(dropped, .dropped))
    }
}
