package import Network
import Wire

/// What is done with the target by a command line or a request, named as its flag is.
package enum TargetStep: String, Sendable, CaseIterable {
    case spawn = "--spawn"
    case restart = "--restart"
    case before = "--before"
    case after = "--after"
    case onState = "--on-state"
    case stimulus = "--stimulus"
    case probe = "--probe"
}

/// Why the implementation under test could not be used, or was lost.
package enum TargetError: Error, Sendable, Equatable {
    /// Programs run on the real driver of the loop only.
    case noPrograms(TargetStep)
    /// No free port was found for it.
    case noPort(NetworkError)
    /// Somebody else listens where it is to serve.
    case portTaken(Endpoint)
    /// Its private folder cannot be made or removed.
    case noFolder(FileError)
    /// The program of a step cannot be started.
    case cannotStart(TargetStep, NetworkError)
    /// It ended by itself.
    case died(ChildExit, TargetOutput)
    /// It was not ready in time; the text says what was waited for.
    case notReady(waitedFor: String, seconds: Int64, TargetOutput)
    /// Nobody accepts a connection there.
    case unreachable(Endpoint, NetworkError)
    /// The command of a step ended, but not well.
    case failed(TargetStep, ChildExit, TargetOutput)
    /// The command of a step did not end in time.
    case tookTooLong(TargetStep, seconds: Int64, TargetOutput)
    /// The request of a step was answered with another status than a 2xx; the text is the start
    /// of the answer's body.
    case refused(TargetStep, status: Int, body: String)
    /// The request of a step got no answer.
    case noAnswer(TargetStep, HTTPRequestError)
    /// The request of a step cannot be written with the values that there are.
    case wrongText(TargetStep, TargetTextError)
    /// There is no way to do that with this target.
    case noWay(TargetStep)
    /// What a command printed is not what it should print; the text is its beginning.
    case strangeAnswer(TargetStep, String)
    /// The name of a state has characters that no command line should see.
    case strangeState(String)
    /// The target was stopped meanwhile.
    case stopped

    /// The last lines that it wrote; empty where it could write none.
    package var output: TargetOutput {
        switch self {
        case .died(_, let output), .notReady(_, _, let output), .failed(_, _, let output),
            .tookTooLong(_, _, let output):
            output
        case .noPrograms, .noPort, .portTaken, .noFolder, .cannotStart, .unreachable, .refused,
            .noAnswer, .wrongText, .noWay, .strangeAnswer, .strangeState, .stopped:
            TargetOutput()
        }
    }

    /// How the target's process ended, where that is what went wrong.
    package var exit: ChildExit? {
        if case .died(let exit, _) = self { exit } else { nil }
    }
}

extension TargetError: CustomStringConvertible {
    /// One sentence in lower case without a full stop; `output` has what the program said.
    package var description: String {
        switch self {
        case .noPrograms(let step):
            "\(step.rawValue): no programs are run in a simulated world"
        case .noPort(let error): "no free port was found for the target: \(error)"
        case .portTaken(let endpoint):
            "somebody else listens on \(endpoint) already, where the target is to serve"
        case .noFolder(let error):
            "the private folder of the target, \(error.path): \(error)"
        case .cannotStart(let step, let error):
            "\(step.rawValue): the command cannot be started: \(error)"
        case .died(let exit, _): "the target died: it \(exit.words)"
        case .notReady(let waitedFor, let seconds, _):
            "the target was not ready within \(seconds) s: \(waitedFor)"
        case .unreachable(let endpoint, let error):
            "the target cannot be reached at \(endpoint): \(error)"
        case .failed(let step, let exit, _): "\(step.rawValue): the command \(exit.words)"
        case .tookTooLong(let step, let seconds, _):
            "\(step.rawValue): the command had not ended after \(seconds) s, and was ended"
        case .refused(let step, let status, let body):
            "\(step.rawValue): the target refused it with HTTP status \(status)"
                + (body.isEmpty ? "" : ": \(body)")
        case .noAnswer(let step, let error):
            "\(step.rawValue): the request failed: \(error.text)"
        case .wrongText(let step, let error): "\(step.rawValue): \(error)"
        case .noWay(let step):
            "there is no way to do that with this target; \(step.rawValue) says how"
        case .strangeAnswer(let step, let text):
            "\(step.rawValue): pid, rss and fds with a number each were due, not "
                + JSON.string(text).description
        case .strangeState(let state):
            "--on-state: a state may have letters, digits, spaces and - _ . , : = only, not "
                + JSON.string(state).description
        case .stopped: "the target was stopped"
        }
    }
}

extension ChildExit {
    /// How a program ended, as a verb: `exited with code 3`, `was killed by SIGSEGV`.
    package var words: String {
        switch self {
        case .code(let code): "exited with code \(code)"
        case .signal(let number): "was killed by \(SignalProcessText.name(number))"
        }
    }
}
