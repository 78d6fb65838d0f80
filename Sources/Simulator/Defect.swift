/// A bug that a reference peer can be started with, to see whether a tool finds it.
///
/// Each is one small departure in one place of the peer's machine. A peer without a defect is
/// the reference: where the observed board departs from the contract, it follows the contract.
package enum Defect: String, CaseIterable, Sendable {
    case b1 = "B1"
    case b2 = "B2"
    case b3 = "B3"
    case b5 = "B5"
    case b6 = "B6"
    case b7 = "B7"
    case b8 = "B8"
    case b9 = "B9"
    case b12 = "B12"
    case b14 = "B14"
    case b16 = "B16"
    case b17 = "B17"
    case b18 = "B18"
    case b19 = "B19"
    case b20 = "B20"
    case b21 = "B21"
    case b22 = "B22"
    case b23 = "B23"
    case b24 = "B24"
    case b25 = "B25"
    case b26 = "B26"
    case b27 = "B27"
    case b28 = "B28"
    case b30 = "B30"
    case b31 = "B31"
    case b32 = "B32"
    case b33 = "B33"
    case a1 = "A1"
    case a2 = "A2"
    case a3 = "A3"
    case a4 = "A4"
    case a6 = "A6"
    case a7 = "A7"
    case a9 = "A9"
    case a10 = "A10"
    case a11 = "A11"
    case a18 = "A18"
    case a20 = "A20"
    case a22 = "A22"
    case a24 = "A24"

    /// Which of the two peers can have a defect.
    package enum Side: Sendable {
        case board
        case app
    }

    /// The peer that this defect is one of.
    package var side: Side { rawValue.hasPrefix("B") ? .board : .app }

    /// Makes the defect of that id, in either case of its letter; nil for an unknown one.
    package init?(id: String) {
        self.init(rawValue: id.uppercased())
    }

    /// What is seen on the wire, in one line for a list of all defects.
    package var summary: String {
        switch self {
        case .b1: "the queue accepts an id that is still queued or in flight"
        case .b2: "an id is accepted again while its result is kept; queries show the old answer"
        case .b3: "ids are compared without case, outer space and odd characters"
        case .b5: "a command whose connection ends goes into the queue at once"
        case .b6: "an answer to an unknown id completes the oldest waiting command"
        case .b7: "an answer completes a command whose id merely begins with the answer's"
        case .b8: "the last result wins instead of the first"
        case .b9: "a phone_app_state event completes the oldest waiting command"
        case .b12: "a command without timeout_ms waits 50 s"
        case .b14: "each message of the app gives waiting commands their whole time anew"
        case .b16: "a ping is echoed as a heartbeat"
        case .b17: "last_heartbeat_at is taken from the phone's reported_at"
        case .b18: "a silent connection is never given up"
        case .b19: "a connection is given up after 30 s without a heartbeat"
        case .b20: "the environment is kept when the connection ends without a close frame"
        case .b21: "the late end of a replaced connection wipes what the new one said and waits for"
        case .b22: "a connection that was replaced is still heard"
        case .b23: "a wrong type in phone_environment stops the reading of the connection"
        case .b24: "a command in flight is never handed out again"
        case .b25: "a command that is handed out again has a new id"
        case .b26: "a command is handed out again although its result was accepted"
        case .b27: "a poll marks all commands as handed out but returns only as many as its limit"
        case .b28: "a poll returns one command more than its limit"
        case .b30: "background filters go by a type's prefix: open_app and contacts_update slip out"
        case .b31: "a command that a poll's filter holds back is dropped"
        case .b32: "the id in an error's text is not escaped"
        case .b33: "a request body that ends before its Content-Length is acted on"
        case .a1: "a repeated command id is executed again"
        case .a2: "command ids are forgotten at each new connection"
        case .a3: "the WebSocket and the queue do not share what ids they have seen"
        case .a4: "commands with equal content count as one, whatever their ids"
        case .a6: "an answer carries the id of the latest command"
        case .a7: "a command with a bad payload is never answered"
        case .a9: "deleting an unknown event succeeds"
        case .a10: "no command is answered any more once a prompt outlasted its command"
        case .a11: "the offset of a time is dropped"
        case .a18: "fragments after the first are dropped"
        case .a20: "no heartbeat is sent while a command is being done"
        case .a22: "the app reconnects at once, again and again"
        case .a24: "after a poll whose reply does not come there is never another one"
        }
    }
}
