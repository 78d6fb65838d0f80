package import Network
import Wire

/// Goes through the cases of the Autobahn suite's fuzzing server, echoing every message; for
/// conformance tests of the endpoint that the reference app stands on.
///
///     /getCaseCount ──► /runCase?case=1 … n ──► /updateReports
package final class AutobahnClient {
    /// How a run ended.
    package enum Outcome: Equatable, Sendable {
        /// All cases were run; the suite's own report says how they went.
        case done(caseCount: Int)
        /// The suite could not be reached, or did not say how many cases there are.
        case failed(String)
    }

    /// Told before each case, with its number and how many there are.
    package var onCase: ((_ number: Int, _ count: Int) -> Void)?

    private let loop: any EventLoop
    private let url: WebSocketURL
    private let agent: String
    private let completion: (Outcome) -> Void
    private var link: ClientLink?
    private var caseCount = 0

    /// Makes a client; `completion` is called once.
    package init(
        loop: any EventLoop, url: WebSocketURL, agent: String = "bridgetap",
        _ completion: @escaping (Outcome) -> Void
    ) {
        self.loop = loop
        self.url = url
        self.agent = agent
        self.completion = completion
    }

    /// Begins the run.
    package func start() {
        var answer: Bytes?
        open("/getCaseCount") { _, message in
            answer = message
        } ended: { [self] why in
            guard let answer, let count = Int(String(decoding: answer, as: UTF8.self)), count >= 0
            else {
                completion(.failed("the suite did not say how many cases there are: \(why)"))
                return
            }
            caseCount = count
            run(1)
        }
    }

    private func run(_ number: Int) {
        guard number <= caseCount else {
            open("/updateReports?agent=\(PercentText.encode(agent))") { _, _ in
            } ended: { [self] _ in
                completion(.done(caseCount: caseCount))
            }
            return
        }
        onCase?(number, caseCount)
        open("/runCase?case=\(number)&agent=\(PercentText.encode(agent))") {
            [self] opcode, message in
            link?.send(opcode, message)
        } ended: { [self] _ in
            run(number + 1)
        }
    }

    private func open(
        _ target: String, message: @escaping (Opcode, Bytes) -> Void,
        ended: @escaping (String) -> Void
    ) {
        var options = ClientLink.Options(
            board: url.endpoint, target: target, connectTime: 10 * nanosecondsPerSecond)
        options.offers = [DeflateParameters(hasClientMaxWindowBits: true)]
        options.maximumMessage = 16 << 20
        var callbacks = ClientLink.Callbacks()
        callbacks.message = { opcode, bytes, _ in message(opcode, bytes) }
        callbacks.ended = { [weak self] why in
            self?.link = nil
            ended(why)
        }
        link = ClientLink(loop: loop, options: options, callbacks: callbacks)
    }
}
