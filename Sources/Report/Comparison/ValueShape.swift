/// What texts of one kind have in common, such as `ios_notification_[0-9]+`.
struct ValueShape: Equatable {
    /// A regular expression that all of them match.
    let pattern: String
    /// Whether digits are a part of it.
    let hasDigits: Bool

    /// Texts of more bytes have no shape.
    private static let maximumText = 256

    /// The shape of some texts; nil where they have none but being texts.
    ///
    /// Letters that are the same in all of them stand in it; digits never do.
    init?(_ texts: [String]) {
        guard let first = texts.first,
            texts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= Self.maximumText })
        else { return nil }
        hasDigits = texts.contains { $0.contains { $0.isNumber } }
        if texts.allSatisfy(Self.isUUID) {
            pattern = "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
            return
        }
        let runs = texts.map(Self.runs)
        let kinds = Self.runs(first).map(\.kind)
        if kinds.count <= 8, runs.allSatisfy({ $0.map(\.kind) == kinds }),
            let pattern = Self.pattern(runs)
        {
            self.pattern = pattern
        } else if texts.allSatisfy({ $0.utf8.allSatisfy(Self.isHex) }) {
            let lengths = Set(texts.map(\.utf8.count))
            pattern = "[0-9A-Fa-f]" + (lengths.count == 1 ? "{\(first.utf8.count)}" : "+")
        } else if texts.allSatisfy({ $0.utf8.allSatisfy(Self.isToken) }) {
            pattern = "[A-Za-z0-9_.:/+=-]+"
        } else {
            return nil
        }
    }

    private enum Kind: Equatable {
        case letters
        case digits
        /// A character that stands between them.
        case mark(UInt8)
    }

    /// Parts of one kind.
    private static func runs(_ text: String) -> [(kind: Kind, text: String)] {
        var runs: [(kind: Kind, text: String)] = []
        for byte in text.utf8 {
            let kind: Kind =
                switch byte {
                case 0x30...0x39: .digits
                case 0x41...0x5a, 0x61...0x7a: .letters
                default: .mark(byte)
                }
            let character = String(UnicodeScalar(byte))
            if let last = runs.last, last.kind == kind, kind == .letters || kind == .digits {
                runs[runs.count - 1].text += character
            } else {
                runs.append((kind, character))
            }
        }
        return runs
    }

    /// What stands for texts with the same runs; nil where a mark is none of a name.
    private static func pattern(_ texts: [[(kind: Kind, text: String)]]) -> String? {
        var pattern = ""
        for index in texts.first?.indices ?? 0..<0 {
            let run = texts[0][index]
            switch run.kind {
            case .digits: pattern += "[0-9]+"
            case .letters:
                pattern +=
                    texts.allSatisfy { $0[index].text == run.text } ? run.text : "[A-Za-z]+"
            case .mark(let byte):
                guard isToken(byte) else { return nil }
                let needsEscape = byte == UInt8(ascii: ".") || byte == UInt8(ascii: "+")
                pattern += (needsEscape ? "\\" : "") + run.text
            }
        }
        return pattern
    }

    private static func isUUID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && parts.allSatisfy { $0.utf8.allSatisfy(isHex) }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    /// A character that ids are made of.
    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        case UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "/"),
            UInt8(ascii: "+"), UInt8(ascii: "="), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
