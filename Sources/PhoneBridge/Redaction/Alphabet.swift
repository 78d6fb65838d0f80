/// A letter or digit as its place in an alphabet, so that another one of the same kind can take
/// its place.
struct Symbol: Sendable, Equatable {
    var alphabet: Alphabet
    /// Less than the alphabet's size.
    var value: UInt8
    var isUpper = false

    /// The letter or digit at this place.
    var scalar: Unicode.Scalar {
        Unicode.Scalar(alphabet.scalar(value, isUpper: isUpper)) ?? "x"
    }
}

/// Letters that make words, of one script and two cases, or digits.
enum Alphabet: UInt8, Sendable {
    case latin
    case digits
    /// `a` to `f`, in texts of hexadecimal digits.
    case hexLetters
    /// Digits of a number's first place, which is no zero: `1` to `9`.
    case firstDigits
    /// Letters with accents, of Latin-1.
    case accented
    case cyrillic
    case greek
    case wideDigits
    case wideLatin

    var size: Int {
        switch self {
        case .latin, .wideLatin: 26
        case .digits, .wideDigits: 10
        case .hexLetters: 6
        case .firstDigits: 9
        case .accented: 30
        case .cyrillic: 32
        case .greek: 24
        }
    }

    fileprivate func scalar(_ value: UInt8, isUpper: Bool) -> UInt32 {
        let value = UInt32(value)
        switch self {
        case .latin, .hexLetters: return (isUpper ? 0x41 : 0x61) + value
        case .digits: return 0x30 + value
        case .firstDigits: return 0x31 + value
        // U+00D7 and U+00F7 are signs.
        case .accented: return (isUpper ? 0xc0 : 0xe0) + value + (value >= 0x17 ? 1 : 0)
        case .cyrillic: return (isUpper ? 0x410 : 0x430) + value
        // U+03C2 is a sigma that stands at the end.
        case .greek: return (isUpper ? 0x391 : 0x3b1) + value + (value >= 17 ? 1 : 0)
        case .wideDigits: return 0xff10 + value
        case .wideLatin: return (isUpper ? 0xff21 : 0xff41) + value
        }
    }
}

extension Symbol {
    /// The symbol of a scalar that is part of a word; nil for others.
    init?(_ scalar: Unicode.Scalar) {
        let value = scalar.value
        switch value {
        case 0x30...0x39: self.init(.digits, value - 0x30)
        case 0x41...0x5a: self.init(.latin, value - 0x41, isUpper: true)
        case 0x61...0x7a: self.init(.latin, value - 0x61)
        case 0..<0x80: return nil
        case 0xd7, 0xf7: return nil
        case 0xc0...0xde:
            self.init(.accented, value - 0xc0 - (value > 0xd7 ? 1 : 0), isUpper: true)
        case 0xe0...0xfe: self.init(.accented, value - 0xe0 - (value > 0xf7 ? 1 : 0))
        case 0x391...0x3a1, 0x3a3...0x3a9:
            self.init(.greek, value - 0x391 - (value > 0x3a2 ? 1 : 0), isUpper: true)
        case 0x3b1...0x3c1, 0x3c3...0x3c9:
            self.init(.greek, value - 0x3b1 - (value > 0x3c2 ? 1 : 0))
        case 0x410...0x42f: self.init(.cyrillic, value - 0x410, isUpper: true)
        case 0x430...0x44f: self.init(.cyrillic, value - 0x430)
        case 0xff10...0xff19: self.init(.wideDigits, value - 0xff10)
        case 0xff21...0xff3a: self.init(.wideLatin, value - 0xff21, isUpper: true)
        case 0xff41...0xff5a: self.init(.wideLatin, value - 0xff41)
        default:
            // Rare letters become usual ones: what is equal stays equal, and some more with it.
            let alphabet: Alphabet =
                switch value {
                case ..<0x250: .accented
                case 0x370...0x3ff: .greek
                case 0x400...0x4ff: .cyrillic
                default: .latin
                }
            let place = value % UInt32(alphabet.size)
            switch scalar.properties.generalCategory {
            case .lowercaseLetter: self.init(alphabet, place)
            case .uppercaseLetter, .titlecaseLetter: self.init(alphabet, place, isUpper: true)
            default: return nil
            }
        }
    }

    private init(_ alphabet: Alphabet, _ value: UInt32, isUpper: Bool = false) {
        self.init(
            alphabet: alphabet, value: UInt8(truncatingIfNeeded: value), isUpper: isUpper)
    }
}

/// Characters that are replaced one by one, each by another one of the same block.
struct CharacterBlock: Sendable, Equatable {
    var first: UInt32
    var count: UInt32

    /// The block of a scalar that is a letter or a digit and no part of a word of an `Alphabet`;
    /// nil for signs and marks.
    init?(of scalar: Unicode.Scalar) {
        let value = scalar.value
        if let block = Self.blocks.first(where: { $0.contains(value) }) {
            first = block.lowerBound
            count = block.upperBound - block.lowerBound + 1
            return
        }
        switch scalar.properties.generalCategory {
        case .decimalNumber:
            guard
                let digit = scalar.properties.numericType == .decimal
                    ? scalar.properties.numericValue : nil, (0...9).contains(digit)
            else { return nil }
            first = value - UInt32(digit)
            count = 10
        case .otherLetter, .modifierLetter, .letterNumber, .otherNumber, .lowercaseLetter,
            .uppercaseLetter, .titlecaseLetter:
            // A script that is not in the list: the whole of its half block of letters is
            // not known, so that one stands for all of them.
            first = value & ~0x7f
            count = 0
        default: return nil
        }
    }

    /// The blocks of scripts that people's names are written in, assigned from end to end.
    private static let blocks: [ClosedRange<UInt32>] = [
        0x4e00...0x9fa5, 0x3400...0x4db5, 0x3041...0x3096, 0x30a1...0x30fa, 0xac00...0xd7a3,
        0x0621...0x063a, 0x0641...0x064a, 0x05d0...0x05ea, 0x0905...0x0939, 0x0e01...0x0e2e,
        0x3105...0x312d, 0xff66...0xff9d, 0xf900...0xfa2d, 0x20000...0x2a6d6,
        0x9fa6...0x9fef, 0x2a700...0x2b734, 0x2b740...0x2b81d, 0x2b820...0x2cea1,
    ]
}
