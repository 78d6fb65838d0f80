package import Network
import PhoneBridge
package import Simulator
package import Wire

/// Has the reference board send commands, from its own machine.
package final class ReferenceBoardDriver: TargetDriver {
    private let client: HTTPClient

    package init(_ loop: any EventLoop, board: Endpoint) {
        client = HTTPClient(
            to: Endpoint(host: "127.0.0.1", port: board.port), on: loop)
    }

    package var canStimulate: Bool { true }
    package var canSetState: Bool { false }

    package func stimulate(
        _ command: JSON, timeout: Int64,
        _ completion: @escaping (Result<JSON?, TargetError>) -> Void
    ) -> any Cancellable {
        client.send(
            .request(
                "POST", "/simulate/command", host: client.endpoint.description,
                fieldLines: [FieldLine("Content-Type", "application/json")],
                body: command.encoded), timeout: timeout
        ) { result in
            switch result {
            case .failure(let error): completion(.failure(.noAnswer(.stimulus, error)))
            case .success(let response) where response.head.status != 200:
                completion(
                    .failure(
                        .refused(
                            .stimulus, status: response.head.status ?? 0,
                            body: String(decoding: response.body.prefix(200), as: UTF8.self))))
            case .success(let response):
                completion(.success(try? JSON(parsing: response.body)))
            }
        }
    }

    package func setState(
        _ state: String, _ completion: @escaping (Result<Void, TargetError>) -> Void
    ) {
        completion(.failure(.noWay(.onState)))
    }
}

/// Brings the reference app into states.
package final class ReferenceAppDriver: TargetDriver {
    private let loop: any EventLoop
    private let app: AppHost

    package init(_ loop: any EventLoop, app: AppHost) {
        self.loop = loop
        self.app = app
    }

    package var canStimulate: Bool { false }
    package var canSetState: Bool { true }

    package func stimulate(
        _ command: JSON, timeout: Int64,
        _ completion: @escaping (Result<JSON?, TargetError>) -> Void
    ) -> any Cancellable {
        loop.schedule(at: loop.now) { completion(.failure(.noWay(.stimulus))) }
    }

    package func setState(
        _ state: String, _ completion: @escaping (Result<Void, TargetError>) -> Void
    ) {
        loop.schedule(at: loop.now) { [app] in
            guard let word = PhoneStateWord(parsing: state) else {
                return completion(.failure(.strangeState(state)))
            }
            app.enter(word)
            completion(.success(()))
        }
    }
}
