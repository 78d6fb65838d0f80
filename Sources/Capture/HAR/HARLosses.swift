/// What a HAR file cannot hold of a session; each is one warning.
package struct HARLosses: Sendable, Equatable {
    package var masks = 0
    package var fragments = 0
    package var compressed = 0
    package var frames = 0
    package var mended = 0
    package var heads = 0
    package var chunks = 0
    package var trailers = 0
    package var interim = 0
    package var packed = 0
    package var binaryRequests = 0
    package var incomplete = 0
    package var data = 0
    package var responses = 0
    package var connections = 0
    package var packetTimes = 0

    package init() {}

    /// A sentence for each loss, for people.
    package var warnings: [String] {
        let all: [(Int, String)] = [
            (masks, "masking keys are left out"),
            (fragments, "messages in several frames are shown as one each"),
            (compressed, "compressed messages are shown as their content"),
            (frames, "frames that belong to no whole message are left out"),
            (mended, "text messages that are not UTF-8 show U+FFFD"),
            (heads, "heads are not in the canonical form, which is shown"),
            (chunks, "chunked bodies are shown whole"),
            (trailers, "trailers are left out"),
            (interim, "interim responses are left out"),
            (packed, "bodies stay packed, as their Content-Encoding says"),
            (binaryRequests, "request bodies are no text; they are in base64, with _encoding"),
            (incomplete, "bodies are cut short, and shown as far as they go"),
            (data, "runs of bytes that are neither HTTP nor WebSocket are left out"),
            (responses, "responses without a request are left out"),
            (connections, "connections without an exchange are left out"),
            (packetTimes, "events have a time of their own beside the file's, which is left out"),
        ]
        return all.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    }
}
