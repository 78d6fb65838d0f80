import Wire

/// Holes that are waited for, resets, and connections that end or are let go.
extension PacketSession {
    /// Keeps a connection with a hole among those that are looked at as time goes on.
    func wait(_ connection: PacketConnection, at time: Int64, into batch: inout EventBatch) {
        guard
            connection[0].isWaiting || connection[1].isWaiting || connection.hasReady
                || connection.reset != nil
        else { return }
        tick(connection, at: time, into: &batch)
        if !connection.isWaiting {
            connection.isWaiting = true
            waiting.append(connection)
        }
    }

    private func tick(
        _ connection: PacketConnection, at time: Int64, into batch: inout EventBatch
    ) {
        for end in 0...1 where connection[end].isWaiting {
            connection[end].tick(at: time)
            drain(connection, end, at: time, into: &batch)
        }
        if connection.hasReady { connection.countPacketBehindReady() }
        while connection.isReadyOverdue(at: time, limits.stream),
            force(connection, into: &batch)
        {}
    }

    /// Looks at all connections that wait for something.
    func sweep(at time: Int64, into batch: inout EventBatch) {
        let all = waiting
        waiting = []
        for connection in all {
            connection.isWaiting = false
            guard !connection.isClosed else { continue }
            if let reset = connection.reset, time &- reset.time > 1_000_000_000 {
                close(connection, into: &batch)
            } else {
                wait(connection, at: time, into: &batch)
            }
        }
    }

    func receiveReset(
        _ tcp: TCPHeader, of connection: PacketConnection, from end: Int, at time: Int64,
        into batch: inout EventBatch
    ) {
        guard connection.reset == nil else { return }
        if !tcp.payload.isEmpty {
            // It explains the reset, to people (RFC 9293 §3.5.3).
            remark(
                connection, end, code: "reset_data",
                "the reset carries \(tcp.payload.count) bytes, which are no data of the connection",
                into: &batch)
        }
        let isAnswer = connection.isWhole && !connection[end].isStarted
        let reset = PacketConnection.Reset(
            end: end, time: time, sequence: isAnswer ? nil : tcp.sequence)
        connection.reset = reset
        if isComplete(connection, reset) {
            close(connection, into: &batch)
        } else {
            wait(connection, at: time, into: &batch)
        }
    }

    /// Whether nothing is missing that somebody is known to have sent before the reset.
    func isComplete(_ connection: PacketConnection, _ reset: PacketConnection.Reset) -> Bool {
        guard !connection[0].isBehind, !connection[1].isBehind, !connection.hasReady else {
            return false
        }
        return reset.sequence.map { connection[reset.end].hasReached($0) } ?? true
    }

    /// Ends a connection by its reset.
    func close(_ connection: PacketConnection, into batch: inout EventBatch) {
        guard let reset = connection.reset, !connection.isClosed else { return }
        settle(connection, at: reset.time, into: &batch)
        // What was still there may have ended it in good order.
        guard !connection.isClosed else { return }
        let (time, own) = stamp(reset.time)
        let isRefusal =
            connection.isWhole && !connection.wasAnswered && reset.end != connection.app
        connection.decoder?.end(
            connection.side(of: reset.end), how: isRefusal ? .refused : .reset, at: time,
            packetTime: own, into: &batch)
        close(connection)
    }

    /// Writes what a connection has, whose further packets will not be seen or not be its own.
    func letGo(_ connection: PacketConnection, into batch: inout EventBatch) {
        if connection.reset != nil {
            close(connection, into: &batch)
            return
        }
        settle(connection, at: now, into: &batch)
        guard !connection.isClosed else { return }
        connection.decoder?.flush(at: now, into: &batch)
        close(connection)
    }

    /// Gives out all that a connection holds, though something before it is missing: first what
    /// is behind the oldest hole, so that both sides keep their order.
    private func settle(
        _ connection: PacketConnection, at time: Int64, into batch: inout EventBatch
    ) {
        if connection.decoder == nil { guess(connection, into: &batch) }
        repeat {
            let holes = (0...1).compactMap { end in
                connection[end].waitingSince.map { (since: $0, end: end) }
            }
            guard let oldest = holes.min(by: { $0.since < $1.since }) else { continue }
            connection[oldest.end].giveUpHole()
            drain(connection, oldest.end, at: time, into: &batch)
        } while !connection.isClosed
            && (connection[0].isWaiting || connection[1].isWaiting
                || force(connection, into: &batch))
        for end in 0...1 where !connection.isClosed {
            connection[end].giveUp()
            drain(connection, end, at: time, into: &batch)
        }
    }
}
