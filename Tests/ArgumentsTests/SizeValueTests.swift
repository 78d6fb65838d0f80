import Arguments
import Testing

@Suite struct SizeValueTests {
    @Test(
        arguments: [
            ("64MiB", 67_108_864), ("1.5KiB", 1536), ("4096B", 4096), ("2GB", 2_000_000_000),
            ("1000TiB", 1_099_511_627_776_000),
        ] as [(String, Int64)])
    func `a size is a number with its unit`(text: String, bytes: Int64) throws {
        #expect(try ArgumentValue<ByteCount>.size().parse(text) == ByteCount(bytes: bytes))
    }

    @Test(arguments: [
        ("64", "\"64\" has no unit; write 64MiB, 64KiB or 64B"),
        ("64mib", "\"64mib\" has the unknown unit \"mib\"; did you mean \"MiB\"?"),
        (
            "1Q",
            "\"1Q\" has the unknown unit \"Q\"; known are B, kB, MB, GB, TB, KiB, MiB, GiB, TiB"
        ),
        ("1001TiB", "\"1001TiB\" is too large; 1000TiB is the most"),
        ("999999999999999TiB", "\"999999999999999TiB\" is too large; 1000TiB is the most"),
        ("MiB", "\"MiB\" is not a size; write one like 64MiB"),
    ])
    func `what is no size is refused in one sentence`(text: String, sentence: String) {
        #expect(throws: ValueError(sentence)) {
            try ArgumentValue<ByteCount>.size().parse(text)
        }
    }

    @Test func `a limit is a size or a time by its unit`() throws {
        let limit = ArgumentValue<SizeOrTime>.sizeOrTime()
        #expect(try limit.parse("64MiB") == .size(ByteCount(bytes: 67_108_864)))
        #expect(try limit.parse("10min") == .time(.seconds(600)))
        #expect(throws: ValueError("\"64\" has no unit; write one like 64MiB or 10min")) {
            try limit.parse("64")
        }
        #expect(throws: ValueError("\"1mb\" has the unknown unit \"mb\"; did you mean \"MB\"?")) {
            try limit.parse("1mb")
        }
    }
}
