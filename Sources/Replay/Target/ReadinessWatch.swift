import Network
import Wire

/// Waits until a target is ready: no fixed time, but one look after the other, ever less often.
final class ReadinessWatch {
    /// What is looked for.
    enum Sign {
        case connection(Endpoint)
        case text(String)
        /// A file at this path, with the stamp of the one that was there before.
        case file(String, before: FileStamp?)
    }

    private static let firstDelay = 20 * nanosecondsPerMillisecond
    private static let longestDelay = 250 * nanosecondsPerMillisecond
    /// How long one attempt to connect may take; a full queue of a target that starts drops some.
    private static let attemptTime = nanosecondsPerSecond

    private let sign: Sign
    private let loop: any EventLoop
    private var completion: ((_ isReady: Bool) -> Void)?
    private var delay = firstDelay
    private var step: (any Cancellable)?
    private var limit: ScheduledAction?

    /// Begins to wait, for at most `time` nanoseconds.
    init(
        _ sign: Sign, time: Int64, on loop: any EventLoop,
        _ completion: @escaping (_ isReady: Bool) -> Void
    ) {
        self.sign = sign
        self.loop = loop
        self.completion = completion
        limit = loop.schedule(after: time) { [weak self] in self?.finish(false) }
        step = loop.schedule(at: loop.now) { [weak self] in self?.look() }
    }

    /// What has not come, in words.
    var waitedFor: String {
        switch sign {
        case .connection(let endpoint): "no connection to \(endpoint) was accepted"
        case .text(let text): "no line of its output had \(JSON.string(text)) in it"
        case .file(let path, _): "the file \(path) did not come"
        }
    }

    /// Tells it a line of the target's output.
    func take(line: String) {
        if case .text(let text) = sign, line.contains(text) { finish(true) }
    }

    /// Waits no longer; the completion does not run any more.
    func cancel() {
        completion = nil
        step?.cancel()
        step = nil
        limit?.cancel()
        limit = nil
    }

    private func look() {
        switch sign {
        case .text: break
        case .connection(let endpoint):
            let options = ConnectOptions(deadline: loop.now + Self.attemptTime)
            step = loop.connect(to: endpoint, options: options) { [weak self] result in
                switch result {
                case .success(let stream):
                    stream.close()
                    self?.finish(true)
                case .failure: self?.lookLater()
                }
            }
        case .file(let path, let before):
            if let stamp = FileStamp(ofFile: path), stamp != before {
                finish(true)
            } else {
                lookLater()
            }
        }
    }

    private func lookLater() {
        guard completion != nil else { return }
        step = loop.schedule(after: delay) { [weak self] in self?.look() }
        delay = min(delay * 3 / 2, Self.longestDelay)
    }

    private func finish(_ isReady: Bool) {
        let completion = completion
        cancel()
        completion?(isReady)
    }
}
