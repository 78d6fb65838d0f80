import Capture
import Fuzz
import Network
import PhoneBridge
import Replay
import Simulator
import Testing
import Wire

/// Against a real phone nothing is opened, sent, written or deleted unless it was asked for,
/// whatever a mutation makes of a command.
@Suite struct EffectSafetyTests {
    /// What can be seen of a phone.
    private struct Traces: Equatable {
        var clipboard: String
        var events: Int
        var contacts: [PhoneContacts.Entry]
        var notifications: Int
        var opened: [String]

        init(_ phone: Phone) {
            clipboard = phone.clipboard
            events = phone.calendar.entries.count
            contacts = phone.contacts.entries
            notifications = phone.notifications.entries.count
            opened = phone.opened
        }
    }

    /// The phone before and after a script was run as the board behind a gate.
    private func phone(
        after script: FuzzScript, behind gate: EffectGate?
    ) throws -> (before: Traces, after: Traces) {
        let world = SimulatedWorld(seed: 1)
        let host = try #require(world.addHost("192.168.42.1"))
        let hand = try #require(world.addHost("192.168.42.2"))
        let address = SocketAddress(host.ip, port: 8080)
        var options = AppOptions()
        options.platform = script.platform
        let app = AppHost(loop: hand, board: Endpoint(address), options: options)
        app.phone.clipboard = "mine"
        let before = Traces(app.phone)
        let driver = ReferenceAppDriver(host, app: app)
        let run = ScriptRun(script, on: host, driver: driver, options: ScriptOptions(), gate: gate)
        _ = try run.listen(on: address)
        var isOver = false
        run.onEnd = { isOver = true }
        run.startServing()
        app.start()
        #expect(world.run(limit: 86_400 * nanosecondsPerSecond, until: { isOver }))
        app.stop()
        return withExtendedLifetime(driver) { (before, Traces(app.phone)) }
    }

    /// Some of each level; another part of them with each seed.
    private func indices(_ plan: CasePlan) -> [Int] {
        let finite = plan.conformanceCount
        return stride(from: Int(plan.seed % 5), to: finite, by: 5) + Array(finite..<finite + 60)
    }

    @Test func `no mutation gets a command past a gate that lets nothing out`() throws {
        let plan = CasePlan(as: .board, seed: 7)
        for index in indices(plan) {
            let script = plan.script(index)
            let (before, after) = try phone(after: script, behind: EffectGate(level: .none))
            #expect(before == after, "case \(index):\n\(script)")
        }
    }

    @Test func `no mutation touches what was there before, where only own things may be made`()
        throws
    {
        let plan = CasePlan(as: .board, seed: 8)
        for index in indices(plan) {
            let script = plan.script(index)
            let (before, after) = try phone(after: script, behind: EffectGate(level: .own))
            #expect(after.clipboard == before.clipboard, "case \(index):\n\(script)")
            #expect(after.opened == before.opened, "case \(index):\n\(script)")
            #expect(
                before.contacts.allSatisfy(after.contacts.contains), "case \(index):\n\(script)")
        }
    }

    @Test func `without a gate the same cases do reach the phone`() throws {
        let plan = CasePlan(as: .board, seed: 7)
        var changed = (clipboard: false, events: false, contacts: false, opened: false)
        for index in indices(plan) {
            let (before, after) = try phone(after: plan.script(index), behind: nil)
            if before.clipboard != after.clipboard { changed.clipboard = true }
            if before.events != after.events { changed.events = true }
            if before.contacts != after.contacts { changed.contacts = true }
            if before.opened != after.opened { changed.opened = true }
        }
        #expect(changed == (true, true, true, true))
    }
}
