/// A decoder under arbitrary bytes, and what has to hold for each of them.
///
/// The first sentence of each `check…` function states its invariant. An input begins with a
/// byte of options and a seed for the cuts, so that it can be repeated by itself.
public enum FuzzTarget: String, CaseIterable, Sendable {
    case http
    case webSocket = "websocket"
    case deflate
    case json
    case ndjson
    case session
    case connection
    case har
    case gaps
    case pcap
    case reassembler
    case server
    case filter

    /// Throws where the invariant does not hold for `input`; a trap is a finding as well.
    public func check(_ input: [UInt8]) throws(BrokenInvariant) {
        switch self {
        case .http: try checkHTTP(input)
        case .webSocket: try checkWebSocket(input)
        case .deflate: try checkDeflate(input)
        case .json: try checkJSON(input)
        case .ndjson: try checkNDJSON(input)
        case .session: try checkSession(input)
        case .connection: try checkConnection(input)
        case .har: try checkHAR(input)
        case .gaps: try checkGaps(input)
        case .pcap: try checkPackets(input)
        case .reassembler: try checkReassembler(input)
        case .server: try checkHTTPServer(input)
        case .filter: try checkFilter(input)
        }
    }
}

/// An invariant that did not hold, in words.
public struct BrokenInvariant: Error, Equatable, CustomStringConvertible {
    /// What should have held and did not.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Throws unless `condition` holds.
func expect(
    _ condition: Bool, _ message: @autoclosure () -> String
) throws(BrokenInvariant) {
    guard condition else { throw BrokenInvariant(message()) }
}

/// Throws unless both are equal, and tells where they begin to differ.
func expectEqual<Value: Equatable>(
    _ found: [Value], _ expected: [Value], _ what: @autoclosure () -> String
) throws(BrokenInvariant) {
    guard found != expected else { return }
    let index = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    let place = index ?? min(found.count, expected.count)
    let left = place < found.count ? "\(found[place])" : "the end"
    let right = place < expected.count ? "\(expected[place])" : "the end"
    throw BrokenInvariant("\(what()): at \(place) stands \(left) instead of \(right)")
}
