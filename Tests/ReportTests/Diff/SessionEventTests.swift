import Capture
import PhoneBridge
import Report
import Testing
import Wire

/// What the app tells unasked, on one phone and on another.
@Suite struct SessionEventTests {
    private func session(
        _ data: [String], platform: String = "ios", event: String = "phone_environment"
    ) -> SessionSketch {
        DiffProbe.session(platform: platform) { sketch in
            for (index, data) in data.enumerated() {
                sketch.text(
                    Int64(10 + index), 1, .app, #"{"id":"\#(event)","data":\#(data)}"#)
            }
        }
    }

    private func events(
        _ first: SessionSketch, _ second: SessionSketch
    ) throws -> [SessionDiff.EventPair] {
        var diff = try DiffProbe().diff(first, second)
        var pairs: [SessionDiff.EventPair] = []
        while let pair = try diff.nextEvent() { pairs.append(pair) }
        return pairs
    }

    private static let environments: [(String, String, String, [String], Bool)] = [
        (
            #"{"model":"a","battery":{"level":0.5}}"#, #"{"model":"b","battery":{"level":1}}"#,
            "ios",
            ["event.data.model phone", "event.data.battery.level phone"], false
        ),
        (#"{"model":"a"}"#, #"{"model":1}"#, "ios", ["event.data.model changed"], true),
        (#"{"model":"a"}"#, #"{"model":null}"#, "ios", ["event.data.model changed"], true),
        (#"{"model":"a"}"#, "{}", "ios", ["event.data.model removed"], true),
        (#"{"model":"a"}"#, "{}", "android", ["event.data.model phone"], false),
        ("{}", #"{"model":"a"}"#, "ios", ["event.data.model phone"], false),
        (
            #"{"system_apps":[{"name":"a"},{"name":"b"}]}"#, #"{"system_apps":[{"name":"a"}]}"#,
            "ios", ["event.data.system_apps[1].name phone"], false
        ),
        (
            #"{"system_apps":[{"name":"a"}]}"#, "{}", "ios",
            ["event.data.system_apps[0].name removed"], true
        ),
        (
            #"{"captured_at":"2026-06-10T03:20:00Z"}"#, #"{"captured_at":"2026-06-11T03:20:00Z"}"#,
            "ios", ["event.data.captured_at moment"], false
        ),
    ]

    @Test(arguments: environments)
    func `what the environment says is the phone's own, what it lacks is the app's`(
        _ first: String, _ second: String, _ platform: String, _ paths: [String], _ counts: Bool
    ) throws {
        let pair = try #require(
            try events(session([first]), session([second], platform: platform)).first)
        #expect(DiffProbe.paths(pair.differences) == paths)
        #expect(pair.outcome == (counts ? .changed : .same))
    }

    @Test func `what is the phone's own is told in a line`() throws {
        let one = session([#"{"model":"a","brand":"x"}"#])
        let other = session([#"{"model":"b","brand":"y"}"#])
        #expect(
            try DiffProbe().text(one, other).hasPrefix(
                "same           phone_environment 1  (event A 5, B 5)\n"
                    + "    2 values of the phone's own differ\n"))
        #expect(
            try DiffProbe().text(one, other, showsSame: true).contains("(the phone's own)\n"))
    }

    @Test func `another platform passes through other states`() throws {
        let states = ["active", "inactive", "background"].map { #"{"app_state":"\#($0)"}"# }
        let ios = session(states, event: "phone_app_state")
        let android = session(
            [states[0], states[2]], platform: "android", event: "phone_app_state")
        #expect(try events(ios, android).map(\.outcome) == [.same, .skipped, .same])
        #expect(try !DiffProbe().isDifferent(ios, android))
        let same = session([states[0], states[2]], event: "phone_app_state")
        #expect(try events(ios, same).map(\.outcome) == [.same, .missing, .same])
        #expect(try DiffProbe().isDifferent(ios, same))
        let other = session(
            [#"{"app_state":"active","return_entry":"none"}"#], platform: "android",
            event: "phone_app_state")
        let pair = try events(session([states[1]], event: "phone_app_state"), other).first
        #expect(
            DiffProbe.paths(pair?.differences) == [
                "event.data.app_state method", "event.data.return_entry method",
            ])
    }
}
