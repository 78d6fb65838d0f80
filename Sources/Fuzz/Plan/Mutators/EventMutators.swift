import Capture
import Network
import PhoneBridge
import Wire

extension Mutator {
    /// Rows J16, J17 and J21, as the app: heartbeats and events.
    static let eventMutators: [Mutator] = [
        Mutator(
            "J16", .likely, as: .app, summary: "an environment of confused types",
            excludes: [.withoutLink], variants: 8, weight: 8
        ) { editor, variant, choices in
            guard editor.hasLink, let event = editor.values.environment else { return false }
            let place = editor.quietPlace(&choices)
            let text = editor.values.event(
                event, number: editor.number(), richness: 4, &choices
            ).encoded
            guard let field = choices.pick(JSONEdit.names(text, ["data"])),
                let changed = JSONEdit.replacing(
                    text, variant < 7 ? ["data", field] : ["data"], by: confused[variant])
            else { return false }
            // Three heartbeats have their time.
            editor.insert(
                [.text(editor.link, changed), .seconds(17), .get("status")], at: place)
            return true
        },
        Mutator(
            "J16", .likely, as: .app, summary: "a state that nobody knows, or none",
            excludes: [.withoutLink], variants: 7, weight: 3
        ) { editor, variant, choices in
            guard editor.hasLink, let event = editor.values.appState else { return false }
            let place = editor.quietPlace(&choices)
            let text = Conversation.report("active", pip: false, event, editor.contract).encoded
            let state = [
                "\"asleep\"", "\"\"", "null", "7", "\"ACTIVE\"", "[]", "\"active \"",
            ][variant]
            guard
                let changed = JSONEdit.replacing(
                    text, ["data", editor.contract.poll.appState], by: state)
            else { return false }
            editor.insert(
                [.text(editor.link, changed), .seconds(17), .get("status")], at: place)
            return true
        },
        Mutator(
            "J17", .likely, as: .app, summary: "a phone whose clock is wrong",
            excludes: [.withoutLink], variants: 8, weight: 8
        ) { editor, variant, choices in
            guard editor.hasLink,
                let event = variant % 2 == 0 ? editor.values.appState : editor.values.environment,
                let field = event.data.first(where: \.isMoment)
            else { return false }
            let place = editor.quietPlace(&choices)
            let time = [
                "2001-01-01T00:00:00Z", "2099-12-31T23:59:59Z", "yesterday",
                "0000-00-00T00:00:00Z",
            ][variant / 2]
            let text =
                variant % 2 == 0
                ? Conversation.report("active", pip: false, event, editor.contract).encoded
                : editor.values.event(event, number: editor.number(), &choices).encoded
            guard
                let changed = JSONEdit.adding(
                    text, ["data"], "\(JSONEdit.quoted(field.name)):\(JSONEdit.quoted(time))")
            else { return false }
            editor.insert(
                [
                    .text(editor.link, changed), .milliseconds(500), .get("status"),
                    .seconds(choices.pick([1, 20, 70]) ?? 1), .get("status"),
                ], at: place)
            return true
        },
        Mutator(
            "J21", .likely, as: .app, summary: "heartbeats that are broken",
            excludes: [.withoutLink], variants: TextVariants.broken.count + oddBeats.count
        ) { editor, variant, choices in
            guard editor.hasLink else { return false }
            let place = editor.quietPlace(&choices)
            let beat = Bytes(#"{"id":"heartbeat"}"#.utf8)
            let text =
                variant < TextVariants.broken.count
                ? TextVariants.broken[variant](beat)
                : Bytes(oddBeats[variant - TextVariants.broken.count].utf8)
            guard let text else { return false }
            editor.insert([.text(editor.link, text), .seconds(17)], at: place)
            return true
        },
        Mutator(
            "J21", .likely, as: .app, summary: "events that are broken",
            excludes: [.withoutLink],
            variants: TextVariants.broken.count + TextVariants.withoutID.count
        ) { editor, variant, choices in
            guard editor.hasLink,
                let event = choices.oneIn(2) ? editor.values.appState : editor.values.environment
            else { return false }
            let place = editor.quietPlace(&choices)
            let text = editor.values.event(event, number: editor.number(), &choices).encoded
            let all = TextVariants.broken + TextVariants.withoutID
            // Its name stands in `method` as well.
            let bare =
                variant < TextVariants.broken.count
                ? text : JSONEdit.removing(text, ["method"]) ?? text
            guard let changed = all[variant](bare) else { return false }
            editor.insert(
                [.text(editor.link, changed), .seconds(17), .get("status")], at: place)
            return true
        },
    ]

    private static let confused = [
        "7", "\"seven\"", "null", "[]", "{}", "true", "1e400", "[1,2]",
    ]

    private static let oddBeats = [
        #"{"id":"Heartbeat"}"#, #"{"id":" heartbeat"}"#, #"{"id":"heartbeat","method":7}"#,
        #"{"id":"heartbeat","data":{"x":1}}"#, #"{"id":"heartbeat","error":{}}"#,
        #"{"id":"heartbeat","error":null}"#, #"{"method":"heartbeat"}"#,
        #"{"id":"heartbeat","id":"ping"}"#, #"{"id":"heart","method":"ping"}"#,
    ]
}
