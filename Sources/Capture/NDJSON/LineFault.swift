/// Why a line is not an event of a session file.
package struct LineFault: Error, Sendable, Equatable {
    /// The byte of the line at which it was noticed, counted from 0.
    package var offset: Int
    package var reason: Reason

    package init(offset: Int, reason: Reason) {
        self.offset = offset
        self.reason = reason
    }

    package enum Reason: Sendable, Equatable {
        /// Not JSON: another byte, or the end of the line (nil), stands where `expected` should.
        case unexpected(UInt8?, expected: String)
        /// A byte below 0x20 within a string.
        case controlCharacter(UInt8)
        /// The line, or a string of it by its escapes, is not UTF-8.
        case notUTF8
        /// Values within values, more than `limit` deep.
        case tooDeep(limit: Int)
        /// The field has a value that it cannot have.
        case badValue(field: String, expected: String)
        case missingField(String)
        /// `text` and `base64`, or `pieces`, together.
        case contentTwice
        /// The first line's `format` is another one.
        case otherFormat(String)
        /// The file's version is newer than `supported`.
        case newerVersion(Int, supported: Int)
    }

    /// What is wrong, as the end of a sentence that names file and line.
    package var text: String {
        switch reason {
        case .unexpected(nil, let expected):
            "the line ends where \(expected) should stand"
        case .unexpected(let byte?, let expected):
            "\(Self.describe(byte)) at byte \(offset + 1) where \(expected) should stand"
        case .controlCharacter(let byte):
            "\(Self.describe(byte)) within a string at byte \(offset + 1)"
        case .notUTF8:
            "what stands at byte \(offset + 1) is not UTF-8"
        case .tooDeep(let limit):
            "values within values more than \(limit) deep at byte \(offset + 1)"
        case .badValue(let field, let expected):
            "\"\(field)\" is not \(expected) at byte \(offset + 1)"
        case .missingField(let field):
            "the field \"\(field)\" is missing"
        case .contentTwice:
            "the content is given twice, at byte \(offset + 1) again"
        case .otherFormat(let format):
            "the format is \"\(format)\", not \"bridgetap\""
        case .newerVersion(let version, let supported):
            "the format's version is \(version); this program reads up to \(supported)"
        }
    }

    private static func describe(_ byte: UInt8) -> String {
        switch byte {
        case 0x21...0x7e: "\"\(Character(Unicode.Scalar(byte)))\""
        case 0x20: "a space"
        default: "the byte 0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
