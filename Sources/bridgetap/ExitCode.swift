/// How the program ends; the numbers are part of its public interface.
enum ExitCode: Int32, Sendable {
    /// Done, nothing wrong found.
    case done = 0
    /// Done, and something was found: a difference, a broken rule.
    case found = 1
    /// Wrong usage.
    case usage = 2
    /// The other side could not be used: no connection, no address to listen on.
    case unreachable = 3
    /// An input cannot be read, is not what it should be, or is torn where it may not be.
    case badInput = 4
    /// Nothing was exercised.
    case nothingExercised = 5
    /// Done, but what was recorded is incomplete.
    case incomplete = 6
    /// A fault of the tool itself.
    case internalFault = 70
    /// A job cut short by a signal, after closing files in good order.
    case interrupted = 130
}

/// A job that cannot go on: what to say, what to try, and how to end.
struct Failure: Error {
    let code: ExitCode
    /// One sentence in lower case without a full stop: what, where, why.
    let message: String
    let hint: String?

    init(_ code: ExitCode, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// Tells it on standard error.
    func tell() {
        ProcessStreams.remark(.error, message)
        if let hint { ProcessStreams.remark(.hint, hint) }
    }
}
