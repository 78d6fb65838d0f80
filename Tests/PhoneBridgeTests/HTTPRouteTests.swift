import PhoneBridge
import Testing

@Suite struct HTTPRouteTests {
    @Test func `methods and paths of the board's table are told apart`() {
        let rows: [(String, String, HTTPRoute?)] = [
            ("GET", "/api/phone-bridge", .connect),
            ("GET", "/api/phone-bridge?platform=ios", .connect),
            ("GET", "/api/phone-bridge/status", .status),
            ("POST", "/api/phone-bridge/commands", .enqueue),
            ("GET", "/api/phone-bridge/commands?platform=x", .poll),
            ("POST", "/api/phone-bridge/results", .result),
            ("GET", "/api/phone-bridge/results/a%2Fb", .query(id: "a/b")),
            ("GET", "/api/phone-bridge/results/", .query(id: "")),
            ("GET", "http://192.168.42.1:8080/api/phone-bridge/status?x", .status),
            ("GET", "/api/phone-bridge/results", nil),
            ("GET", "/api/phone-bridge/", nil),
            ("POST", "/api/phone-bridge/status", nil),
            ("get", "/api/phone-bridge/status", nil),
            ("DELETE", "/api/phone-bridge/commands/a", nil),
            ("GET", "/API/phone-bridge/status", nil),
            ("GET", "", nil), ("GET", "*", nil), ("GET", "http://", nil), ("GET", "?", nil),
        ]
        for (method, target, route) in rows {
            #expect(
                HTTPRoute(method: method, target: target, paths: .init()) == route,
                "\(method) \(target)")
        }
    }

    @Test func `a query is decoded, and the first of equal names counts`() {
        let target = RequestTarget("/p?a=1&a=2&b=%E5%BE%AE+x&c&=d&%zz=%4&e=x=y")
        #expect(target.path == "/p")
        #expect(target["a"] == "1")
        #expect(target["b"] == "微 x")
        #expect(target["c"] == "")
        #expect(target[""] == "d")
        #expect(target["%zz"] == "%4")
        #expect(target["e"] == "x=y")
        #expect(target["none"] == nil)
        #expect(RequestTarget("/p?x=%ff")["x"] == "\u{fffd}")
    }
}
