import Capture
import Network
import PhoneBridge
import Simulator
import Wire

extension Mutator {
    /// Rows H7 to H9 and H11: polls, and how they are served.
    static let appHTTPMutators: [Mutator] = [
        Mutator(
            "H7", .sure, as: .app, summary: "a smaller limit, and as many polls as it takes",
            needs: [.manyQueued], variants: 5, weight: 8
        ) { editor, variant, choices in
            let limit = variant + 1
            let polls = editor.places { $0 == .poll }
            let counts = polls.map { editor.queued(before: $0) }
            guard let (poll, count) = zip(polls, counts).max(by: { $0.1 < $1.1 }), count > limit
            else { return false }
            let target = editor.phone.poll(limit: "\(limit)")
            guard editor.replace(poll, by: .get(target)) else { return false }
            let more = (count + limit - 1) / limit - 1
            editor.insert(Array(repeating: .get(target), count: more), at: poll + 1)
            return true
        },
        Mutator(
            "H7", .likely, as: .app, summary: "no limit", needs: [.manyQueued]
        ) { editor, _, choices in
            guard let poll = choices.pick(editor.places { $0 == .poll }) else { return false }
            return editor.replace(poll, by: .get(editor.phone.poll(limit: nil)))
        },
        Mutator(
            "H7", .weak, as: .app, summary: "a limit of another kind", needs: [.manyQueued],
            variants: oddLimits.count
        ) { editor, variant, choices in
            guard let poll = choices.pick(editor.places { $0 == .poll }) else { return false }
            editor.insert([.get(editor.phone.poll(limit: oddLimits[variant]))], at: poll)
            return true
        },
        Mutator(
            "H8", .likely, as: .app, summary: "a phone_id of another kind", needs: [.queue],
            variants: phoneIDs.count
        ) { editor, variant, choices in
            guard let poll = choices.pick(editor.places { $0 == .poll }) else { return false }
            let item = phoneIDs[variant]
            var query = "commands?platform=\(editor.phone.platform.rawValue)"
            if !item.isEmpty { query += "&" + item }
            editor.insert([.get(query + "&app_state=active&limit=10")], at: poll)
            return true
        },
        Mutator(
            "H9", .sure, as: .app, summary: "a poll in a state that the contract names",
            variants: namedStates.count, weight: 8
        ) { editor, variant, choices in
            let state = namedStates[variant]
            return editor.pollInState(state, &choices)
        },
        Mutator(
            "H9", .likely, as: .app, summary: "a poll in any other state",
            variants: otherStates.count, weight: 3
        ) { editor, variant, choices in
            let state = otherStates[variant]
            return editor.pollInState(state, &choices)
        },
        Mutator(
            "H11", .likely, as: .board, summary: "polls that are served badly for a while",
            needs: [.queue], variants: badServings.count, weight: 6
        ) { editor, variant, choices in
            editor.insert(
                FuzzAction.outage(
                    of: .polls, badServings[variant], seconds: choices.number(in: 6...25)),
                at: editor.opened)
            return true
        },
        Mutator(
            "H11", .likely, as: .board, summary: "polls that are served badly in the background",
            variants: badServings.count, weight: 6
        ) { editor, variant, choices in
            let mode: BackgroundMode = editor.phone.platform == .android ? .fgs : .pip
            let type = editor.contract.commands.first {
                $0.effect == .reads && $0.payload.isEmpty
                    && !$0.backgroundRoutes.isDisjoint(with: [.fgs, .pip])
            }
            guard let type else { return false }
            let name = editor.name("q")
            let command = editor.values.command(
                type, id: name, number: 1, timeout: 30_000, &choices
            ).encoded
            editor.insert(
                [.state(PhoneStateWord.background(mode).text), .seconds(3)]
                    + FuzzAction.outage(
                        of: .polls, badServings[variant], seconds: choices.number(in: 5...25))
                    + [
                        .enqueue(name, command), .await(name, 45 * nanosecondsPerSecond),
                        .state(PhoneStateWord.active.text), .seconds(1),
                    ], at: editor.steps.count)
            return true
        },
        Mutator(
            "H11", .sure, as: .board, summary: "an answer to a poll that is cut short",
            needs: [.queue], variants: 4, weight: 3
        ) { editor, variant, choices in
            guard
                let queued = editor.places({ if case .enqueue = $0 { true } else { false } }).first
            else { return false }
            let place = editor.insert([.serve(.polls, .cut([1, 5, 20, 60][variant]))], at: queued)
            editor.insert(
                [.seconds(choices.number(in: 6...12)), .heal], at: place + 1)
            return true
        },
        Mutator(
            "H11", .likely, as: .board, summary: "results that are served badly for a while",
            needs: [.queue], variants: 5, weight: 3
        ) { editor, variant, choices in
            let serving: FuzzServing = [
                .status(500), .reset, .fin, .hang, .delay(8 * nanosecondsPerSecond),
            ][variant]
            guard
                let waits = editor.places({ if case .arrival = $0 { true } else { false } }).last
            else { return false }
            editor.insert([.serve(.results, serving)], at: editor.opened)
            editor.insert([.seconds(choices.number(in: 1...9)), .heal], at: waits + 2)
            return true
        },
    ]

    private static let oddLimits = [
        "0", "-1", "1.0", "ten", "", "51", "99999999999999999999", "%31", "0x2", "2%20",
    ]

    private static let phoneIDs = [
        "", "phone_id=", "phone_id=%20p1", "phone_id=p1%20", "phone_id=P1", "phone_id=p",
        "phone_id=p11", "phone_id=p1&phone_id=p2", "phone_id=p2&phone_id=p1", "phone_id=p1%00",
        "phone_id=" + String(repeating: "p", count: 4000), "Phone_ID=p1", "phone_id=%70%31",
    ]

    private static let badServings: [FuzzServing] = [
        .hang, .status(500), .status(404), .reset, .fin, .redirect,
        .body(Bytes(#"{"commands":null}"#.utf8)), .body(Bytes(#"{"commands":"#.utf8)),
        .body(Bytes("null".utf8)), .delay(8 * nanosecondsPerSecond), .status(503),
        .body(Bytes(#"{"commands":{}}"#.utf8)), .body([]),
    ]

    /// What a poll says of the phone.
    struct PolledState: Sendable {
        var platform: String
        var state: String?
        var pip: Bool?
        var fgs: Bool?
    }

    private static let namedStates: [PolledState] =
        ["background", "inactive"].map {
            PolledState(platform: "ios", state: $0, pip: true, fgs: nil)
        } + [PolledState(platform: "android", state: "background", pip: nil, fgs: true)]

    private static let otherStates: [PolledState] = {
        var all: [PolledState] = []
        for platform in ["ios", "android"] {
            for state in [nil, "active", "background", "inactive"] {
                for pip in [nil, true, false] {
                    for fgs in [nil, true, false] {
                        let isNamed =
                            state == "background" && (platform == "ios" ? pip : fgs) == true
                        if !isNamed {
                            all.append(
                                PolledState(platform: platform, state: state, pip: pip, fgs: fgs))
                        }
                    }
                }
            }
        }
        return all
    }()
}

extension ScriptEditor {
    /// How many commands were put into the queue and not polled before a step.
    func queued(before index: Int) -> Int {
        var count = 0
        for (place, role) in roles.enumerated().prefix(index) where steps[place].mark == nil {
            switch role {
            case .enqueue: count += 1
            case .poll: count = 0
            default: break
            }
        }
        return count
    }

    /// Commands for each kind of route wait, a phone in a state polls, and then an active one.
    mutating func pollInState(_ state: Mutator.PolledState, _ choices: inout Choices) -> Bool {
        let place = hasLink ? quietPlace(&choices) : steps.count
        var actions: [FuzzAction] = []
        var seen: Set<Set<Contract.BackgroundRoute>> = []
        for type in choices.shuffled(contract.commands)
        where seen.insert(type.backgroundRoutes).inserted {
            let name = self.name("q")
            let number = self.number()
            actions.append(
                .enqueue(
                    name,
                    forPhone(
                        values.command(
                            type, id: name, number: number, used: "thing-\(number)",
                            timeout: 8000, &choices
                        ).encoded)))
        }
        var other = phone
        other.platform = Platform(rawValue: state.platform) ?? phone.platform
        actions.append(.get(other.poll(state.state, pip: state.pip, fgs: state.fgs, limit: "50")))
        let isAndroid = phone.platform == .android
        actions.append(
            .get(
                phone.poll(
                    "active", pip: isAndroid ? nil : false, fgs: isAndroid ? true : nil,
                    limit: "50")))
        insert(actions, at: place)
        return true
    }
}
