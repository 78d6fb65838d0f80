import PhoneBridge
import Wire

/// Commands for a board that is told what to send, so that a live session has something in it.
///
/// Which they are follows from the seed; only ids of things are the phone's own.
struct InlineCommands {
    private let contract: Contract
    private let values: ContractValues
    private var gate: EffectGate?
    private var choices: Choices
    private var things: [String: String] = [:]
    private var number = 0
    private let tag: String

    /// Milliseconds that each has.
    static let timeout: Int64 = 5000

    /// - Parameter gate: what lets commands out to the phone; nil where everything may go out.
    init(_ contract: Contract, seed: UInt64, mark: String, gate: EffectGate?) {
        self.contract = contract
        values = ContractValues(contract: contract)
        choices = Choices(seed: seed &+ 0x9e37)
        tag = mark.isEmpty ? String(seed % 46_656, radix: 36) : mark
        self.gate = gate
    }

    /// Takes the ids of things that the phone has made, by the field that names them.
    mutating func take(things: [String: String]) { self.things = things }

    /// The next command that may go out; nil where none may.
    mutating func next() -> JSON? {
        // Choices are kept as they are made; nobody wants those of a whole night.
        if choices.made.count > 10_000 { choices = Choices(seed: UInt64(choices.made.last ?? 0)) }
        for _ in 0..<32 {
            guard let type = choices.pick(contract.commands) else { return nil }
            if type.usedID != nil, type.usedID.flatMap({ things[$0] }) == nil { continue }
            number += 1
            let command = values.command(
                type, id: "live-\(number)-\(tag)", number: number,
                used: type.usedID.flatMap { things[$0] }, timeout: Int(Self.timeout), &choices)
            guard gate != nil else { return command }
            if case .allowed(let bytes)? = gate?.pass(command.encoded),
                let allowed = try? JSON(parsing: bytes)
            {
                return allowed
            }
        }
        return nil
    }
}
