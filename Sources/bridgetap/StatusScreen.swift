import BridgeProxy
import Capture
import Glibc
import Network

/// What a recorder tells its terminal: remarks, and below them a line that is written over.
final class StatusScreen {
    private let isQuiet: Bool
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private var isLineShown = false

    init(isQuiet: Bool) {
        self.isQuiet = isQuiet
    }

    /// Shows a report of the recording in words.
    func show(_ report: Recording.Report) {
        switch report {
        case .status(let line):
            if isTerminal, !isQuiet { draw(line.text) }
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
        }
    }

    private func show(_ remark: ProxyRemark) {
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
        case .noWebSocket(let requests):
            warn("\(requests) HTTP requests came, but no WebSocket")
            hint("is the app in the background, or does it connect to the board past this proxy?")
        }
    }

    func note(_ text: String) {
        guard !isQuiet else { return }
        clear()
        ProcessStreams.remark(.note, text)
    }

    func warn(_ text: String) {
        clear()
        ProcessStreams.remark(.warning, text)
    }

    func hint(_ text: String) {
        clear()
        ProcessStreams.remark(.hint, text)
    }

    /// Takes the status line away.
    func clear() {
        guard isLineShown else { return }
        ProcessStreams.writeRaw("\r\u{1b}[K")
        isLineShown = false
    }

    private func draw(_ line: String) {
        let width = ProcessStreams.errorWidth ?? 80
        ProcessStreams.writeRaw("\r\u{1b}[K" + String(line.prefix(max(1, width - 1))))
        isLineShown = true
    }
}
