import Wire

/// The line of a small text frame, spelt as writers spell it: what most lines of a session are.
///
/// It is read without memory of its own. What differs in anything is left to `LineDecoder`, which
/// says as well what is wrong with it.
enum UsualFrame {
    /// Reads the line; nil where it is another one.
    ///
    /// Appends what the frame carries, and the text of its `bridge`, also where the end turns out
    /// to be another.
    static func read(
        _ scanner: LineScanner, readsBridge: Bool, payload: inout Bytes, bridge: inout Bytes
    ) -> GatheredFrame? {
        do {
            return try readOrThrow(
                scanner, readsBridge: readsBridge, payload: &payload, bridge: &bridge)
        } catch {
            // Nobody is told: the line is read once more, by a decoder that takes any spelling.
            return nil
        }
    }

    private static func readOrThrow(
        _ start: LineScanner, readsBridge: Bool, payload: inout Bytes, bridge: inout Bytes
    ) throws(LineFault) -> GatheredFrame? {
        var line = start
        guard line.skip("{\"event\":\"frame\""), line.skip(",\"seq\":") else { return nil }
        let seq = try line.integer(.seq)
        guard line.skip(",\"t\":") else { return nil }
        let time = try line.time(.t)
        let firstTime = line.skip(",\"t_first\":") ? try line.time(.timeFirst) : nil
        let packetTime = line.skip(",\"t_packet\":") ? try line.time(.timePacket) : nil
        guard line.skip(",\"conn\":") else { return nil }
        let conn = try line.integer(.conn)
        let from: Side
        if line.skip(",\"from\":\"app\"") {
            from = .app
        } else if line.skip(",\"from\":\"board\"") {
            from = .board
        } else {
            return nil
        }
        guard line.skip(",\"fin\":true"), line.skip(",\"rsv\":0"), line.skip(",\"opcode\":")
        else { return nil }
        let opcode = try line.integer(.opcode)
        let mask = line.skip(",\"mask\":") ? try line.hex32(.mask) : nil
        guard line.skip(",\"length\":") else { return nil }
        let length = try line.unsigned(.length)
        guard conn > 0, opcode <= 15, opcode != Int(Opcode.close.rawValue),
            length <= UInt64(EventBatch.maximumGatheredPayload), line.skip(",\"text\":")
        else { return nil }
        let before = payload.count
        try line.appendString(to: &payload)
        guard UInt64(payload.count - before) == length else { return nil }
        if line.skip(",\"bridge\":") {
            let start = line.position
            line.isSpelt = true
            var count = 0
            try line.array(.bridge, of: "an array") { line throws(LineFault) in
                try line.skipValue()
                count += 1
            }
            if readsBridge {
                guard line.isSpelt, count > 0 else { return nil }
                line.copy(from: start, to: &bridge)
            }
        }
        try line.expect(UInt8(ascii: "}"), "the end of the object")
        try line.expectEnd()
        return GatheredFrame(
            seq: seq, time: time, firstTime: firstTime, packetTime: packetTime, conn: conn,
            from: from,
            header: FrameHeader(
                opcode: Opcode(rawValue: UInt8(opcode)), maskingKey: mask.map(MaskingKey.init),
                payloadLength: length))
    }
}
