import Report
import Testing

@Suite struct HexDumpTests {
    @Test func `a dump has offset, bytes and text`() {
        #expect(
            hexDump(Array(0x1c...0x2e)) == [
                "000000  1c 1d 1e 1f 20 21 22 23  24 25 26 27 28 29 2a 2b  .... !\"#$%&'()*+",
                "000010  2c 2d 2e                                          ,-.",
            ])
        #expect(hexDump([]).isEmpty)
    }

    @Test func `a preview says that there is more`() {
        #expect(hexPreview([1, 2, 3], maximum: 2) == "01 02 …")
        #expect(hexPreview([1, 255], maximum: 2) == "01 ff")
    }
}
