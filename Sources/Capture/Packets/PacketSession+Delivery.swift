import Wire

/// What the packets of a connection bring: each direction in order, and behind what it answers.
extension PacketSession {
    func receive(
        _ tcp: TCPHeader, _ bytes: Span<UInt8>, of connection: PacketConnection, from end: Int,
        at time: Int64, into batch: inout EventBatch
    ) {
        guard !connection.isClosed else {
            noteLate(tcp, of: connection, from: end, into: &batch)
            return
        }
        if tcp.isACK {
            if connection.isWhole, !tcp.isRST, connection[1 - end].hasGivenNothing {
                // The answer to the SYN is missing or late, and this says where it began.
                connection[1 - end].guessStart(at: tcp.acknowledgment)
            }
            connection[1 - end].acknowledge(tcp.acknowledgment)
        }
        if tcp.isRST {
            receiveReset(tcp, of: connection, from: end, at: time, into: &batch)
            return
        }
        if tcp.isSYN || tcp.isFIN || !tcp.payload.isEmpty || tcp.missing > 0 {
            let data = bytes.extracting(tcp.payload)
            let sequence = tcp.isSYN ? tcp.sequence &+ 1 : tcp.sequence
            let acknowledgment = tcp.isACK ? tcp.acknowledgment : nil
            let ready = connection[end].receive(
                sequence: sequence, data, missing: tcp.missing, isFIN: tcp.isFIN,
                acknowledgment: acknowledgment, at: time)
            if !ready.isEmpty {
                let part = data.extracting(ready)
                if connection.isInStep(end, acknowledgment) {
                    deliver(part, of: connection, from: end, at: time, into: &batch)
                } else {
                    let step = TCPReassembler.Step.bytes(
                        Bytes(copying: part), time: time, acknowledgment: acknowledgment)
                    connection.append(
                        PacketConnection.Ready(
                            step: step,
                            start: sequence &+ UInt32(truncatingIfNeeded: ready.lowerBound),
                            acknowledgment: acknowledgment, time: time), from: end)
                }
            }
            drain(connection, end, at: time, into: &batch)
        }
        wait(connection, at: time, into: &batch)
        if let reset = connection.reset {
            connection.reset?.packetsBehind += 1
            if reset.packetsBehind > 64 || isComplete(connection, reset) {
                close(connection, into: &batch)
            }
        }
    }

    private func noteLate(
        _ tcp: TCPHeader, of connection: PacketConnection, from end: Int,
        into batch: inout EventBatch
    ) {
        let last = tcp.sequence &+ UInt32(clamping: tcp.payload.count)
        guard !tcp.payload.isEmpty, !connection.saidLate,
            !connection[end].isStarted || !connection[end].hasReached(last)
        else { return }
        connection.saidLate = true
        batch.append(
            Event(
                time: now, conn: connection.conn, from: connection.side(of: end),
                kind: .note(
                    Event.Note(
                        code: "after_close",
                        text: "data behind the end of the connection is left out"))))
    }

    // MARK: Directions

    /// Takes what became ready in a direction, and what of the peer's waited for it.
    func drain(
        _ connection: PacketConnection, _ end: Int, at time: Int64, into batch: inout EventBatch
    ) {
        while let step = connection[end].next() {
            let acknowledgment: UInt32?
            var count: UInt32 = 0
            var stepTime = time
            switch step {
            case .differing, .early, .behindEnd:
                remark(step, of: connection, end, into: &batch)
                continue
            case .bytes(let bytes, let time, let number):
                (acknowledgment, stepTime) = (number, time)
                count = UInt32(truncatingIfNeeded: bytes.count)
            case .missing(let missing, _):
                acknowledgment = nil
                count = UInt32(truncatingIfNeeded: missing)
            case .end(let number):
                acknowledgment = number
            }
            if connection.isInStep(end, acknowledgment) {
                receive(step, of: connection, end, at: stepTime, into: &batch)
            } else {
                connection.append(
                    PacketConnection.Ready(
                        step: step, start: (connection[end].nextSequence ?? 0) &- count,
                        acknowledgment: acknowledgment, time: stepTime), from: end)
            }
        }
        if connection.hasReady { release(connection, into: &batch) }
    }

    /// Gives out what has been waiting for the peer, and need not any more.
    private func release(_ connection: PacketConnection, into batch: inout EventBatch) {
        while let (item, end) = connection.takeReady() {
            receive(item.step, of: connection, end, at: item.time, into: &batch)
        }
    }

    /// Gives out what came first of what waits for the peer; false if nothing does.
    func force(_ connection: PacketConnection, into batch: inout EventBatch) -> Bool {
        guard let (item, end) = connection.forceReady() else { return false }
        receive(item.step, of: connection, end, at: item.time, into: &batch)
        release(connection, into: &batch)
        return true
    }

    private func receive(
        _ step: TCPReassembler.Step, of connection: PacketConnection, _ end: Int, at time: Int64,
        into batch: inout EventBatch
    ) {
        switch step {
        case .bytes(let bytes, _, _):
            deliver(bytes.span, of: connection, from: end, at: time, into: &batch)
        case .missing(let count, let absence):
            let why = absence == .snapLength ? "snaplen" : "missing_packets"
            guard let decoder = connection.decoder else {
                connection.early.append(
                    .init(end: end, bytes: [], time: time, missing: count, why: why))
                return
            }
            let (time, own) = stamp(time)
            decoder.gap(
                connection.side(of: end), length: count, why: why, at: time, packetTime: own,
                into: &batch)
        case .end:
            finishDirection(connection, end, at: time, into: &batch)
        case .differing, .early, .behindEnd:
            break
        }
    }

    private func remark(
        _ step: TCPReassembler.Step, of connection: PacketConnection, _ end: Int,
        into batch: inout EventBatch
    ) {
        switch step {
        case .differing(let count):
            remark(
                connection, end, code: "overlap_differs",
                "\(count) bytes were sent again with other content; the first ones stand",
                into: &batch)
        case .early(let count):
            guard !connection.saidEarly else { return }
            connection.saidEarly = true
            remark(
                connection, end, code: "early_bytes",
                "\(count) bytes from before the place where the connection was met are left out",
                into: &batch)
        case .behindEnd(let count):
            remark(
                connection, end, code: "after_close",
                "\(count) bytes behind the FIN of this side are left out", into: &batch)
        case .bytes, .missing, .end:
            break
        }
    }

    func remark(
        _ connection: PacketConnection, _ end: Int, code: String, _ text: String,
        into batch: inout EventBatch
    ) {
        guard let decoder = connection.decoder else { return }
        batch.append(
            Event(
                time: now, conn: decoder.conn, from: connection.side(of: end),
                kind: .note(Event.Note(code: code, text: text))))
    }

    private func finishDirection(
        _ connection: PacketConnection, _ end: Int, at time: Int64, into batch: inout EventBatch
    ) {
        let isLast = connection.finish(end)
        guard let decoder = connection.decoder else {
            connection.early.append(.init(end: end, bytes: [], time: time, isEnd: true))
            if isLast { guess(connection, into: &batch) }
            return
        }
        let (time, own) = stamp(time)
        decoder.end(
            connection.side(of: end), how: .fin, at: time, packetTime: own, into: &batch)
        if isLast { close(connection) }
    }

    func deliver(
        _ bytes: Span<UInt8>, of connection: PacketConnection, from end: Int, at time: Int64,
        into batch: inout EventBatch
    ) {
        guard let decoder = connection.decoder else {
            holdEarly(bytes, of: connection, from: end, at: time, into: &batch)
            return
        }
        let (time, own) = stamp(time)
        count(bytes.count, isApp: end == connection.app)
        decoder.receive(
            bytes, from: connection.side(of: end), at: time, packetTime: own, into: &batch)
    }

    /// The time for an event, and the packet's own where that is earlier.
    func stamp(_ time: Int64) -> (Int64, own: Int64?) {
        guard time < now else {
            now = time
            return (time, nil)
        }
        return (now, time)
    }

    // MARK: Who is the app

    private func holdEarly(
        _ bytes: Span<UInt8>, of connection: PacketConnection, from end: Int, at time: Int64,
        into batch: inout EventBatch
    ) {
        let recognized = BoundarySearch.recognize(bytes)
        connection.early.append(.init(end: end, bytes: Bytes(copying: bytes), time: time))
        connection.earlyBytes += bytes.count
        if let recognized {
            connection.app = recognized.side == .app ? end : 1 - end
            open(connection, isUpgraded: recognized.found == .frame, into: &batch)
        } else if let side = BoundarySearch.mayBeFrames(bytes),
            connection.hasFramesEnough(from: side == .app ? end : 1 - end)
        {
            connection.app = side == .app ? end : 1 - end
            open(connection, isUpgraded: true, into: &batch)
        } else if connection.earlyBytes > limits.maximumEarly || connection.early.count > 4096 {
            guess(connection, into: &batch)
        }
    }

    /// Takes the end whose port was asked for as the board, or the one with the lower port, where
    /// nothing told who is who.
    func guess(_ connection: PacketConnection, into batch: inout EventBatch) {
        let isUpper =
            ports.contains(connection.flow.upper.port)
            && !ports.contains(connection.flow.lower.port)
        connection.app = isUpper ? 0 : 1
        open(connection, into: &batch)
    }

    func open(
        _ connection: PacketConnection, isUpgraded: Bool = false, into batch: inout EventBatch
    ) {
        guard connection.decoder == nil, let app = connection.app else { return }
        connections += 1
        openConnections += 1
        connection.conn = connections
        let (time, own) = stamp(connection.firstTime)
        batch.append(
            Event(
                time: time, packetTime: own, conn: connections,
                kind: .open(
                    Event.Open(
                        app: connection.flow.endpoint(app).text,
                        board: connection.flow.endpoint(1 - app).text,
                        continued: connection.isWhole
                            ? nil : Event.Continued(upgraded: isUpgraded)))))
        connection.decoder =
            connection.isWhole
            ? ConnectionDecoder(conn: connections, limits: limits.connection)
            : ConnectionDecoder(
                joining: connections, expectsFrames: isUpgraded, limits: limits.connection)
        let early = connection.early
        connection.early = []
        for part in early {
            if part.isEnd {
                finishDirection(connection, part.end, at: part.time, into: &batch)
            } else if let missing = part.missing {
                let (time, own) = stamp(part.time)
                connection.decoder?.gap(
                    connection.side(of: part.end), length: missing, why: part.why, at: time,
                    packetTime: own, into: &batch)
            } else {
                deliver(
                    part.bytes.span, of: connection, from: part.end, at: part.time, into: &batch)
            }
        }
    }
}
