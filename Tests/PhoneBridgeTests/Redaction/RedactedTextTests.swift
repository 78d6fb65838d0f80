import PhoneBridge
import Testing
import Wire

/// What becomes of texts, seen through the face for lines of logs.
@Suite struct RedactedTextTests {
    private func redactor(_ key: UInt8 = 1) throws -> Redactor {
        Redactor(key: try RedactedWire.key(key))
    }

    @Test(arguments: [
        "Zhang San", "张三", "José Ångström", "Анна Иванова", "O'Brien-Müller", "山田 太郎", "김철수",
        "Room 301, 5. floor", "Αλέξης",
    ])
    func `a name keeps its length, its script, its signs and its large letters`(name: String)
        throws
    {
        let other = try redactor().redacted(text: name)
        #expect(other != name)
        #expect(other.unicodeScalars.count == name.unicodeScalars.count)
        for (old, new) in zip(name.unicodeScalars, other.unicodeScalars) {
            #expect(old.properties.isUppercase == new.properties.isUppercase)
            #expect(old.properties.isAlphabetic == new.properties.isAlphabetic)
            #expect(old.properties.isIdeographic == new.properties.isIdeographic)
            if !old.properties.isAlphabetic, old.properties.numericType == nil {
                #expect(old == new)
            }
        }
        #expect(other.utf8.count == name.utf8.count)
    }

    @Test func `a query for a part of a name still finds it`() throws {
        let redactor = try redactor()
        let whole = redactor.redacted(text: "Zhang San Feng")
        #expect(whole.contains(redactor.redacted(text: "San Feng")))
        #expect(whole.lowercased().contains(redactor.redacted(text: "zhang").lowercased()))
        #expect(redactor.redacted(text: "欧阳娜娜").contains(redactor.redacted(text: "娜娜")))
    }

    @Test func `what differs stays different`() throws {
        let redactor = try redactor()
        var seen: Set<String> = []
        for number in 0..<3000 { seen.insert(redactor.redacted(text: "n\(number)")) }
        for scalar in 0x4e00..<0x4e00 + 3000 {
            guard let scalar = Unicode.Scalar(scalar) else { continue }
            seen.insert(redactor.redacted(text: String(scalar)))
        }
        #expect(seen.count == 6000)
    }

    @Test(arguments: [
        "zhang.san@example.com", "write to li@corp.example.cn, please", "a+b@mail.example.org",
    ])
    func `an e-mail address stays one, at a host that nobody has`(text: String) throws {
        let other = try redactor().redacted(text: text)
        #expect(other != text)
        #expect(other.count { $0 == "@" } == 1)
        let host = other.split(separator: "@")[1].prefix { $0 != "," }
        #expect(host.hasSuffix(".example"))
    }

    @Test func `addresses at two hosts of one name differ`() throws {
        let redactor = try redactor()
        #expect(
            redactor.redacted(text: "wei@example.com")
                != redactor.redacted(text: "wei@example.org"))
    }

    @Test(arguments: [
        "+86 138 1234 5678", "+1 (202) 555-0123", "13812345678", "010-12345678", "+442071234567",
    ])
    func `a phone number keeps its form and its country`(number: String) throws {
        let other = try redactor().redacted(text: number)
        #expect(other != number)
        #expect(
            other.map { $0.isNumber ? "0" : String($0) }
                == number.map { $0.isNumber ? "0" : String($0) })
        if number.hasPrefix("+86") { #expect(other.hasPrefix("+86 1")) }
        if number.hasPrefix("+44") { #expect(other.hasPrefix("+44")) }
        if number.hasPrefix("010") { #expect(other.hasPrefix("0")) }
    }

    @Test func `a phone number is one number however it is written`() throws {
        let redactor = try redactor()
        func digits(_ text: String) -> String {
            String(redactor.redacted(text: text).filter(\.isNumber))
        }
        let plain = digits("13812345678")
        #expect(digits("+86 138 1234 5678") == "86" + plain)
        #expect(digits("tel:+8613812345678") == "86" + plain)
        #expect(digits("0086 138-1234-5678") == "0086" + plain)
        #expect(digits("138 1234 5678 calls") == plain)
    }

    @Test func `a URL keeps its scheme, its structure and the names in its query`() throws {
        let redactor = try redactor()
        let other = redactor.redacted(
            text: "https://zhang:pw@www.example.com:8443/users/san?name=%E5%BC%A0+San&page=2#top")
        let pattern = try Regex(
            #"https://[a-z]{5}:[a-z]{2}@www\.[a-z]{7}\.example:8443/[a-z]{5}/[a-z]{3}\?name=(%[0-9A-F]{2}){3}\+[A-Z][a-z]{2}&page=2#[a-z]{3}"#
        )
        #expect(other.wholeMatch(of: pattern) != nil, "\(other)")
        #expect(!other.contains("example.com"))
        let name = redactor.redacted(text: "张")
        let encoded = name.utf8.map { "%" + String($0, radix: 16, uppercase: true) }.joined()
        #expect(other.contains(encoded))
    }

    @Test func `what stands in a mailto URL is what stands elsewhere`() throws {
        let redactor = try redactor()
        let other = redactor.redacted(
            text: "mailto:zhang.san%40example.com?subject=Hello%20San&body=x")
        let address = redactor.redacted(text: "zhang.san@example.com")
        #expect(
            other.hasPrefix("mailto:" + address.replacing("@", with: "%40") + "?subject="),
            "\(other)")
        #expect(other.contains("%20\(redactor.redacted(text: "San"))&body="))
    }

    @Test func `an instant moves by whole weeks and keeps its form`() throws {
        let redactor = try redactor()
        for text in [
            "2026-06-02T15:00:00+08:00", "2026-06-02T07:00:00Z", "2026-06-02t07:00:00.125z",
        ] {
            let other = redactor.redacted(text: text)
            #expect(other.dropFirst(10) == text.dropFirst(10))
            let old = try #require(Timestamp(text))
            let new = try #require(Timestamp(other))
            #expect((old.seconds - new.seconds) % (7 * 86_400) == 0)
            #expect(old.seconds > new.seconds)
        }
        let day = redactor.redacted(text: "2026-06-02")
        #expect(redactor.redacted(text: "2026-06-02T15:00:00Z").hasPrefix(day))
    }

    @Test func `one key gives one stand-in, another key another one`() throws {
        let text = "Zhang San, 张三, +86 138 1234 5678, zhang@example.com, 2026-06-02"
        let first = try redactor().redacted(text: text)
        #expect(try redactor().redacted(text: text) == first)
        let second = try redactor(2).redacted(text: text)
        for (old, new) in zip(first.split(separator: ","), second.split(separator: ",")) {
            #expect(old != new)
        }
    }

    @Test func `addresses of machines stay, unless a policy says so`() throws {
        let text = "from 192.168.42.129 and 203.0.113.9"
        let other = try redactor().redacted(text: text)
        #expect(other.contains("192.168.42.129") && other.contains("203.0.113.9"))
        let policy = try RedactionPolicy(parsing: Bytes("{version: 1, addresses: true}".utf8))
        let changed = Redactor(key: try RedactedWire.key(), policy: policy).redacted(text: text)
        #expect(changed.contains("192.168.") && !changed.contains("192.168.42.129"))
        #expect(!changed.contains("203.0.113.9"))
    }

    @Test(arguments: [
        "", " ", "@", "a@", "@b", "://", "x://", "tel:", "mailto:", "%", "%4", "%zz", "+", "+1",
        "+++", "2026-13-40", "9999-12-31", "0000-01-01", "....", "1.2.3", "a@b@c", "http://[::1",
        "http://@:", "\u{301}\u{301}", "🎂", "12345678901234567890", "(((((1)))))", "-1-1-1-1-1-1-1",
    ])
    func `odd texts come to no harm`(text: String) throws {
        let redactor = try redactor()
        _ = redactor.redacted(text: text)
        _ = redactor.redacted(text: "x\(text)y \(text) \(text)")
    }

    @Test func `any bytes come to no harm`() throws {
        let redactor = try redactor()
        let alphabet = Array("a1+-@:/.%?&=#[] \"\\张é0T:Z{}()<>".unicodeScalars)
        var state: UInt64 = 1
        for _ in 0..<5000 {
            var text = ""
            for _ in 0..<20 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text.unicodeScalars.append(alphabet[Int(state >> 33) % alphabet.count])
            }
            let other = redactor.redacted(text: text)
            #expect(redactor.redacted(text: text) == other)
        }
    }
}
