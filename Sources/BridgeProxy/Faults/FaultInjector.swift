import Capture
import Network
import PhoneBridge
import Wire

/// What all connections of a proxy share that injects faults: what the messages mean.
final class FaultInjection {
    let spec: FaultSpec
    /// Decides about messages before the spec does; nil where nobody else does.
    let striker: (any MessageStriker)?
    fileprivate var meaning: MeaningReader
    private var random: SeededGenerator

    init(
        _ spec: FaultSpec, seed: UInt64, striker: (any MessageStriker)? = nil,
        contract: Contract = .current
    ) {
        self.spec = spec
        self.striker = striker
        meaning = MeaningReader(contract: contract)
        random = SeededGenerator(seed: seed)
    }

    func injector(conn: Int, limits: ConnectionLimits) -> FaultInjector {
        FaultInjector(
            self, conn: conn, limits: limits, app: random.next(), board: random.next())
    }
}

/// Reads the bytes of one connection into messages, lets faults strike them, and tells what has to
/// be passed on.
///
/// A message is held until it is there as a whole, up to 1 MiB; what is longer passes in parts.
final class FaultInjector {
    private let shared: FaultInjection
    private let conn: Int
    private let decoder: ConnectionDecoder
    private var batch = EventBatch()
    private var encoder = ConnectionEncoder()
    private var lanes: [Side: FaultLane]
    /// Frames of a message that is not whole yet, or whose content stands elsewhere.
    private var parts: [Side: FaultUnit] = [:]

    /// Frames that wait for their message's end, in bytes.
    private static let maximumParts = 1 << 20

    fileprivate init(
        _ shared: FaultInjection, conn: Int, limits: ConnectionLimits, app: UInt64,
        board: UInt64
    ) {
        self.shared = shared
        self.conn = conn
        decoder = ConnectionDecoder(conn: conn, limits: limits)
        lanes = [
            .app: FaultLane(shared.spec, seed: app),
            .board: FaultLane(shared.spec, seed: board),
        ]
    }

    /// When `deadlineReached` wants to be called; nil for never.
    var deadline: Int64? { lanes.values.compactMap(\.deadline).min() }

    /// Bytes came from `side`.
    func receive(_ chunk: ReadChunk, from side: Side, now: Int64) -> [FaultAction] {
        chunk.withSpan { decoder.receive($0, from: side, at: now, into: &batch) }
        return pass(from: side, now: now)
    }

    /// `side` sends no more; gives when the other side may be told.
    func end(_ side: Side, now: Int64) -> (actions: [FaultAction], at: Int64) {
        decoder.end(side, how: .fin, detail: nil, at: now, into: &batch)
        var actions = pass(from: side, now: now)
        actions += release(side, now: now)
        actions += lanes[side]?.flush(now: now) ?? []
        return (actions, lanes[side]?.end(now: now) ?? now)
    }

    /// Nothing came for which something is held.
    func deadlineReached(_ side: Side, now: Int64) -> [FaultAction] {
        lanes[side]?.deadlineReached(now: now) ?? []
    }

    private func pass(from side: Side, now: Int64) -> [FaultAction] {
        var actions: [FaultAction] = []
        for event in batch.events {
            var event = event
            shared.meaning.annotate(&event)
            guard event.from == side else { continue }
            if case .message = event.kind {
                // Its frames have been gathered, and this says what they mean.
                parts[side]?.event = event
                actions += release(side, now: now)
                continue
            }
            var bytes = Bytes()
            guard encoder.encode(event, into: &bytes) == .bytes else { continue }
            actions += take(event, bytes, from: side, now: now)
        }
        batch.removeAll()
        return actions
    }

    private func take(
        _ event: Event, _ bytes: Bytes, from side: Side, now: Int64
    ) -> [FaultAction] {
        guard case .frame(let frame) = event.kind, !frame.header.opcode.isControl,
            !frame.header.isWholeMessage
        else {
            return pass(
                FaultUnit(bytes: bytes, content: content(of: event, bytes), event: event),
                from: side, now: now)
        }
        var actions: [FaultAction] = []
        if frame.header.opcode != .continuation { actions += release(side, now: now) }
        if parts[side] == nil {
            let start = frame.header.encodedSize
            parts[side] = FaultUnit(
                bytes: [], content: min(start, bytes.count)..<bytes.count, event: event)
        }
        parts[side]?.bytes += bytes
        if parts[side]?.bytes.count ?? 0 > Self.maximumParts {
            // What follows is the rest of it.
            actions += lanes[side]?.leaveAlone() ?? []
            actions += release(side, now: now)
        }
        return actions
    }

    /// What was gathered passes as one.
    private func release(_ side: Side, now: Int64) -> [FaultAction] {
        guard let unit = parts.removeValue(forKey: side) else { return [] }
        return pass(unit, from: side, now: now)
    }

    private func pass(_ unit: FaultUnit, from side: Side, now: Int64) -> [FaultAction] {
        guard let striker = shared.striker, lanes[side]?.isLeftAlone == false else {
            return lanes[side]?.pass(unit, now: now) ?? []
        }
        guard unit.isWhole else {
            return (lanes[side]?.leaveAlone() ?? []) + (lanes[side]?.pass(unit, now: now) ?? [])
        }
        let message = CarriedMessage(conn: conn, event: unit.event, bytes: unit.bytes)
        guard let strike = striker.strike(message) else {
            return lanes[side]?.pass(unit, now: now) ?? []
        }
        return lanes[side]?.pass(strike, unit, now: now) ?? []
    }

    private func content(of event: Event, _ bytes: Bytes) -> Range<Int> {
        let content: Event.Content
        switch event.kind {
        case .frame(let frame): content = frame.content
        case .request(let request) where request.body.chunks == nil:
            content = request.body.content
        case .response(let response) where response.body.chunks == nil:
            content = response.body.content
        default: return bytes.count..<bytes.count
        }
        guard case .whole(let whole) = content else { return bytes.count..<bytes.count }
        return max(0, bytes.count - whole.count)..<bytes.count
    }
}
