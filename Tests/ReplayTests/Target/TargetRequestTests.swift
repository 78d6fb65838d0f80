import Network
import Replay
import Testing
import Wire

@Suite struct TargetRequestTests {
    private static let values: TargetValues = {
        var values = TargetValues(port: 8080, job: 2, control: 9000, folder: "/tmp/x")
        values.state = "background pip"
        values.command = #"{"id":"c1"}"#
        return values
    }()

    /// The request in a few words.
    private func words(_ text: String, needed: TargetPlace) throws -> String {
        let request = try TargetRequest(parsing: text, needed: needed)
        let (endpoint, message) = try request.message(with: Self.values)
        let type = message.head.fieldLines.first("Content-Type") ?? "-"
        #expect(message.head.fieldLines.first("Host") == endpoint.description)
        return "\(endpoint) \(message.head.method ?? "") \(message.head.target ?? "") \(type) "
            + String(decoding: message.body, as: UTF8.self)
    }

    private static let requests: [(text: String, needed: TargetPlace, request: String)] = [
        (
            "POST http://127.0.0.1:{port}/simulate/command {command}", .command,
            #"127.0.0.1:8080 POST /simulate/command application/json {"id":"c1"}"#
        ),
        (
            #"PUT http://board.lan/run?wait=1#top {"job":{job},"command":{command}}"#, .command,
            #"board.lan:80 PUT /run?wait=1 application/json {"job":2,"command":{"id":"c1"}}"#
        ),
        // Without a body it is what is asked for.
        (
            "POST http://[::1]:{port}", .command,
            #"[::1]:8080 POST / application/json {"id":"c1"}"#
        ),
        (
            "POST HTTP://127.0.0.1:{control}/simulate/state", .state,
            "127.0.0.1:9000 POST /simulate/state text/plain; charset=utf-8 background pip"
        ),
        (
            "GET http://127.0.0.1:{control}/go?to={state}", .state,
            "127.0.0.1:9000 GET /go?to=background%20pip - "
        ),
        (
            "  POST   http://h:1/{state}   a body  with {port}", .state,
            "h:1 POST /background%20pip text/plain; charset=utf-8 a body  with 8080"
        ),
    ]

    @Test(arguments: requests)
    func `a request is read and filled in`(
        text: String, needed: TargetPlace, request: String
    ) throws {
        #expect(try words(text, needed: needed) == request)
    }

    private static let refusals: [(text: String, words: String)] = [
        ("", #""" is neither exec:COMMAND nor a request like POST http://HOST:PORT/PATH BODY"#),
        (
            "curl http://x",
            "\"curl http://x\" is neither exec:COMMAND nor a request like "
                + "POST http://HOST:PORT/PATH BODY"
        ),
        ("POST https://board/run {command}", "\"https://board/run\" does not begin with http://"),
        ("POST board:8080/run {command}", "\"board:8080/run\" does not begin with http://"),
        ("POST http://board:x/ {command}", "\"http://board:x/\": \"x\" is no port (0 to 65535)"),
        ("POST http:///run {command}", "\"http:///run\": the host is missing"),
        (
            "POST http://b/ü {command}",
            "\"http://b/ü\": other characters than those of ASCII are written as %XX in a URL"
        ),
        ("POST http://b/ {\"id\":1}", "{command} is missing in it"),
        (
            "POST http://b/{command}",
            "{command} is no place that is filled in here; "
                + "there are {port}, {job}, {control}, {dir}"
        ),
    ]

    @Test(arguments: refusals)
    func `what is no request is refused in words`(text: String, words: String) {
        let error = #expect(throws: TargetTextError.self) {
            try TargetRequest(parsing: text, needed: .command)
        }
        #expect(error?.description == words)
    }

    @Test func `a request is told from a command line`() {
        #expect(TargetRequest.isMeant(by: "POST http://x/ {state}"))
        #expect(TargetRequest.isMeant(by: "GET https://x/"))
        #expect(!TargetRequest.isMeant(by: "curl http://x/"))
        #expect(!TargetRequest.isMeant(by: "POST {state}"))
        #expect(!TargetRequest.isMeant(by: "/opt/POST http://x/"))
    }

    @Test func `the places of all parts are known`() throws {
        let request = try TargetRequest(
            parsing: "POST http://h:{control}/ {\"c\":{command},\"j\":{job}}", needed: .command)
        #expect(request.places == [.control, .command, .job])
    }
}
