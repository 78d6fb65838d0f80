import PhoneBridge
import Testing
import Wire

@Suite struct RedactionKeyTests {
    @Test func `a key has 32 bytes, and its file 64 digits`() throws {
        #expect(RedactionKey([]) == nil)
        #expect(RedactionKey(Bytes(repeating: 0, count: 31)) == nil)
        let key = try #require(RedactionKey(Bytes(0..<32)))
        #expect(key.text.count == 65)
        #expect(RedactionKey(text: key.text) == key)
        #expect(RedactionKey(text: Bytes("  ".utf8) + key.text + Bytes("\r\n".utf8)) == key)
        #expect(RedactionKey(text: Bytes(key.text.dropFirst(2))) == nil)
        #expect(RedactionKey(text: Bytes("no key".utf8)) == nil)
    }

    @Test func `the name of a key tells keys apart and has nothing of the key in it`() throws {
        let first = try #require(RedactionKey(Bytes(0..<32)))
        let second = try #require(RedactionKey(Bytes(1..<33)))
        #expect(first.id != second.id)
        #expect(first.id.utf8.count == 16)
        #expect(!String(decoding: first.text, as: UTF8.self).contains(first.id))
    }
}
