import Capture
import Network
import PhoneBridge
import Wire

extension Mutator {
    /// Rows J3, J6, J9 to J14, J18 and J19, as the board: commands that an app has to take or
    /// refuse.
    static let commandMutators: [Mutator] = [
        Mutator(
            "J3", .sure, as: .board, summary: "a second command whose id is nearly equal",
            needs: [.command], variants: 12, weight: 3
        ) { editor, variant, choices in
            guard let (place, text) = editor.pickCommand(&choices),
                let id = JSONEdit.view(text, ["id"])?.string
            else { return false }
            let near = TextVariants.nearIDs(id, editor.contract).filter {
                !editor.contract.reservedIDs.map(JSONEdit.quoted).contains($0) && $0.count < 1000
            }
            guard !near.isEmpty,
                let other = JSONEdit.replacing(text, ["id"], by: near[variant % near.count])
            else { return false }
            let name = editor.name("c")
            editor.insert(
                [.command(name, other), .await(name, 8 * nanosecondsPerSecond)],
                at: place + 1 + choices.below(2))
            return true
        },
        Mutator(
            "J6", .sure, as: .board, summary: "a command without timeout_ms", needs: [.command]
        ) { editor, _, choices in
            guard let (place, _) = editor.pickCommand(&choices) else { return false }
            return editor.edit(place) { JSONEdit.removing($0, ["timeout_ms"]) }
        },
        Mutator(
            "J6", .likely, as: .board, summary: "a timeout_ms of another kind",
            needs: [.command], variants: oddTimeouts.count + emptyTimeouts.count
        ) { editor, variant, choices in
            guard let (place, _) = editor.pickCommand(&choices) else { return false }
            return editor.edit(place) {
                JSONEdit.setting(
                    $0, ["timeout_ms"], to: (oddTimeouts + emptyTimeouts)[variant])
            }
        },
        Mutator(
            "J9", .sure, as: .board, summary: "a payload that lacks something", variants: 4,
            weight: 8
        ) { editor, variant, choices in
            editor.sendBadPayload(variant, &choices)
        },
        Mutator("J10", .sure, as: .board, summary: "a thing that is not there", weight: 8) {
            editor, _, choices in
            let types = editor.contract.commands.filter { $0.usedID != nil }
            guard let type = choices.pick(types) else { return false }
            let thing = choices.pick(["nobody", "", "0", " ", "😀", "../1"]) ?? "nobody"
            return editor.sendCommand(
                type, used: thing.isEmpty ? "unknown-thing" : thing, &choices)
        },
        Mutator("J10", .sure, as: .board, summary: "a thing that is gone already", weight: 8) {
            editor, _, choices in
            let types = editor.contract.commands.filter { $0.effect == .deletes }
            guard let type = choices.pick(types), let field = type.usedID,
                let creator = editor.contract.creator(for: type)
            else { return false }
            let place = editor.quietPlace(&choices)
            let thing = editor.name("c")
            var actions: [FuzzAction] = []
            for (name, type) in [
                (thing, creator), (editor.name("c"), type), (editor.name("c"), type),
            ] {
                actions += [
                    .command(
                        name,
                        editor.values.command(
                            type, id: name, number: editor.number(),
                            used: "$(\(thing).\(field))", timeout: 5000, &choices
                        ).encoded), .await(name, 6 * nanosecondsPerSecond),
                ]
            }
            editor.insert(actions, at: place)
            return true
        },
        Mutator(
            "J11", .sure, as: .board, summary: "times in other spellings", variants: 6, weight: 6
        ) { editor, variant, choices in
            let spelling: @Sendable (String, String) -> String = { day, hour in
                switch variant {
                case 0: "\(day)T\(hour):00:00+08:00"
                case 1: "\(day)T\(hour):30:00-05:00"
                case 2: "\(day)T\(hour):00:00.5Z"
                case 3: "\(day)T\(hour):00:00.123456789+05:45"
                case 4: "\(day)T\(hour):00:00+14:00"
                default: "\(day)T\(hour):00:00-00:00"
                }
            }
            return editor.sendTimes(spelling, isGood: true, &choices)
        },
        Mutator(
            "J11", .sure, as: .board, summary: "times without an offset", variants: 2, weight: 3
        ) { editor, variant, choices in
            editor.sendTimes(
                { day, hour in variant == 0 ? "\(day)T\(hour):00:00" : day }, isGood: false,
                &choices)
        },
        Mutator("J11", .likely, as: .board, summary: "times on the edge", variants: 8) {
            editor, variant, choices in
            editor.sendTimes(
                { day, hour in
                    switch variant {
                    case 0: "\(day)t\(hour):00:00z"
                    case 1: "2016-12-31T23:59:60Z"
                    case 2: "\(day)T24:00:00Z"
                    case 3: "\(day) \(hour):00:00Z"
                    case 4: "\(day)T\(hour):00Z"
                    case 5: "2026-02-30T\(hour):00:00Z"
                    case 6: "\(day)T\(hour):00:00+0800"
                    default: "\(day)T\(hour):00:00+24:00"
                    }
                }, isGood: false, &choices)
        },
        Mutator(
            "J12", .sure, as: .board, summary: "texts that are hard to carry",
            variants: TextVariants.hardTexts.count, weight: 3
        ) { editor, variant, choices in
            editor.writeAndRead(TextVariants.hardTexts[variant], &choices)
        },
        Mutator("J12", .likely, as: .board, summary: "long texts", variants: 3) {
            editor, variant, choices in
            let count = [9000, 40_000, 200_000][variant]
            return editor.writeAndRead(JSONEdit.quoted("x", times: count), &choices)
        },
        Mutator("J12", .weak, as: .board, summary: "halves of surrogates", variants: 3) {
            editor, variant, choices in
            editor.writeAndRead(
                [#""\ud800""#, #""a\udc00b""#, #""\udc00\ud800""#][variant], &choices)
        },
        Mutator("J13", .sure, as: .board, summary: "questions to which there is nothing") {
            editor, _, choices in
            let types = editor.contract.commands.filter { $0.effect == .reads }
            guard let type = choices.pick(types) else { return false }
            return editor.sendCommand(type, used: nil, &choices) { text in
                var text = text
                for field in type.payload where !field.isInstant {
                    if case .string = field.type {
                        text =
                            JSONEdit.setting(
                                text, ["payload", field.name], to: "\"nobody at all\"") ?? text
                    }
                }
                var year = 1990
                for field in type.payload where field.isInstant {
                    year += 1
                    text =
                        JSONEdit.replacing(
                            text, ["payload", field.name], by: "\"\(year)-01-01T00:00:00Z\"")
                        ?? text
                }
                return text
            }
        },
        Mutator("J14", .sure, as: .board, summary: "limits of lists", variants: 4) {
            editor, variant, choices in
            editor.sendLimit([nil, "1", "2", "1000"][variant], &choices)
        },
        Mutator("J14", .weak, as: .board, summary: "limits of another kind", variants: 5) {
            editor, variant, choices in
            editor.sendLimit(["0", "-1", "1.5", "\"3\"", "1e20"][variant], &choices)
        },
        Mutator("J18", .likely, as: .board, summary: "a type that nobody knows", variants: 4) {
            editor, variant, choices in
            guard let type = choices.pick(editor.contract.commands) else { return false }
            return editor.sendCommand(type, used: "thing", &choices) {
                JSONEdit.replacing(
                    $0, ["type"],
                    by: [
                        "\"device_reboot\"", JSONEdit.quoted(type.name.uppercased()), "\"\"",
                        "\"__proto__\"",
                    ][variant])
            }
        },
        Mutator("J18", .likely, as: .board, summary: "targets that are not allowed", variants: 8) {
            editor, variant, choices in
            guard let type = editor.contract.commands.first(where: \.needsOneField) else {
                return false
            }
            let urls = [
                "javascript:alert(1)", "file:///etc/passwd", "ftp://example.com/x", "https:",
                "intent://x#Intent;end", "//example.com",
            ]
            return editor.sendCommand(type, used: nil, &choices) { text in
                var text = text
                for field in type.fields { text = JSONEdit.removing(text, [field.name]) ?? text }
                for field in type.fields {
                    switch field.type {
                    case .url:
                        let url = variant < urls.count ? urls[variant] : "https://example.com/"
                        text =
                            JSONEdit.setting(text, [field.name], to: JSONEdit.quoted(url)) ?? text
                    default:
                        guard variant >= urls.count else { continue }
                        text =
                            JSONEdit.setting(
                                text, [field.name], to: variant == urls.count ? "\"Camera\"" : "7")
                            ?? text
                    }
                }
                return text
            }
        },
        // An answer under the name of an event cannot be told from an event: weak.
        Mutator("J19", .weak, as: .board, summary: "a command whose id is reserved", variants: 4) {
            editor, variant, choices in
            let reserved = editor.contract.reservedIDs
            guard let type = choices.pick(editor.contract.commands.filter { $0.effect == .reads }),
                !reserved.isEmpty
            else { return false }
            return editor.sendCommand(type, used: nil, &choices) {
                JSONEdit.replacing(
                    $0, ["id"], by: JSONEdit.quoted(reserved[variant % reserved.count]))
            }
        },
    ]
}

extension ScriptEditor {
    /// A command of the played board with its text.
    func pickCommand(_ choices: inout Choices) -> (place: Int, text: Bytes)? {
        let commands = places { if case .command = $0 { true } else { false } }
        guard let place = choices.pick(commands),
            case .command(_, let text) = steps[place].action
        else { return nil }
        return (place, text)
    }

    /// Sends one more command, changed, and waits for its answer.
    mutating func sendCommand(
        _ type: Contract.CommandType, used: String?, _ choices: inout Choices,
        change: (Bytes) -> Bytes? = { $0 }
    ) -> Bool {
        let place = quietPlace(&choices)
        let name = self.name("c")
        let command = values.command(
            type, id: name, number: number(), used: used, timeout: 5000, &choices
        ).encoded
        guard let changed = change(command) else { return false }
        insert([.command(name, changed), .await(name, 6 * nanosecondsPerSecond)], at: place)
        return true
    }

    /// A required field is missing, empty or of another type, or the payload is.
    mutating func sendBadPayload(_ variant: Int, _ choices: inout Choices) -> Bool {
        let types = contract.commands.filter { $0.payload.contains { $0.isRequired } }
        guard let type = choices.pick(types),
            let field = choices.pick(type.payload.filter(\.isRequired))
        else { return false }
        let path = ["payload", field.name]
        return sendCommand(type, used: "thing", &choices) { text in
            switch variant {
            case 0: return JSONEdit.removing(text, path)
            case 1:
                // An empty text may be written: the contract says nothing against it.
                let value = type.effect == .overwrites ? "null" : "\"\""
                return JSONEdit.replacing(text, path, by: value)
            case 2:
                let isText = JSONEdit.view(text, path)?.kind == .string
                return JSONEdit.replacing(text, path, by: isText ? "7" : "\"seven\"")
            default: return JSONEdit.replacing(text, ["payload"], by: "null")
            }
        }
    }

    /// Something is created at times in a spelling, and read again.
    mutating func sendTimes(
        _ spelling: (String, String) -> String, isGood: Bool, _ choices: inout Choices
    ) -> Bool {
        let types = contract.commands.filter { type in
            type.effect == .creates && type.payload.contains { $0.isInstant && $0.isRequired }
        }
        guard let type = choices.pick(types), let born = type.bornID else { return false }
        let place = quietPlace(&choices)
        let number = self.number()
        let name = self.name("c")
        var text = values.command(type, id: name, number: number, timeout: 5000, &choices).encoded
        let day = "2026-06-" + ContractValues.twoDigits(3 + number % 24)
        var hour = 9
        for field in type.payload where field.isInstant && field.isRequired {
            let time = spelling(day, ContractValues.twoDigits(hour))
            text =
                JSONEdit.replacing(text, ["payload", field.name], by: JSONEdit.quoted(time))
                ?? text
            hour += 1
        }
        var actions: [FuzzAction] = [
            .command(name, text), .await(name, 6 * nanosecondsPerSecond),
        ]
        if let reader = contract.reader(of: born) {
            let other = self.name("c")
            actions += [
                .command(
                    other,
                    values.command(
                        reader, id: other, number: number, timeout: 5000, richness: 0, &choices
                    ).encoded), .await(other, 6 * nanosecondsPerSecond),
            ]
        }
        insert(actions, at: place)
        return true
    }

    /// A text is written and read again.
    mutating func writeAndRead(_ text: String, _ choices: inout Choices) -> Bool {
        guard let writer,
            let reader = contract.commands.first(where: {
                $0.effect == .reads && $0.payload.isEmpty
            })
        else { return false }
        let place = quietPlace(&choices)
        let name = self.name("c")
        let other = self.name("c")
        let command = values.command(writer, id: name, number: number(), timeout: 5000, &choices)
        guard let write = withLongText(command.encoded, text) else { return false }
        insert(
            [
                .command(name, write), .await(name, 6 * nanosecondsPerSecond),
                .command(
                    other,
                    values.command(reader, id: other, number: number(), timeout: 5000, &choices)
                        .encoded), .await(other, 6 * nanosecondsPerSecond),
            ], at: place)
        return true
    }

    /// A list is asked for with a limit; nil for none.
    mutating func sendLimit(_ limit: String?, _ choices: inout Choices) -> Bool {
        guard let type = choices.pick(contract.commands.filter { $0.listLimit != nil }),
            let field = type.listLimit?.field
        else { return false }
        return sendCommand(type, used: nil, &choices) { text in
            guard let limit else { return JSONEdit.removing(text, ["payload", field]) ?? text }
            return JSONEdit.setting(text, ["payload", field], to: limit)
        }
    }
}
