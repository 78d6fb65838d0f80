import Inspector
import Testing
import Wire

@Suite struct PageAccessTests {
    private let access = PageAccess(token: "0123456789abcdef")
    private let here = "127.0.0.1:7370"

    private func outcome(
        _ target: String, method: String = "GET", host: String? = "127.0.0.1:7370",
        _ fields: [FieldLine] = []
    ) -> Result<PageAccess.Place, PageAccess.Refusal> {
        let head = HTTPMessage.request(method, target, host: host, fieldLines: fields).head
        return Result { () throws(PageAccess.Refusal) in try access.place(of: head) }
    }

    private func status(
        _ target: String, method: String = "GET", host: String? = "127.0.0.1:7370",
        _ fields: [FieldLine] = []
    ) -> Int {
        switch outcome(target, method: method, host: host, fields) {
        case .success: 200
        case .failure(let refusal): refusal.status
        }
    }

    @Test func `who has the token is led where the path says`() throws {
        let path = access.path
        #expect(path == "/0123456789abcdef/")
        let rows: [(String, PageAccess.Place)] = [
            ("", .page), ("?x=1", .page), ("s/0/live?from=0", .live(session: 0, from: 0)),
            ("s/2/live?from=99", .live(session: 2, from: 99)),
            ("s/1/events/7", .events(session: 1, block: 7)),
            ("compare/0/1", .comparison(first: 0, second: 1)), ("metrics", .metrics),
        ]
        for (rest, place) in rows { #expect(try outcome(path + rest).get() == place) }
    }

    @Test(arguments: [
        "/", "", "/0123456789abcde/", "/0123456789abcdef", "/0123456789abcdeg/",
        "/0123456789abcdef0123456789abcdef/", "//", "/s/0/live?from=0", "/%30123456789abcdef/",
        "http://127.0.0.1:7370/", "*",
    ])
    func `who has not the token is refused`(target: String) {
        #expect(status(target) == 403)
    }

    @Test func `a program that collects figures has the token in a header field`() throws {
        func status(_ target: String, _ value: String) -> Int {
            self.status(target, [FieldLine("Authorization", value)])
        }
        #expect(status("/metrics", "Bearer 0123456789abcdef") == 200)
        #expect(status("/metrics", "Bearer 0123456789abcdee") == 403)
        #expect(status("/metrics", "0123456789abcdef") == 403)
        #expect(status("/metrics", "") == 403)
        // The field opens nothing else.
        #expect(status("/", "Bearer 0123456789abcdef") == 403)
    }

    @Test(arguments: [
        "s/0/live", "s/0/live?from=", "s/0/live?from=-1", "s/x/events/0", "s/0/events",
        "s/0/events/99999999999999999999", "../", "s/0/events/0/", "favicon.ico", "compare/0",
    ])
    func `what is not there is not found`(rest: String) {
        #expect(status(access.path + rest) == 404)
    }

    @Test(arguments: [
        ("127.0.0.1:7370", 200), ("localhost:7370", 200), ("LOCALHOST", 200), ("[::1]:7370", 200),
        ("127.0.0.1", 200), ("192.168.42.7:7370", 200), ("[fe80::1]", 200),
        ("attacker.example:7370", 421), ("127.0.0.1.nip.io:7370", 421), ("localhost.evil", 421),
        ("127.0.0.1:7370@evil", 421), ("2130706433", 421), ("0x7f.0.0.1", 421), ("127.1", 421),
        ("256.0.0.1", 421), ("[::1", 421), ("[::1]x", 421), ("[evil.example]", 421), ("", 421),
        ("localhost:", 421), ("localhost:99999", 421),
    ])
    func `a name that somebody else could point here is refused`(host: String, expected: Int) {
        #expect(status(access.path, host: host) == expected)
    }

    @Test func `a request needs one Host`() {
        #expect(status(access.path, host: nil) == 421)
        #expect(status(access.path, [FieldLine("Host", here)]) == 421)
    }

    @Test(arguments: [
        ("http://127.0.0.1:7370", 200),
        ("http://attacker.example", 403), ("https://127.0.0.1:7370", 403),
        ("http://127.0.0.1:7371", 403), ("http://127.0.0.1:7370.evil", 403), ("null", 403),
        ("", 403),
    ])
    func `a page of another origin is refused`(origin: String, expected: Int) {
        for rest in ["", "s/0/events/0", "s/0/live?from=0"] {
            #expect(status(access.path + rest, [FieldLine("Origin", origin)]) == expected)
        }
    }

    @Test func `a link in another page leads to the page, and to nothing else`() {
        let cross = [FieldLine("Sec-Fetch-Site", "cross-site")]
        #expect(status(access.path, cross) == 200)
        #expect(status(access.path + "s/0/events/0", cross) == 403)
        let own = [FieldLine("Sec-Fetch-Site", "same-origin")]
        #expect(status(access.path + "s/0/events/0", own) == 200)
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT"])
    func `nothing can be changed`(method: String) {
        #expect(status(access.path, method: method) == 405)
    }
}
