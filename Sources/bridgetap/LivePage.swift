import Arguments
import BridgeProxy
import Capture
import Inspector
import Network
import PhoneBridge

/// The page of a recording while it goes on, and its figures for Prometheus (`--ui`).
final class LivePage {
    /// What takes the events for it.
    let output: PageOutput
    /// Where it is, with its token.
    let address: String
    private let server: InspectorServer

    /// Serves it.
    ///
    /// - Parameter outputs: the files of the recording, of which the first names it.
    init(
        at place: HostAndPort, allowFrom: [CIDR], of session: SessionInfo, outputs: [String],
        profile: String?, _ job: RecordingJob
    ) throws {
        let files = outputs.filter { $0 != "-" }
        let name = files.first ?? "recording"
        output = PageOutput(
            session, name: name, replay: ViewedSession.replay(files),
            profile: try ProfileInput.load(profile ?? Profile.contract.name))
        output.onFailure = { [screen = job.screen] in
            screen.warn("the page is shown no more: \($0); the recording goes on")
        }
        server = InspectorServer([(name, output.log)], on: job.loop) { [output] _ in
            output.pending
        }
        let listener = PageListener(job.loop, place, allowFrom, flag: "--ui")
        address = try listener.start(server)
    }

    /// Tells the figures of a recording from now on.
    func follow(_ recording: Recording) {
        server.metrics = { [output, recorder = recording.recorder] in
            output.metrics(
                now: recorder.time, isPaused: recorder.statuses.contains { $0.pausedBy != nil },
                tool: Version.tool)
        }
    }

    func close() { server.close() }
}
