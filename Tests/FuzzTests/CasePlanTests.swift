import Capture
import Fuzz
import GoldenFiles
import PhoneBridge
import Testing
import Wire

/// The plan of a campaign: the same on any machine, complete, and right but for its mutations.
@Suite struct CasePlanTests {
    static let sides: [Side] = [.app, .board]

    /// How many cases of a plan are looked at.
    private static let count = 2000

    /// The first cases of a plan of each side; made once.
    private static let app = (0..<count).map { CasePlan(as: .app, seed: 11).script($0) }
    private static let board = (0..<count).map { CasePlan(as: .board, seed: 11).script($0) }

    private static func scripts(_ side: Side) -> [FuzzScript] { side == .app ? app : board }

    /// The rows of the fuzzing plan's tables.
    private static let rows: [String] =
        (1...9).map { "T\($0)" } + (1...12).map { "H\($0)" } + (1...14).map { "F\($0)" }
        + (1...21).map { "J\($0)" } + (1...22).map { "C\($0)" }

    @Test(arguments: sides) func `the same seed and number give the same bytes`(_ side: Side) {
        let first = CasePlan(as: side, seed: 7)
        let second = CasePlan(as: side, seed: 7)
        let other = CasePlan(as: side, seed: 8)
        var differ = 0
        for index in stride(from: 0, to: 3000, by: 89) {
            let text = first.script(index).description
            #expect(text == second.script(index).description, "case \(index)")
            if text != other.script(index).description { differ += 1 }
        }
        #expect(differ > 20)
    }

    @Test(arguments: sides) func `a control has no mutation in it`(_ side: Side) {
        for (index, script) in Self.scripts(side).enumerated() {
            let control = script.control
            #expect(control.mutations.isEmpty)
            #expect(!control.steps.isEmpty)
            // Some have megabytes, which take long to compare.
            if index % 5 == 0 { #expect(control.control == control) }
        }
    }

    @Test func `each row of the tables is planned for one side or both`() {
        var planned: Set<String> = []
        for side in Self.sides {
            planned.formUnion(CasePlan(as: side, seed: 1).rows.map(\.id))
        }
        #expect(Self.rows.filter { !planned.contains($0) } == [])
        #expect(planned.subtracting(Self.rows) == [])
    }

    @Test(arguments: sides)
    func `each row comes within two thousand cases, as sure as it is`(_ side: Side) {
        let plan = CasePlan(as: side, seed: 11)
        var missing = Set(plan.rows)
        for script in Self.scripts(side) { missing.subtract(script.mutations) }
        #expect(missing == [])
    }

    @Test(arguments: sides) func `what is planned is read back from its text`(_ side: Side) throws {
        for (index, script) in Self.scripts(side).enumerated() where index % 5 == 0 {
            do throws(ScriptTextError) {
                let read = try FuzzScript(parsing: script.description)
                #expect(read == script, "case \(index)")
            } catch {
                Issue.record("case \(index): \(error)\n\(script)")
            }
        }
    }

    @Test(arguments: sides)
    func `bytes, HTTP and frames are gone through once, in a pass that ends`(_ side: Side) {
        let plan = CasePlan(as: side, seed: 11)
        #expect((100...1000).contains(plan.conformanceCount), "\(plan.conformanceCount)")
        var seen: Set<Mutation> = []
        var bare: [Int] = []
        for index in 0..<plan.conformanceCount {
            let mutations = Self.scripts(side)[index].mutations
            seen.formUnion(mutations)
            if mutations.isEmpty { bare.append(index) }
        }
        #expect(bare == [])
        let finite = plan.rows.filter { "THF".contains($0.id.prefix(1)) }
        #expect(Set(finite) == seen)
    }

    @Test func `only the levels that are asked for are planned`() {
        let plan = CasePlan(as: .app, seed: 1, levels: [.json])
        #expect(plan.conformanceCount == 0)
        for index in 0..<100 {
            #expect(plan.script(index).mutations.allSatisfy { $0.id.hasPrefix("J") })
        }
        #expect(FuzzLevel(row: "C12") == .session)
        #expect(FuzzLevel(row: "X1") == nil)
    }

    @Test(arguments: sides) func `three cases in ten are of JSON, seven conversations`(
        _ side: Side
    ) {
        var count: [FuzzLevel: Int] = [:]
        for script in Self.scripts(side)[1000..<2000] {
            guard let first = script.mutations.first,
                let level = FuzzLevel(row: first.id)
            else { continue }
            count[level, default: 0] += 1
        }
        #expect((230...370).contains(count[.json] ?? 0), "\(count)")
        #expect((500...700).contains(count[.session] ?? 0), "\(count)")
    }

    @Test(arguments: sides) func `the choices of a case make it again, and can be edited`(
        _ side: Side
    ) {
        let plan = CasePlan(as: side, seed: 9)
        for index in stride(from: 900, to: 1500, by: 31) {
            var choices = plan.choices(index)
            let script = plan.script(index, &choices)
            #expect(script == plan.script(index))
            var again = Choices(given: choices.made)
            #expect(plan.script(index, &again) == script)
            #expect(again.made == choices.made)
            for cut in [0, choices.made.count / 2, choices.made.count - 1] {
                var fewer = Choices(given: Array(choices.made.prefix(cut)))
                #expect(!plan.script(index, &fewer).steps.isEmpty)
            }
            var wild = Choices(given: choices.made.map { $0 &* 31 &- 7 })
            #expect(!plan.script(index, &wild).steps.isEmpty)
        }
    }

    @Test(arguments: sides) func `a command type that the contract gets is fuzzed`(_ side: Side) {
        var contract = Contract.current
        contract.commands.append(
            Contract.CommandType(
                name: "torch_set", section: "11. torch_set",
                payload: [
                    .init("level", .number, required: true),
                    .init("until", .instant, personal: .instant),
                ],
                data: [.init("torch_id", .string, required: true)], effect: .creates,
                bornID: "torch_id", backgroundRoutes: [.pip]))
        let plan = CasePlan(as: side, seed: 1, contract: contract, levels: [.json, .session])
        let texts = (0..<300).map { plan.script($0).description }
        let named = texts.filter { $0.contains("torch_set") }
        #expect(named.count > 20)
        #expect(named.contains { $0.contains(#""level":"#) })
        if side == .app { #expect(named.contains { $0.contains(#""torch_id":"#) }) }
    }

    @Test func `each row has an example that a person can read`() {
        var page = ""
        for side in Self.sides {
            let plan = CasePlan(as: side, seed: 11)
            var examples: [Mutation: String] = [:]
            for script in Self.scripts(side) {
                // The shortest that has this mutation alone.
                guard script.mutations.count == 1, let row = script.mutations.first else {
                    continue
                }
                let text = script.description
                if text.utf8.count < examples[row]?.utf8.count ?? .max {
                    examples[row] = text
                }
            }
            let order = Self.rows
            for row in plan.rows.sorted(by: {
                (order.firstIndex(of: $0.id) ?? 0, $0.rating) < (
                    order.firstIndex(of: $1.id) ?? 0, $1.rating
                )
            }) {
                page += "# \(row.id) \(row.rating.rawValue): \(CasePlan.summary(of: row))\n"
                page += Self.short(examples[row] ?? "# none\n") + "\n"
            }
        }
        #expect(GoldenFile("rows.txt").difference(from: page) == nil)
    }

    /// Lines of at most 300 characters.
    private static func short(_ text: String) -> String {
        text.split(separator: "\n").map { line in
            line.count > 300 ? line.prefix(300) + "…" : line
        }.joined(separator: "\n") + "\n"
    }
}
