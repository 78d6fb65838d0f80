import BridgeProxy
import Capture
import Network
import PhoneBridge
import Wire

/// Records what takes place in a case: for the oracle, and as a session where that is wanted.
final class CaseRecording {
    let recorder: Recorder
    let observer: CaseObserver
    private let memory: SessionMemory?
    private let contract: Contract

    init(
        _ script: FuzzScript, on loop: any EventLoop, contract: Contract, checker: RuleChecker,
        meaning: MeaningReader? = nil, tool: String, keepsSession: Bool
    ) throws(OutputError) {
        self.contract = contract
        observer = CaseObserver(
            judging: script.judged, checker: checker, namesShapes: keepsSession)
        var outputs: [any SessionOutput] = [observer]
        if keepsSession {
            let memory = SessionMemory()
            let info = SessionInfo(
                id: "case", startedAt: Timestamp(wall: loop.wallClock).nanosecondText,
                tool: tool, contract: contract.version, source: "fuzz",
                labels: [FieldLine("as", script.played.rawValue)])
            outputs.append(
                try SessionWriter(session: info) { (_) throws(OutputError) in memory })
            self.memory = memory
        } else {
            memory = nil
        }
        recorder = Recorder(
            outputs: outputs, loop: loop, contract: contract,
            tellsOutcomes: script.played == .app, gathersFrames: false, meaning: meaning)
    }

    /// What the peer says is not read from here on, or read again.
    func noteHole() {
        recorder.note(code: "recording_gap", text: "the script leaves unread what comes")
    }

    /// Ends it, and tells what was seen.
    func outcome(of run: ScriptRun, profile: Profile) -> CaseOutcome {
        _ = recorder.finish()
        var remarks = run.remarks
        let (sent, came) =
            run.script.played == .app
            ? (recorder.statistics.bytesApp, recorder.statistics.bytesBoard)
            : (recorder.statistics.bytesBoard, recorder.statistics.bytesApp)
        if came > Self.plenty, came / Self.factor > sent {
            remarks.append(
                ScriptRemark(
                    check: .amplification, text: "\(sent) bytes were answered by \(came)"))
        }
        var outcome = CaseOutcome()
        outcome.observations = Oracle.observations(
            observer.breaches, remarks, profile: profile,
            prompted: Oracle.prompted(by: run.script, contract),
            asksForOddCommands: observer.breaches.contains {
                OddCommands.rules.contains($0.rule.id)
            } && OddCommands.areIn(run.script, contract))
        outcome.reached = observer.reached
        if run.hasOverlap { outcome.reached.insert(.overlap) }
        outcome.shapes = observer.shapes
        outcome.shapeNames = observer.shapeNames
        outcome.session = memory?.bytes ?? []
        return outcome
    }

    /// So much may come whatever was sent, in bytes.
    private static let plenty: UInt64 = 4 << 20
    /// And so many times what was sent.
    private static let factor: UInt64 = 1000
}
