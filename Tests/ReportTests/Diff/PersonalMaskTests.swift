import PhoneBridge
import Report
import Testing
import Wire

@Suite struct PersonalMaskTests {
    private let mask = PersonalMask()

    private static let values: [(JSON?, Contract.Personal?, String)] = [
        (.string("Zhang San"), .name, "‹name, 9 characters›"), (.string(""), .name, "\"\""),
        (nil, .name, "absent"), (.array(["a", "b"]), .phone, "‹phone, 2 elements›"),
        (.array([]), .phone, "[]"), (.object([.init("a", 1)]), .note, "‹note, 1 member›"),
        (.object([]), .note, "{}"), (.number("5"), .clipboard, "‹clipboard›"),
        (nil, nil, "absent"), (.number("5"), nil, "‹unknown field›"),
        (.string("x"), nil, "‹unknown field, 1 character›"),
        (.string("x"), Contract.Personal.none, "\"x\""),
        (.bool(true), Contract.Personal.none, "true"), (.null, .name, "null"),
    ]

    @Test(arguments: values)
    func `a value shows its kind and size, or itself where it may`(
        _ value: JSON?, _ personal: Contract.Personal?, _ text: String
    ) {
        #expect(mask.text(value, personal) == text)
    }

    @Test func `nothing in a value moves the cursor`() {
        let shown = mask.text(.string("\u{1b}[2J\n"), Contract.Personal.none)
        #expect(!shown.contains("\u{1b}") && !shown.contains("\n"))
    }

    @Test(arguments: [
        ("2026-06-02T15:00:00+08:00", "2026-06-02T08:00:00Z", "‹instant› → 60 min 0 s later"),
        ("2026-06-02T15:00:00+08:00", "2026-06-02T06:59:59Z", "‹instant› → 1.00 s earlier"),
        (
            "2026-06-02T15:00:00+08:00", "2026-06-02T07:00:00Z",
            "‹instant› → the same"
        ),
        (
            "yesterday", "2026-06-02T07:00:00Z",
            "‹instant, 9 characters› → ‹instant, 20 characters›"
        ),
    ])
    func `instants show how far apart they are`(_ first: String, _ second: String, _ text: String) {
        let difference = FieldDifference(
            path: "x", kind: .changed, first: .string(first), second: .string(second),
            personal: .instant)
        #expect(mask.text(difference) == text)
    }
}
