package import Network
package import Wire

/// How a player moves the implementation under test, beyond the link itself.
///
/// All of it runs on the loop's thread; a completion never runs inside the call that asked for it.
package protocol TargetDriver: AnyObject {
    /// Whether there is a way to make a board send a command of its own accord.
    var canStimulate: Bool { get }

    /// Whether there is a way to bring the target into a state, such as an app into the background.
    var canSetState: Bool { get }

    /// Has the board send a command over the WebSocket.
    ///
    /// The command may run until it has ended; other calls may be made meanwhile.
    /// - Parameters:
    ///   - command: what the board is to send, as its JSON (contract, "BridgeCommand").
    ///   - timeout: how long the call may take, in nanoseconds.
    ///   - completion: runs exactly once, unless the call is cancelled: with what the board made of
    ///     the phone's answer (contract, "BridgeCommandResponse"), or nil where the stimulus does
    ///     not tell.
    @discardableResult
    func stimulate(
        _ command: JSON, timeout: Int64,
        _ completion: @escaping (Result<JSON?, TargetError>) -> Void
    ) -> any Cancellable

    /// Brings the target into a state that is named by a few words.
    /// - Parameter completion: runs exactly once, when the target is in that state.
    func setState(_ state: String, _ completion: @escaping (Result<Void, TargetError>) -> Void)
}
