import Testing
import Wire

@Suite struct HexTests {
    @Test func `every byte comes back`() {
        let bytes = Bytes(0...255)
        var text = Bytes()
        appendHex(bytes.span, to: &text)
        #expect(text.prefix(6) == Bytes("000102".utf8)[...])
        #expect(decoded(text) == bytes)
    }

    @Test func `only whole pairs of digits are decoded`() {
        #expect(decoded(Bytes("aFB0".utf8)) == [0xaf, 0xb0])
        #expect(decoded(Bytes("".utf8)) == [])
        for text in ["a", "0g", "0x", " 00", "00 "] {
            #expect(decoded(Bytes(text.utf8)) == nil, "\(text)")
        }
    }
}

private func decoded(_ text: Bytes) -> Bytes? { decodeHex(text.span) }
