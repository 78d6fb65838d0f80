/// What a WebSocket message means, before it is written as values or as text.
///
/// What is an `Int` stands on the tape of the message.
enum MessageMeaning {
    /// It is no JSON.
    case nothing
    /// JSON that the contract does not know.
    case unknown
    /// A message with one of `ContractNames.reservedIDs`.
    case reserved(Int)
    case appEvent(id: Int)
    case command(SentCommand)
    case result(Answer, CommandTracker.Pairing?)
}
