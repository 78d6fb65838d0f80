import PhoneBridge
import Wire

/// Ways in which one text of JSON is made another, each kept small: the rest stays byte for byte.
enum TextVariants {
    typealias Change = @Sendable (Bytes) -> Bytes?

    /// No JSON any more, or no object (J1).
    static let broken: [Change] = [
        { Bytes($0.dropLast()) }, { Bytes($0.prefix($0.count / 2)) },
        { Bytes($0.dropLast()) + Bytes(",}".utf8) }, { Bytes($0.dropFirst()) },
        { Bytes($0.map { $0 == UInt8(ascii: "\"") ? UInt8(ascii: "'") : $0 }) },
        { $0 + Bytes("}".utf8) }, { $0 + $0 }, { Bytes("//\n".utf8) + $0 },
        { [0xef, 0xbb, 0xbf] + $0 }, { Bytes("[".utf8) + $0 + Bytes("]".utf8) },
        { _ in Bytes("null".utf8) }, { _ in Bytes("\"\"".utf8) }, { _ in Bytes("[]".utf8) },
        { _ in Bytes("0".utf8) }, { _ in Bytes("{".utf8) },
        { JSONEdit.adding($0, [], #""x":NaN"#) }, { JSONEdit.adding($0, [], #""x":01"#) },
        { JSONEdit.adding($0, [], "\"x\":\"\u{1}\"") }, { JSONEdit.adding($0, [], #""x":"\x""#) },
        { JSONEdit.adding($0, [], #""x":"\u12""#) }, { JSONEdit.adding($0, [], #""x""#) },
    ]

    /// The member that names the command or event is none (J2).
    static let withoutID: [Change] = [
        { JSONEdit.removing($0, ["id"]) }, { JSONEdit.replacing($0, ["id"], by: "null") },
        { JSONEdit.replacing($0, ["id"], by: "7") }, { JSONEdit.replacing($0, ["id"], by: "\"\"") },
        { JSONEdit.replacing($0, ["id"], by: "[]") },
        { JSONEdit.replacing($0, ["id"], by: "true") },
        { text in
            guard let id = JSONEdit.view(text, ["id"])?.rawBytes else { return nil }
            return JSONEdit.replacing(
                text, ["id"], by: Bytes("[".utf8) + id + Bytes("]".utf8))
        },
    ]

    private static let manyX = String(repeating: "x", count: 65_536)

    /// Ids that are nearly the given one, as JSON with quotes (J3).
    static func nearIDs(_ id: String, _ contract: Contract) -> [String] {
        var near = [
            id.uppercased(), " " + id, id + " ", String(id.dropLast()), id + "0", id + "\u{0}",
            id + "\u{fffd}", id + "\u{200b}", id + "\t", String(id.reversed()),
            "0" + id, id + "/", id + "\u{301}", id + manyX,
        ].filter { !$0.isEmpty && !$0.hasSameScalars(as: id) }.map(JSONEdit.quoted)
        near += contract.reservedIDs.filter { !contract.isHeartbeat($0) }.map(JSONEdit.quoted)
        return near
    }

    /// Further members that nobody knows (J4).
    static let extended: [Change] = [
        { JSONEdit.adding($0, [], #""x_new":1"#) },
        { JSONEdit.adding($0, [], #""x_new":{"a":[1,{"b":null}]}"#, atFront: true) },
        { JSONEdit.adding($0, [], #""":"""#) },
        { JSONEdit.adding($0, ["data"], #""x_new":true"#) },
        { JSONEdit.adding($0, ["payload"], #""x_new":[]"#) },
        { JSONEdit.adding($0, [], "\"x_new\":\"" + String(repeating: "A", count: 2000) + "\"") },
    ]

    /// Names that stand twice, or in another case (J5).
    static let doubled: [Change] = [
        { JSONEdit.adding($0, [], #""id":"other""#) },
        { JSONEdit.adding($0, [], #""id":"other""#, atFront: true) },
        { JSONEdit.renaming($0, ["id"], to: "\"ID\"") },
        { JSONEdit.adding($0, [], #""ID":"other""#) },
        { JSONEdit.renaming($0, ["data"], to: "\"Data\"") },
        { JSONEdit.renaming($0, ["payload"], to: "\"Payload\"") },
        { JSONEdit.adding($0, [], #""type":"clipboard_read""#) },
        { JSONEdit.adding($0, ["payload"], #""title":"twice""#) },
    ]

    /// The same value in another spelling (J20).
    static let respelt: [Change] = [
        { text in
            guard let id = JSONEdit.view(text, ["id"])?.string, !id.contains("$(") else {
                return nil
            }
            return JSONEdit.replacing(text, ["id"], by: JSONEdit.escaped(id))
        },
        { JSONEdit.renaming($0, ["id"], to: JSONEdit.escaped("id")) },
        { Bytes(" \t\r\n".utf8) + $0 + Bytes(" \n".utf8) },
        { spaced($0) },
        { JSONEdit.renaming($0, ["type"], to: #""\u0074ype""#) },
        { JSONEdit.renaming($0, ["data"], to: #""dat\u0061""#) },
        { JSONEdit.renaming($0, ["payload"], to: #""payl\u006fad""#) },
        { moved($0) },
    ]

    /// Values that a reader may stumble over by their size (J15).
    static let huge: [Change] = [
        { JSONEdit.adding($0, [], nested(100)) }, { JSONEdit.adding($0, [], nested(10_000)) },
        { JSONEdit.adding($0, [], nested(100_000)) },
        { JSONEdit.adding($0, [], "\"x\":{" + keys(10_000) + "}") },
        { JSONEdit.adding($0, [], "\"x\":1" + String(repeating: "0", count: 10_000)) },
        { JSONEdit.adding($0, [], "\"x\":1e" + String(repeating: "9", count: 400)) },
    ]

    /// Texts that are hard to carry, as JSON with quotes (J12).
    static let hardTexts: [String] = [
        "\"😀👨‍👩‍👧\"", "\"e\u{301}\"", "\"\u{e9}\"", "\"שלום\u{202e}abc\"", #""a\r\nb""#,
        #""\u0000""#, #""\"\\\/""#, "\"\u{2028}\u{2029}<>&\"", "\"  x  \"", "\"\u{feff}x\"",
        #""\ud83d\ude00""#, "\"" + String(repeating: "中", count: 2700) + "\"",
    ]

    private static func nested(_ depth: Int) -> String {
        "\"x\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    private static func keys(_ count: Int) -> String {
        (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",")
    }

    /// White space around everything that stands between two values.
    private static func spaced(_ text: Bytes) -> Bytes? {
        guard let view = JSONEdit.view(text, []), view.kind == .object else { return nil }
        var result = Bytes("{ \n".utf8)
        for (index, member) in view.members.enumerated() {
            if index > 0 { result += Bytes(" ,\t".utf8) }
            result += member.name.rawBytes + Bytes(" : ".utf8) + member.value.rawBytes
        }
        return result + Bytes(" }".utf8)
    }

    /// The members in another order.
    private static func moved(_ text: Bytes) -> Bytes? {
        guard let view = JSONEdit.view(text, []), view.members.count > 1 else { return nil }
        var result = Bytes("{".utf8)
        for (index, member) in view.members.reversed().enumerated() {
            if index > 0 { result.append(UInt8(ascii: ",")) }
            result += member.name.rawBytes + Bytes(":".utf8) + member.value.rawBytes
        }
        return result + Bytes("}".utf8)
    }
}
