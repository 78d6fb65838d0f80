import BridgeProxy
import Capture
import Glibc
import Network
import PhoneBridge
import Report

/// What a recorder tells its terminal: remarks, and below them a line that is written over.
final class StatusScreen {
    private let isQuiet: Bool
    private let isTerminal = isatty(STDERR_FILENO) == 1

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }

    /// Shows a report of the recording in words.
    func show(_ report: Recording.Report) {
        switch report {
        case .status(let line):
            if isTerminal, !isQuiet { ProcessStreams.showStatus(line.text) }
        case .paused(let error):
            warn("cannot write \(error.path): \(error); traffic flows on, and is not recorded")
        case .resumed(let path, let dropped):
            warn("recording to \(path) goes on; \(dropped) events are missing so far")
        case .notSynchronised(let error):
            warn("cannot put \(error.path) on the disk: \(error)")
        case .marked(let number):
            note("mark \(number)")
        case .remark(let remark):
            show(remark)
        case .found(let finding):
            show(finding)
        case .ring(let outcome):
            show(outcome)
        }
    }

    private func show(_ outcome: RingOutcome) {
        let why = visible(outcome.trigger.text)
        let cut = outcome.isCut ? ", for which there was room" : ""
        for written in outcome.files {
            let file = written.status
            let size = StatusLine.bytesText(Double(file.size))
            let text = "\(file.path): the last \(timeSpan(outcome.duration))\(cut), "
            guard file.isComplete else {
                let error = file.pausedBy.map { " because of \($0)" } ?? ""
                warn(text + "of which \(file.dropped) events could not be written\(error)")
                continue
            }
            let what = file.path.hasSuffix(".pcap") ? "packet record" : "event"
            note(text + "\(counted(file.written, what)), \(size) (\(why))")
            if !written.losses.isEmpty {
                warn("\(file.path): \(written.losses.joined(separator: "; "))")
            }
        }
        for error in outcome.errors {
            warn("cannot write \(error.path): \(error); recording goes on (\(why))")
        }
    }

    /// Of each rule so many breaches are told as they happen.
    private let maximumTold = 5

    private func show(_ finding: LiveCheck.Finding) {
        guard finding.ordinal <= maximumTold else { return }
        let breach = finding.breach
        let command =
            breach.command.map { " \(visible($0.type ?? "command")) \(visible($0.id)):" } ?? ""
        var text = "rule \(breach.rule.id), \(clockTime(breach.time)):\(command) "
        text += visible(breach.text)
        if finding.ordinal == maximumTold { text += "; further ones are only counted" }
        switch finding.standing {
        case .counted: warn(text)
        case .excused(let words): note("\(text) (does not count: \(words))")
        // They would drown what counts; the session has them.
        case .remark: break
        }
    }

    /// Shows what came of the check.
    func show(_ check: LiveCheck.Summary) {
        let rules = counted(check.exercised, "rule")
        var parts: [String] = []
        if check.excused > 0 { parts.append(counted(check.excused, "known deviation")) }
        if check.remarks > 0 { parts.append(counted(check.remarks, "remark")) }
        let rest = parts.isEmpty ? "" : "; " + parts.joined(separator: ", ")
        guard !check.broken.isEmpty else {
            return note("no rule that counts was broken of \(rules) put to the test\(rest)")
        }
        let broken = check.broken.sorted { $0.key < $1.key }
            .map { "\($0.key) (\(counted($0.value, "time")))" }
        warn(
            "\(grouped(broken.count)) of \(rules) broken: \(broken.joined(separator: ", "))\(rest)")
    }

    private func show(_ remark: RecordingRemark) {
        switch remark {
        case .cannotAccept(let error):
            warn("cannot take a connection: \(error)")
        case .peerRefused(let address):
            warn("\(address) may not connect")
            hint("allow it with --allow-from")
        case .noDestination(let address):
            warn("\(address) came here directly, not through a redirection; it was closed")
            hint("give --upstream for such connections")
        case .upstreamFailed(let address, let error):
            warn("cannot connect to the board at \(address): \(error)")
        case .strictlyClosed:
            warn("the link was closed, since it cannot be recorded (--strict)")
        case .interfaceGone(let name):
            warn("the interface \(name) is gone; waiting for it to return")
        case .interfaceReturned(let name):
            note("the interface \(name) is back")
        case .interfaceAwaited(let name):
            note("the interface \(name) is not there yet; waiting for it")
        case .cannotCapture(let name, let error):
            warn("cannot listen on \(name): \(error.text); trying again")
        case .packetsDropped(let count):
            warn("\(count) packets were dropped before they could be read")
            hint("--buffer 64MiB gives the system more room, and a filter gives it less to do")
        case .noWebSocket(let requests):
            warn("\(requests) HTTP requests came, but no WebSocket")
            hint("is the app in the background, or does it connect to the board past this proxy?")
        case .logEnded(let name, let text):
            warn("the log \(name) \(visible(text)); it is started again, and its notes go on")
        }
    }

    func note(_ text: String) {
        guard !isQuiet else { return }
        ProcessStreams.remark(.note, text)
    }

    func warn(_ text: String) {
        ProcessStreams.remark(.warning, text)
    }

    func hint(_ text: String) {
        ProcessStreams.remark(.hint, text)
    }

    /// Takes the status line away.
    func clear() { ProcessStreams.showStatus(nil) }
}
