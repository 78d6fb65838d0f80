import BridgeProxy
import Capture
import Network
import PhoneBridge
import Replay
import Wire

/// What stands in the way of each message of a live session: reads it, asks the campaign, and makes
/// bytes of what is to be done.
final class InlineState: MessageStriker {
    var campaign: InlineCampaign
    /// Ids of things that the phone has made, by the field that names them.
    private(set) var things: [String: String] = [:]

    private let loop: any EventLoop
    private let contract: Contract
    private let scale: Double
    private var gate: EffectGate?
    private var commands: [String: LiveMessage.Command] = [:]
    /// Commands that the board knows nothing of, by id.
    private var injected: Set<String> = []
    private var links: [Int: Link] = [:]

    private struct Link {
        var query = ""
        var isCompressed = false
    }

    /// Commands that are remembered.
    private static let maximumCommands = 4096
    private static let maximumLinks = 1024

    /// - Parameter gate: what lets mutated commands out to the phone; nil where everything may.
    init(
        _ campaign: InlineCampaign, gate: EffectGate?, _ contract: Contract, timeScale: Double,
        on loop: any EventLoop
    ) {
        self.campaign = campaign
        self.gate = gate
        self.contract = contract
        scale = max(timeScale, 1e-6)
        self.loop = loop
    }

    // MARK: Messages

    func strike(_ message: CarriedMessage) -> MessageStrike? {
        switch message.event.kind {
        case .request(let request):
            let parts = request.target.split(separator: "?", maxSplits: 1)
            note(message.conn, query: parts.count == 2 ? String(parts[1]) : "")
            return nil
        case .response(let response):
            if response.status == 101 {
                let value = response.headers.first { $0.isNamed("Sec-WebSocket-Extensions") }
                links[message.conn]?.isCompressed = value?.value.isEmpty == false
            }
            return nil
        case .frame(let frame):
            guard frame.header.opcode == .text, frame.header.fin, frame.header.rsv == 0,
                case .whole(let content) = frame.content
            else { return nil }
            return strike(content, message)
        case .message(let whole):
            guard whole.opcode == .text, case .whole(let content) = whole.content else {
                return nil
            }
            return strike(content, message)
        default: return nil
        }
    }

    private func note(_ conn: Int, query: String) {
        if links.count >= Self.maximumLinks {
            // The older half: nobody speaks on them any more.
            let middle = links.keys.sorted()[links.count / 2]
            links = links.filter { $0.key >= middle }
        }
        if links[conn] == nil { links[conn] = Link() }
        links[conn]?.query = query
    }

    private func strike(_ content: Bytes, _ message: CarriedMessage) -> MessageStrike? {
        guard let side = message.event.from else { return nil }
        if side == .app {
            gate?.heard(content)
            if let kept = keepBack(content, message) { return kept }
        }
        guard
            var live = LiveMessage(
                content, from: side, contract: contract, command: { commands[$0] })
        else { return nil }
        let link = links[message.conn] ?? Link()
        live.query = link.query
        learn(live)
        var held = gate
        var steps: [MessageStrike.Step] = []
        let strike = campaign.consider(live, now: loop.now) { strike in
            if link.isCompressed, !strike.leavesMessageAlone { return .unfit }
            held = gate
            guard let made = make(strike, live, message.bytes, &held) else { return .refused }
            steps = made
            return .allowed
        }
        guard let strike else { return nil }
        gate = held
        injected.formUnion(strike.injected)
        let what = "\(strike.mutation.id) \(strike.recipe.summary)"
        return MessageStrike(steps, note: "\(what) (\(reason))")
    }

    private var reason: String {
        switch campaign.current?.reason {
        case .explore(let number)?: "mutation \(number)"
        case .again?: "once more"
        case .control?, nil: ""
        }
    }

    /// Keeps what answers a command back from a board that never sent it.
    private func keepBack(_ content: Bytes, _ message: CarriedMessage) -> MessageStrike? {
        guard !injected.isEmpty, let id = JSONEdit.view(content, ["id"])?.string,
            injected.contains(id), commands[id] == nil,
            links[message.conn]?.isCompressed != true
        else { return nil }
        return MessageStrike([], note: "answers what the board has not sent, and is kept back")
    }

    private func learn(_ live: LiveMessage) {
        switch live.sort {
        case .command(let command):
            if commands.count >= Self.maximumCommands { commands = [:] }
            if injected.count >= Self.maximumCommands { injected = [] }
            commands[command.id] = command
        case .answer(let command):
            guard let born = contract.command(named: command.type)?.bornID,
                let id = JSONEdit.view(live.content, ["data", born])?.string
            else { return }
            things[born] = id
        case .heartbeat, .event: break
        }
    }

    // MARK: Bytes

    /// What goes out; nil where the gate lets a part of it not pass.
    private func make(
        _ strike: InlineStrike, _ live: LiveMessage, _ bytes: Bytes, _ gate: inout EffectGate?
    ) -> [MessageStrike.Step]? {
        var made: [MessageStrike.Step] = []
        for step in strike.steps {
            let delay = Int64(max(0, min(Double(step.delay) / scale, 4e18)))
            switch step.part {
            case .live(nil): made.append(.init(.send(bytes), delay: delay))
            case .live(let size?):
                made.append(.init(.send(frames(live.content, size, live.from)), delay: delay))
            case .text(let content, let size):
                guard let passed = passed(content, live.from, &gate) else { return nil }
                made.append(
                    .init(.send(frames(passed, size ?? .max, live.from)), delay: delay))
            case .binary(let content):
                // What cannot be decoded is not sent to a phone.
                guard live.from == .app || gate == nil else { return nil }
                made.append(
                    .init(.send(encoded(FuzzFrame(.binary, content), live.from)), delay: delay))
            case .frame(let frame):
                guard let passed = passed(frame, live.from, &gate) else { return nil }
                made.append(.init(.send(encoded(passed, live.from)), delay: delay))
            case .bytes(let bytes):
                guard live.from == .app || gate == nil else { return nil }
                made.append(.init(.send(bytes), delay: delay))
            case .reset: made.append(.init(.reset, delay: delay))
            }
        }
        return made
    }

    private func passed(_ content: Bytes, _ side: Side, _ gate: inout EffectGate?) -> Bytes? {
        guard side == .board, gate != nil else { return content }
        guard case .allowed(let content)? = gate?.pass(content) else { return nil }
        return content
    }

    private func passed(
        _ frame: FuzzFrame, _ side: Side, _ gate: inout EffectGate?
    ) -> FuzzFrame? {
        side == .board && gate != nil ? gate?.pass(frame) : frame
    }

    /// A message in frames of so many bytes.
    private func frames(_ content: Bytes, _ size: Int, _ side: Side) -> Bytes {
        FuzzFrame.cut(content, into: size).reduce(into: Bytes()) { $0 += encoded($1, side) }
    }

    private func encoded(_ frame: FuzzFrame, _ side: Side) -> Bytes {
        frame.encoded(from: side, on: loop)
    }
}
