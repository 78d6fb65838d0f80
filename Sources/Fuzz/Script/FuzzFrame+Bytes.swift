import Capture
import Network
import PhoneBridge
import Wire

extension FuzzFrame {
    /// A message of text as frames of so many bytes, but no more than 10 000 of them.
    static func cut(_ content: Bytes, into size: Int, opcode: Opcode = .text) -> [FuzzFrame] {
        guard content.count > size else { return [FuzzFrame(opcode, content)] }
        let step = max(1, size, content.count / 10_000)
        return stride(from: 0, to: content.count, by: step).map { start in
            let end = min(content.count, start + step)
            return FuzzFrame(
                start == 0 ? opcode : .continuation, fin: end == content.count,
                Bytes(content[start..<end]))
        }
    }

    /// The bytes of the frame as that side writes it; its mask comes from the loop.
    func encoded(from side: Side, on loop: any EventLoop) -> Bytes {
        var key: MaskingKey?
        if isMasked ?? (side == .app) {
            key = MaskingKey(
                rawValue: loop.randomBytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        }
        let header = FrameHeader(
            fin: fin, rsv: rsv, opcode: opcode, maskingKey: key,
            payloadLength: announced ?? UInt64(payload.count), lengthForm: lengthForm)
        return Frame(header: header, payload: payload).encoded()
    }
}

extension EffectGate {
    /// What may go out to a phone of a frame: a whole message of text that may pass, or a control
    /// frame; nil for anything else.
    mutating func pass(_ frame: FuzzFrame) -> FuzzFrame? {
        guard frame.fin, frame.rsv == 0, frame.announced == nil,
            frame.opcode == .text || frame.opcode.isControl
        else { return nil }
        guard frame.opcode == .text else { return frame }
        guard case .allowed(let content) = pass(frame.payload) else { return nil }
        var frame = frame
        frame.payload = content
        return frame
    }
}
