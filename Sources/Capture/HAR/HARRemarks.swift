/// What of a HAR file is not as it crossed the wire, counted; each is a note of the session.
struct HARRemarks: Equatable {
    var cached = 0
    var otherSchemes = 0
    var untimed = 0
    var otherVersions = 0
    var unpackedBodies = 0
    var missingBodies = 0
    var needlessBodies = 0
    var changedFields = 0
    var addedFields = 0
    var badFields = 0
    var badMethods = 0
    var badBase64 = 0
    var otherOpcodes = 0
    var assumedUpgrades = 0
    var overlapping = 0
    var behindEnd = 0
    var cutValues = 0

    /// A sentence for each that came up.
    var sentences: [String] {
        let all: [(Int, String, String)] = [
            (
                cached, "entry came from the browser's cache and is left out",
                "entries came from the browser's cache and are left out"
            ),
            (
                otherSchemes, "entry of another scheme than http or ws is left out",
                "entries of other schemes than http and ws are left out"
            ),
            (
                untimed, "entry has no time; that of the one before it is taken",
                "entries have no time; that of the ones before them is taken"
            ),
            (
                otherVersions, "entry of HTTP/2 or HTTP/3 is shown as HTTP/1.1",
                "entries of HTTP/2 or HTTP/3 are shown as HTTP/1.1"
            ),
            (
                unpackedBodies, "body was unpacked by the program that wrote the HAR",
                "bodies were unpacked by the program that wrote the HAR"
            ),
            (
                missingBodies, "body is not in the HAR; it is a gap",
                "bodies are not in the HAR; they are gaps"
            ),
            (
                needlessBodies, "body of a response that cannot have one is left out",
                "bodies of responses that cannot have one are left out"
            ),
            (
                changedFields, "field of a head was changed to fit its body",
                "fields of heads were changed to fit their bodies"
            ),
            (
                addedFields, "field that a head must have was added",
                "fields that a head must have were added"
            ),
            (
                badFields, "field without a name that can be one is left out",
                "fields without a name that can be one are left out"
            ),
            (
                badMethods, "method that can be none was taken for GET",
                "methods that can be none were taken for GET"
            ),
            (
                badBase64, "text is not the base64 that it should be, and stands as it is",
                "texts are not the base64 that they should be, and stand as they are"
            ),
            (
                otherOpcodes, "message without an opcode of its own is taken for text",
                "messages without an opcode of their own are taken for text"
            ),
            (
                assumedUpgrades, "WebSocket has no 101 response in the HAR; one was made up",
                "WebSockets have no 101 response in the HAR; they were made up"
            ),
            (
                overlapping, "entry that overlaps another of its connection has one of its own",
                "entries that overlap others of their connection have one of their own"
            ),
            (
                behindEnd, "step behind the end of its connection is left out",
                "steps behind the end of their connections are left out"
            ),
            (
                cutValues, "text of over 1 MiB outside of bodies and messages is cut",
                "texts of over 1 MiB outside of bodies and messages are cut"
            ),
        ]
        return all.filter { $0.0 > 0 }.map { count, one, many in
            count == 1 ? "1 \(one)" : "\(count) \(many)"
        }
    }
}
