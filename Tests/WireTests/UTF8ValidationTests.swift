import Testing
import Wire

@Suite struct UTF8ValidationTests {
    @Test func `the boundaries of Unicode's table 3-7 hold`() {
        let rows: [(Bytes, Bool)] = [
            ([0x00], true), ([0x7f], true), ([0x80], false), ([0xbf], false),
            ([0xc1, 0xbf], false), ([0xc2, 0x80], true), ([0xdf, 0xbf], true),
            ([0xc2, 0x7f], false), ([0xc2, 0xc0], false),
            ([0xe0, 0x9f, 0xbf], false), ([0xe0, 0xa0, 0x80], true),
            ([0xed, 0x9f, 0xbf], true), ([0xed, 0xa0, 0x80], false), ([0xee, 0x80, 0x80], true),
            ([0xef, 0xbf, 0xbf], true), ([0xe1, 0x80, 0x7f], false), ([0xe1, 0x80, 0xc0], false),
            ([0xf0, 0x8f, 0xbf, 0xbf], false), ([0xf0, 0x90, 0x80, 0x80], true),
            ([0xf4, 0x8f, 0xbf, 0xbf], true), ([0xf4, 0x90, 0x80, 0x80], false),
            ([0xf5, 0x80, 0x80, 0x80], false), ([0xff], false),
            ([0xf1, 0x80, 0x80, 0x7f], false), ([0xf1, 0x80, 0x80], false), ([0xe1, 0x80], false),
        ]
        for (bytes, expected) in rows {
            for padding in [0, 1, 7, 8, 15, 16, 17, 40] {
                let front = Bytes(repeating: UInt8(ascii: "a"), count: padding)
                let text = front + bytes
                #expect(isValid(text) == expected, "\(bytes) behind \(padding)")
                #expect(firstInvalid(text) == (expected ? nil : padding))
                #expect(isValid(text + front) == expected)
            }
        }
    }

    @Test func `it agrees with the standard library on every pair and many longer ones`() {
        var texts: [Bytes] = []
        for first in 0...UInt8.max {
            for second in 0...UInt8.max { texts.append([first, second]) }
        }
        var source = SplitMix(state: 1)
        let pool: Bytes = [0x00, 0x41, 0x7f, 0x80, 0xa0, 0xbf, 0xc2, 0xe0, 0xe4, 0xed, 0xf0, 0xf4]
        for _ in 0..<20_000 {
            texts.append(
                (0..<Int.random(in: 3...12, using: &source)).map { _ in
                    pool.randomElement(using: &source) ?? 0
                })
        }
        let disagreements = texts.filter {
            isValid($0) != (String(validating: $0, as: UTF8.self) != nil)
        }
        #expect(disagreements == [])
    }

    @Test func `a text in parts is judged as the whole is, whatever the parts`() {
        let texts: [Bytes] = [
            Bytes("plain ASCII that is longer than a word".utf8), Bytes("é你😀é你😀".utf8),
            [0xe4, 0xbd], [0x61, 0xed, 0xa0, 0x80], [0xf4, 0x8f, 0xbf, 0xc0],
        ]
        for text in texts {
            for cut in 0...text.count {
                var validator = UTF8Validator()
                let first = validator.feed(text.span.extracting(0..<cut))
                let second = validator.feed(text.span.extracting(cut..<text.count))
                #expect((first && second && validator.isComplete) == isValid(text))
            }
        }
    }

    @Test func `a part fails as soon as nothing can mend it`() {
        var validator = UTF8Validator()
        let bytes: Bytes = [0xf4, 0x90]
        let isFirstFine = validator.feed(bytes.span)
        #expect(!isFirstFine)
        let more: Bytes = [0x41]
        let isSecondFine = validator.feed(more.span)
        #expect(!isSecondFine)
        #expect(!validator.isComplete)
    }
}

// The macros of the tests cannot take a span apart.
private func isValid(_ bytes: Bytes) -> Bool { isValidUTF8(bytes.span) }
private func firstInvalid(_ bytes: Bytes) -> Int? { offsetOfInvalidUTF8(bytes.span) }
