import Testing
import Wire

@Suite struct Base64Tests {
    /// RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `the examples of the RFC hold both ways`(text: String, encoded: String) throws {
        var output = Bytes()
        appendBase64(Bytes(text.utf8).span, to: &output)
        #expect(output == Bytes(encoded.utf8))
        var decoded = Bytes()
        try decodeBase64(output.span, into: &decoded)
        #expect(decoded == Bytes(text.utf8))
    }

    @Test func `bytes of any length come back`() throws {
        var source = SplitMix(state: 4)
        for length in 0..<300 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &source) }
            var encoded: Bytes = [1]
            appendBase64(bytes.span, to: &encoded)
            var decoded: Bytes = [2]
            try decodeBase64(encoded.span.extracting(1..<encoded.count), into: &decoded)
            #expect(decoded == [2] + bytes)
        }
    }

    @Test(arguments: [
        ("Zg", Base64Error.incomplete(count: 2)),
        ("Zg=", .invalidCharacter(UInt8(ascii: "="), at: 2)),
        ("Zm9vY", .incomplete(count: 5)),
        ("Z===", .invalidCharacter(UInt8(ascii: "="), at: 1)),
        ("====", .invalidCharacter(UInt8(ascii: "="), at: 0)),
        ("Zh==", .trailingBits(at: 1)),
        ("Zm9=", .trailingBits(at: 2)),
        ("Zm9v\n", .invalidCharacter(0x0a, at: 4)),
        ("Zm-v", .invalidCharacter(UInt8(ascii: "-"), at: 2)),
        ("Zg==Zg==", .invalidCharacter(UInt8(ascii: "="), at: 2)),
        ("Zm9vZ!==", .invalidCharacter(UInt8(ascii: "!"), at: 5)),
    ])
    func `anything but strict base64 is refused with its place`(
        text: String, error: Base64Error
    ) {
        #expect(throws: error) {
            var output = Bytes()
            try decodeBase64(Bytes(text.utf8).span, into: &output)
        }
    }
}
