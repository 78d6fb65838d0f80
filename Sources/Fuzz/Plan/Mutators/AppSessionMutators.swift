import Capture
import Network
import PhoneBridge
import Simulator
import Wire

extension Mutator {
    /// Rows C, as the board: what an app has to make of order, time and ends of connections.
    static let appSessionMutators: [Mutator] = [
        Mutator(
            "C1", .sure, as: .board, summary: "a command that comes again", variants: 5,
            weight: 14
        ) { editor, variant, choices in
            guard let type = editor.pickCreator(&choices), let born = type.bornID else {
                return false
            }
            let place = editor.quietPlace(&choices)
            let name = editor.name("c")
            let command = editor.values.command(
                type, id: name, number: editor.number(), timeout: 5000, &choices
            ).encoded
            let send: FuzzAction = .command(name, command)
            let wait: FuzzAction = .await(name, 6 * nanosecondsPerSecond)
            var actions: [FuzzAction]
            switch variant {
            case 0: actions = [send, send, wait, .seconds(1)]
            case 1: actions = [send, wait, send, wait, .seconds(1)]
            case 2:
                actions = [send, wait] + editor.comeBack(&choices) + [send, wait, .seconds(1)]
            case 3: actions = [send, wait, .enqueue(name, command), wait, .seconds(7)]
            default: actions = [.enqueue(name, command), wait, send, wait, .seconds(1)]
            }
            actions += editor.read(born, &choices)
            editor.insert(actions, at: place)
            return true
        },
        Mutator(
            "C2", .sure, as: .board, summary: "the same under a new id", variants: 2, weight: 8
        ) { editor, variant, choices in
            guard let type = editor.pickCreator(&choices), let born = type.bornID else {
                return false
            }
            let place = editor.quietPlace(&choices)
            let first = editor.name("c")
            let second = editor.name("c")
            let command = editor.values.command(
                type, id: first, number: editor.number(), timeout: 5000, &choices
            ).encoded
            guard let other = JSONEdit.replacing(command, ["id"], by: JSONEdit.quoted(second))
            else { return false }
            var actions: [FuzzAction] =
                variant == 0
                ? [
                    .command(first, command), .await(first, 6 * nanosecondsPerSecond),
                    .command(second, other), .await(second, 6 * nanosecondsPerSecond),
                ]
                : [
                    .command(first, command), .command(second, other),
                    .await(first, 6 * nanosecondsPerSecond),
                    .await(second, 6 * nanosecondsPerSecond),
                ]
            actions += editor.read(born, &choices)
            editor.insert(actions, at: place)
            return true
        },
        Mutator(
            "C3", .likely, as: .board, summary: "an id that comes again with another payload",
            weight: 3
        ) { editor, _, choices in
            guard let type = editor.pickCreator(&choices), let born = type.bornID else {
                return false
            }
            let place = editor.quietPlace(&choices)
            let name = editor.name("c")
            var actions: [FuzzAction] = []
            for _ in 0..<2 {
                actions += [
                    .command(
                        name,
                        editor.values.command(
                            type, id: name, number: editor.number(), timeout: 5000, &choices
                        ).encoded), .await(name, 6 * nanosecondsPerSecond),
                ]
            }
            actions += editor.read(born, &choices)
            editor.insert(actions, at: place)
            return true
        },
        Mutator(
            "C4", .sure, as: .board, summary: "commands at once", variants: 3, weight: 8
        ) { editor, variant, choices in
            let place = editor.quietPlace(&choices)
            let link = editor.openLink(at: place)
            let types = choices.shuffled(editor.contract.commands.filter { $0.usedID == nil })
            var actions: [FuzzAction] = variant == 1 ? [.cork(link)] : []
            var waits: [FuzzAction] = []
            for type in types.prefix(2 + variant) {
                let name = editor.name("c")
                actions.append(
                    .command(
                        name,
                        editor.values.command(
                            type, id: name, number: editor.number(), timeout: 5000, &choices
                        ).encoded))
                waits.append(.await(name, 6 * nanosecondsPerSecond))
            }
            if variant == 1 { actions.append(.uncork(link)) }
            editor.insert(actions + waits, at: place)
            return true
        },
        Mutator(
            "C7", .likely, as: .board, summary: "a result that is lost, and the command again",
            variants: 3, weight: 4
        ) { editor, variant, choices in
            guard let type = editor.pickCreator(&choices), let born = type.bornID else {
                return false
            }
            let place = editor.quietPlace(&choices)
            let name = editor.name("q")
            let command = editor.values.command(
                type, id: name, number: editor.number(), timeout: 30_000, &choices
            ).encoded
            let serving: FuzzServing = [.reset, .status(500), .fin][variant]
            var actions: [FuzzAction] = [
                .serve(.results, serving), .enqueue(name, command),
                .await(name, 12 * nanosecondsPerSecond), .seconds(choices.number(in: 1...12)),
                .heal, .enqueue(name, command), .await(name, 12 * nanosecondsPerSecond),
                .seconds(7),
            ]
            actions += editor.read(born, &choices)
            editor.insert(actions, at: place)
            return true
        },
        Mutator(
            "C10", .likely, as: .board, summary: "a command that takes its time", weight: 8
        ) { editor, _, choices in
            guard let (permission, type) = editor.pickPermission(&choices) else { return false }
            let place = editor.quietPlace(&choices)
            let name = editor.name("c")
            let command = editor.values.command(
                type, id: name, number: editor.number(), used: "thing", timeout: 60_000, &choices
            ).encoded
            editor.insert(
                [
                    .state(PhoneStateWord.permission(permission, .pending).text),
                    .command(name, command), .seconds(choices.number(in: 20...45)),
                    .state(PhoneStateWord.permission(permission, .granted).text),
                    .await(name, 5 * nanosecondsPerSecond),
                ], at: place)
            return true
        },
        Mutator(
            "C11", .likely, as: .board, summary: "heartbeats that are not echoed in order",
            variants: 4, weight: 4
        ) { editor, variant, choices in
            let place = editor.quietPlace(&choices)
            let serving: FuzzServing = [
                .hang, .delay(Int64(choices.number(in: 2...12)) * nanosecondsPerSecond), .otherID,
                .body(Bytes("{}".utf8)),
            ][variant]
            editor.insert(
                FuzzAction.outage(of: .echoes, serving, seconds: choices.number(in: 20...60))
                    + [.accept(editor.name("l"), 30 * nanosecondsPerSecond), .seconds(1)],
                at: place)
            return true
        },
        Mutator(
            "C12", .sure, as: .board, summary: "connections that are refused for a while",
            variants: 6, weight: 12
        ) { editor, variant, choices in
            let place = editor.quietPlace(&choices)
            let serving: FuzzServing = [
                .status(503), .reset, .fin, .status(404), .redirect, .hang,
            ][variant]
            let link = editor.openLink(at: place)
            // Long enough that one who gives up after ten attempts has done so.
            let seconds = choices.pick([75, 12, 30]) ?? 75
            editor.insert(
                [
                    .serve(.connections, serving), .reset(link),
                    .seconds(variant == 5 ? seconds * 3 : seconds), .heal,
                    .accept(editor.name("l"), 30 * nanosecondsPerSecond), .seconds(1),
                ], at: place)
            return true
        },
        Mutator(
            "C12", .sure, as: .board, summary: "the connection ends, again and again",
            variants: 8, weight: 8
        ) { editor, variant, choices in
            let place = editor.quietPlace(&choices)
            let codes: [UInt16?] = [1000, 1001, 1011, 1012, 1013, nil, 4000, 1008]
            var actions: [FuzzAction] = []
            var link = editor.openLink(at: place)
            for _ in 0..<choices.number(in: 1...12) {
                actions.append(
                    choices.oneIn(4)
                        ? .reset(link)
                        : .close(link, code: codes[variant], reason: []))
                link = editor.name("l")
                actions += [.accept(link, 15 * nanosecondsPerSecond), .milliseconds(500)]
            }
            editor.insert(actions, at: place)
            return true
        },
        Mutator(
            "C19", .sure, as: .board, summary: "a prompt that is answered too late", variants: 2,
            weight: 12
        ) { editor, variant, choices in
            guard let (permission, type) = editor.pickPermission(&choices) else { return false }
            let place = editor.quietPlace(&choices)
            let first = editor.name("c")
            var actions: [FuzzAction] = [
                .state(PhoneStateWord.permission(permission, .pending).text),
                .command(
                    first,
                    editor.values.command(
                        type, id: first, number: editor.number(), used: "thing", timeout: 3000,
                        &choices
                    ).encoded), .seconds(choices.number(in: 4...20)),
            ]
            if variant == 0 {
                actions += [
                    .state(PhoneStateWord.permission(permission, .granted).text), .seconds(1),
                ]
            }
            for _ in 0..<2 {
                let types = editor.contract.commands.filter {
                    $0.usedID == nil && (variant == 0 || $0.permission != permission)
                }
                guard let next = choices.pick(types) else { continue }
                let name = editor.name("c")
                actions += [
                    .command(
                        name,
                        editor.values.command(
                            next, id: name, number: editor.number(), timeout: 5000, &choices
                        ).encoded), .await(name, 6 * nanosecondsPerSecond),
                ]
            }
            if variant == 1 {
                actions += [
                    .state(PhoneStateWord.permission(permission, .granted).text), .seconds(1),
                ]
            }
            editor.insert(actions, at: place)
            return true
        },
        Mutator(
            "C19", .sure, as: .board, summary: "a permission that is denied", weight: 2
        ) { editor, _, choices in
            guard let (permission, type) = editor.pickPermission(&choices) else { return false }
            let place = editor.quietPlace(&choices)
            let name = editor.name("c")
            editor.insert(
                [
                    .state(PhoneStateWord.permission(permission, .denied).text),
                    .command(
                        name,
                        editor.values.command(
                            type, id: name, number: editor.number(), used: "thing", timeout: 5000,
                            &choices
                        ).encoded), .await(name, 6 * nanosecondsPerSecond),
                    .state(PhoneStateWord.permission(permission, .granted).text),
                ], at: place)
            return true
        },
        Mutator("C20", .weak, as: .board, summary: "many ends of the connection") {
            editor, _, choices in
            let place = editor.quietPlace(&choices)
            var link = editor.openLink(at: place)
            var actions: [FuzzAction] = []
            for _ in 0..<choices.number(in: 10...30) {
                actions.append(choices.oneIn(2) ? .fin(link) : .reset(link))
                link = editor.name("l")
                actions.append(.accept(link, 15 * nanosecondsPerSecond))
            }
            editor.insert(actions + [.milliseconds(500)], at: place)
            return true
        },
    ]
}

extension ScriptEditor {
    /// A type that creates something which can be read again, more often than another that creates.
    func pickCreator(_ choices: inout Choices) -> Contract.CommandType? {
        let creators = contract.commands.filter { $0.bornID != nil }
        let read = creators.filter { $0.bornID.flatMap(contract.reader) != nil }
        return choices.pick(read + read + creators)
    }

    /// A permission and a type that needs it.
    func pickPermission(
        _ choices: inout Choices
    ) -> (Contract.Permission, Contract.CommandType)? {
        guard let type = choices.pick(contract.commands.filter { $0.permission != nil }),
            let permission = type.permission
        else { return nil }
        return (permission, type)
    }

    /// The connection ends and the app comes back.
    mutating func comeBack(_ choices: inout Choices) -> [FuzzAction] {
        guard let link = lastLink else { return [] }
        let end: FuzzAction =
            choices.oneIn(2) ? .reset(link) : .close(link, code: 1001, reason: [])
        return [end, .accept(name("l"), 15 * nanosecondsPerSecond), .milliseconds(500)]
    }

    /// Things of that kind are read.
    mutating func read(_ born: String, _ choices: inout Choices) -> [FuzzAction] {
        guard let reader = contract.reader(of: born) else { return [] }
        let name = self.name("c")
        return [
            .command(
                name,
                values.command(
                    reader, id: name, number: number(), timeout: 5000, richness: 0, &choices
                ).encoded), .await(name, 6 * nanosecondsPerSecond),
        ]
    }
}
