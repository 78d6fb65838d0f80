import Testing
import Wire

@Suite struct FNVHashTests {
    /// From the test vectors that the algorithm's authors publish.
    @Test(arguments: [
        ("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8"),
    ])
    func `a text has the value that was published for it`(text: String, value: String) {
        var hash = FNVHash()
        hash.combine(text)
        #expect(hash.text == value)
    }

    @Test func `a number is its eight bytes, the lowest first`() {
        var number = FNVHash()
        number.combine(0x0102_0304_0506_0708 as Int64)
        var bytes = FNVHash()
        for byte: UInt8 in [8, 7, 6, 5, 4, 3, 2, 1] { bytes.combine(byte) }
        #expect(number.text == bytes.text)
    }
}
