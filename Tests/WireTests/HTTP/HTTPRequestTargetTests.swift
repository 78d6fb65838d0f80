import Testing
import Wire

@Suite struct HTTPRequestTargetTests {
    @Test(
        arguments: [
            ("/where?q=now", .origin, nil, "/where", "q=now"),
            ("http://www.example.org:80/pub?x#y", .absolute, "www.example.org:80", "/pub", "x"),
            ("http://a?b", .absolute, "a", "", "b"), ("http://a", .absolute, "a", "", nil),
            ("www.example.com:80", .authority, "www.example.com:80", "", nil),
            ("[::1]:80", .authority, "[::1]:80", "", nil), ("*", .asterisk, nil, "*", nil),
            ("/a?", .origin, nil, "/a", ""), ("/a?b?c", .origin, nil, "/a", "b?c"),
            ("//a/../b", .origin, nil, "//a/../b", nil), ("", .unknown, nil, "", nil),
            ("where", .unknown, nil, "where", nil), ("://", .unknown, nil, "://", nil),
            ("/a:80", .origin, nil, "/a:80", nil), ("a:b", .unknown, nil, "a:b", nil),
        ] as [(String, RequestTarget.Form, String?, String, String?)])
    func `a target of any form is taken apart`(
        _ text: String, _ form: RequestTarget.Form, _ authority: String?, _ path: String,
        _ query: String?
    ) {
        let target = RequestTarget(text)
        #expect(target.text == text)
        #expect(target.form == form)
        #expect(target.authority == authority)
        #expect(target.path.text == path)
        #expect(target.query == query)
    }

    @Test(arguments: [
        ("a%20b", "a b", true), ("%e4%BD%A0", "\u{4f60}", true), ("a+b", "a+b", true),
        ("%", "%", false), ("%4", "%4", false), ("%zz%41", "%zzA", false),
        ("%ff", "\u{fffd}", true), ("%00", "\0", true), ("%2525", "%25", true),
    ])
    func `escapes are decoded once, and broken ones left`(
        _ text: String, _ decoded: String, _ isValid: Bool
    ) {
        let part = PercentText(text)
        #expect(part.text == text)
        #expect(part.decoded == decoded)
        #expect(part.isValid == isValid)
    }

    @Test func `query items keep order, repeats and their text`() {
        let target = RequestTarget("/p?platform=i%4fs&platform=x&flag&=v&&phone_id=a+b%2B&e=")
        #expect(
            target.queryItems.map { $0.name.decoded }
                == ["platform", "platform", "flag", "", "phone_id", "e"])
        #expect(target.queryValue("platform") == "iOs")
        #expect(target.queryItems.first?.value?.text == "i%4fs")
        #expect(target.queryValue("flag") == "")
        #expect(target.queryItems[2].value == nil)
        #expect(target.queryValue("phone_id") == "a b+")
        #expect(target.queryValue("e") == "")
        #expect(target.queryValue("absent") == nil)
    }

    @Test func `a target that was made is read back`() {
        let values = ["ios", "a b&c=d", "\u{4f60}\u{1f600}", "100%+1", "", "#?/"]
        let text = RequestTarget.text(
            path: "/p", query: values.enumerated().map { ("k\($0.offset)", $0.element) })
        #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f })
        let target = RequestTarget(text)
        #expect(target.path.decoded == "/p")
        #expect(target.queryItems.map { $0.value?.decoded } == values)
        #expect(RequestTarget.text(path: "/p", query: []) == "/p")
    }
}
