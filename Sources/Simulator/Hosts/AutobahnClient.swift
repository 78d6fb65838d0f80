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
    private var completion: ((Outcome) -> Void)?
    private var step: (any Cancellable)?
    private var link: WebSocketConnection?
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
        open("/getCaseCount") { _, _, message in
            answer = message
        } ended: { client, failure in
            guard let answer, let count = Int(String(decoding: answer, as: UTF8.self)), count >= 0
            else {
                let why = failure ?? "its answer is no number"
                client.finish(.failed("the suite does not say how many cases there are: \(why)"))
                return
            }
            client.caseCount = count
            client.run(1)
        }
    }

    private func run(_ number: Int) {
        guard number <= caseCount else {
            open("/updateReports?agent=\(PercentText.encode(agent))") { _, _, _ in
            } ended: { client, failure in
                client.finish(failure.map { .failed($0) } ?? .done(caseCount: client.caseCount))
            }
            return
        }
        onCase?(number, caseCount)
        open("/runCase?case=\(number)&agent=\(PercentText.encode(agent))") {
            link, opcode, message in
            link.send(opcode, message)
        } ended: { client, failure in
            if let failure {
                client.finish(.failed("case \(number) cannot be run: \(failure)"))
            } else {
                client.run(number + 1)
            }
        }
    }

    /// Opens a connection and waits for its end; a failure says why there was none.
    private func open(
        _ target: String,
        message: @escaping (WebSocketConnection, Opcode, Bytes) -> Void,
        ended: @escaping (AutobahnClient, _ failure: String?) -> Void
    ) {
        var request = WebSocketRequest(target: target)
        request.offers = [DeflateParameters(hasClientMaxWindowBits: true)]
        step = WebSocketClient.connect(
            to: url.endpoint, request, on: loop, configure: { $0.maximumMessage = 16 << 20 }
        ) { [weak self] result in
            guard let self else { return }
            step = nil
            switch result {
            case .success(let link):
                self.link = link
                link.onMessage = { [unowned link] opcode, bytes in message(link, opcode, bytes) }
                link.onClosed = { [weak self] _ in
                    guard let self else { return }
                    self.link = nil
                    // Thousands of cases in a row must not stand on one stack.
                    self.step = self.loop.schedule(after: 0) { ended(self, nil) }
                }
            case .failure(let error):
                ended(self, error.text)
            }
        }
    }

    private func finish(_ outcome: Outcome) {
        let completion = completion
        self.completion = nil
        completion?(outcome)
    }
}
