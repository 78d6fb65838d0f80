import PhoneBridge
import Testing

@Suite struct PhoneStateWordTests {
    @Test func `every word is read as it is written`() {
        for word in PhoneStateWord.all {
            #expect(PhoneStateWord(parsing: word.text) == word)
            #expect(PhoneStateWord(parsing: "  \(word)\r\n") == word)
        }
        #expect(Set(PhoneStateWord.all.map(\.text)).count == PhoneStateWord.all.count)
    }

    @Test func `the words are those of the documentation`() {
        #expect(
            PhoneStateWord.all.map(\.text) == [
                "active", "inactive", "background pip", "background fgs", "background ble",
                "background suspended", "calendar=granted", "calendar=denied", "calendar=pending",
                "contacts=granted", "contacts=denied", "contacts=pending",
                "notifications=granted", "notifications=denied", "notifications=pending",
                "disconnect",
            ])
    }

    @Test func `white space within a word is one space`() {
        #expect(PhoneStateWord(parsing: "background \t pip") == .background(.pip))
    }

    @Test(arguments: [
        "", " ", "Active", "background", "background PiP", "backgroundpip", "active\nactive",
        "calendar = granted", "calendar=", "clipboard=granted", "active;", "background pip fgs",
    ])
    func `what is no word is none`(text: String) {
        #expect(PhoneStateWord(parsing: text) == nil)
    }

    @Test(arguments: [
        (PollState(platform: "ios", appState: "active"), "active", "active"),
        (PollState(platform: "ios", appState: "Inactive"), "inactive", "inactive"),
        (
            PollState(platform: "ios", appState: "background", pipEnabled: true),
            "background pip", "background pip"
        ),
        (
            PollState(platform: "ios", appState: "background", pipEnabled: false),
            "background suspended", "background ble"
        ),
        (
            PollState(platform: "iOS", appState: "BACKGROUND", fgsEnabled: true),
            "background suspended", "background ble"
        ),
        (
            PollState(platform: "android", appState: "background", fgsEnabled: true),
            "background fgs", "background fgs"
        ),
        (
            PollState(platform: "Android", appState: "background", pipEnabled: true),
            "background suspended", "background suspended"
        ),
        (PollState(platform: "android", appState: "active", fgsEnabled: false), "active", "active"),
    ])
    func `what a phone reported becomes a word`(
        state: PollState, byEvent: String, byPoll: String
    ) {
        #expect(PhoneStateWord(state, reportedBy: .event)?.text == byEvent)
        #expect(PhoneStateWord(state, reportedBy: .poll)?.text == byPoll)
    }

    @Test(arguments: [nil, "", "gone"])
    func `a phone that names no known state gives no word`(appState: String?) {
        let state = PollState(platform: "ios", appState: appState, pipEnabled: true)
        #expect(PhoneStateWord(state, reportedBy: .poll) == nil)
    }
}
