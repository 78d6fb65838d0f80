import Capture
import Network
import PhoneBridge
import Wire

extension Mutator {
    /// Rows J3, J6 to J8, J12, J13 and J19, as the app: what it answers, and under which ids.
    static let answerMutators: [Mutator] = [
        Mutator(
            "J3", .sure, as: .app, summary: "an answer with nearly the right id",
            needs: [.command], variants: 16, weight: 6
        ) { editor, variant, choices in
            guard let place = choices.pick(editor.answers),
                let name = editor.answered(at: place), let command = editor.commands[name],
                let text = editor.steps[place].action.content
            else { return false }
            let near = TextVariants.nearIDs(command.id, editor.contract)
            guard !near.isEmpty,
                let other = JSONEdit.replacing(
                    text, ["id"], by: near[variant % near.count]),
                let wrong = ScriptEditor.failing(other)
            else { return false }
            editor.insert([editor.steps[place].action.with(content: wrong)], at: place)
            return true
        },
        Mutator(
            "J3", .sure, as: .app, summary: "an answer with the beginning of an id",
            needs: [.command], weight: 4
        ) { editor, _, choices in
            guard let place = choices.pick(editor.linkAnswers),
                let name = editor.answered(at: place), let command = editor.commands[name],
                command.id.count > 1
            else { return false }
            let start = command.id.prefix(choices.number(in: 1...command.id.count - 1))
            editor.insert(
                [
                    .text(editor.openLink(at: place), editor.failure(String(start))),
                    .milliseconds(300),
                ], at: place)
            return true
        },
        Mutator(
            "J3", .sure, as: .app, summary: "two commands wait whose ids begin alike",
            excludes: [.withoutLink], variants: 2, weight: 4
        ) { editor, variant, choices in
            guard editor.hasLink else { return false }
            let place = editor.quietPlace(&choices)
            let short = editor.name("x")
            let names = variant == 0 ? [short + "0", short] : [short, short.uppercased()]
            return editor.waitTogether(names, at: place, answering: [1, 0], &choices)
        },
        Mutator(
            "J3", .sure, as: .app, summary: "ids in the queue that are nearly equal",
            needs: [.queue], variants: 14, weight: 6
        ) { editor, variant, choices in
            let queued = editor.places { if case .enqueue = $0 { true } else { false } }
            guard let place = choices.pick(queued),
                case .enqueue(let name, let text) = editor.steps[place].action,
                let command = editor.commands[name]
            else { return false }
            let near = TextVariants.nearIDs(command.id, editor.contract).filter {
                !editor.contract.reservedIDs.contains($0.trimming(UInt8(ascii: "\"")))
            }
            guard !near.isEmpty,
                let other = JSONEdit.replacing(
                    text, ["id"], by: near[variant % near.count])
            else { return false }
            let next = editor.name("q")
            let poll = editor.steps[place...].firstIndex {
                if case .request(let request) = $0.action {
                    request.method == "GET" && request.target.hasPrefix("commands?")
                } else {
                    false
                }
            }
            guard let poll else { return false }
            let failure = editor.failure("$(\(next))")
            editor.insert(
                [.post("results", failure), .get("results/$(\(next))")], at: poll + 1)
            editor.insert([.enqueue(next, other)], at: place + 1)
            return true
        },
        Mutator(
            "J3", .sure, as: .app, summary: "an id that has to be escaped, twice", needs: [.queue],
            variants: 6, weight: 4
        ) { editor, variant, choices in
            let id =
                editor.name("n")
                + ["\"1", "\\1", "\n1", "\u{1}1", "</script>1", "\u{2028}1"][variant]
            let name = editor.name("q")
            let command = JSON.object([
                .init("id", .string(id)), .init("type", "clipboard_read"),
            ]).encoded
            editor.insert(
                [.enqueue(name, command), .enqueue(name, command)],
                at: editor.quietPlace(&choices))
            return true
        },
        Mutator(
            "J6", .sure, as: .app, summary: "a command without timeout_ms, never answered",
            needs: [.command], variants: 3, weight: 8
        ) { editor, variant, choices in
            guard let place = choices.pick(editor.linkAnswers),
                let name = editor.answered(at: place), let command = editor.commands[name],
                editor.edit(command.step, { JSONEdit.removing($0, ["timeout_ms"]) })
            else { return false }
            // Traffic must not put the end off, nor its absence.
            let limit = Int(editor.contract.timing.defaultTimeoutMilliseconds)
            return editor.replace(place, by: .milliseconds(limit + 2500 + variant * 2000))
        },
        Mutator(
            "J6", .likely, as: .app, summary: "a timeout_ms of another kind", needs: [.command],
            variants: oddTimeouts.count, weight: 3
        ) { editor, variant, choices in
            let commands = editor.places {
                switch $0 {
                case .command, .enqueue: true
                default: false
                }
            }
            guard let place = choices.pick(commands) else { return false }
            return editor.edit(place) {
                JSONEdit.setting($0, ["timeout_ms"], to: oddTimeouts[variant])
            }
        },
        Mutator(
            "J6", .weak, as: .app, summary: "a timeout_ms that leaves no time",
            needs: [.command], variants: emptyTimeouts.count
        ) { editor, variant, choices in
            let commands = editor.places {
                switch $0 {
                case .command, .enqueue: true
                default: false
                }
            }
            guard let place = choices.pick(commands) else { return false }
            return editor.edit(place) {
                JSONEdit.setting($0, ["timeout_ms"], to: emptyTimeouts[variant])
            }
        },
        Mutator("J7", .sure, as: .app, summary: "an answer that failed", needs: [.command]) {
            editor, _, choices in
            guard let place = choices.pick(editor.answers) else { return false }
            let category = choices.pick(editor.contract.errors)
            let code = choices.pick(
                category?.codes.filter { !editor.contract.boardCodes.contains($0) } ?? [])
            let error = JSON.object([
                .init("category", .string(category?.name ?? "internal")),
                .init("code", .string(code ?? "native_module_failed")),
                .init("message", "It did not work"),
                .init("details", .object([.init("native_code", "E7"), .init("n", 7)])),
            ])
            return editor.edit(place) { text in
                (JSONEdit.removing(text, ["data"]) ?? text).with("error", error)
            }
        },
        Mutator(
            "J7", .likely, as: .app, summary: "an error of another kind", needs: [.command],
            variants: oddErrors.count
        ) { editor, variant, choices in
            guard let place = choices.pick(editor.answers) else { return false }
            return editor.edit(place) {
                JSONEdit.setting($0, ["error"], to: oddErrors[variant])
            }
        },
        Mutator(
            "J8", .sure, as: .app, summary: "an ok that means nothing", needs: [.command],
            variants: 2
        ) { editor, variant, choices in
            guard let place = choices.pick(editor.answers) else { return false }
            return editor.edit(place) {
                JSONEdit.adding($0, [], variant == 0 ? #""ok":false"# : #""ok":true"#)
            }
        },
        Mutator("J8", .likely, as: .app, summary: "error and data together", needs: [.command]) {
            editor, _, choices in
            guard let place = choices.pick(editor.answers) else { return false }
            return editor.edit(place) { text in
                (JSONEdit.view(text, ["data"]) == nil
                    ? JSONEdit.setting(text, ["data"], to: #"{"x":1}"#) : text)
                    .flatMap { ScriptEditor.failing($0) }
            }
        },
        Mutator(
            "J12", .sure, as: .app, summary: "texts in answers that are hard to carry",
            needs: [.command], variants: TextVariants.hardTexts.count
        ) { editor, variant, choices in
            for place in choices.shuffled(editor.answers) {
                guard let text = editor.steps[place].action.content else { continue }
                let path =
                    JSONEdit.view(text, ["method"]) != nil
                    ? ["method"] : JSONEdit.names(text, ["data"]).first.map { ["data", $0] }
                guard let path, JSONEdit.view(text, path)?.kind == .string else { continue }
                return editor.edit(place) {
                    JSONEdit.replacing($0, path, by: TextVariants.hardTexts[variant])
                }
            }
            return false
        },
        Mutator("J13", .sure, as: .app, summary: "answers with nothing in them", needs: [.command])
        {
            editor, _, choices in
            for place in choices.shuffled(editor.answers) {
                guard let text = editor.steps[place].action.content,
                    let field = JSONEdit.names(text, ["data"]).first,
                    let view = JSONEdit.view(text, ["data", field])
                else { continue }
                return editor.edit(place) {
                    JSONEdit.replacing(
                        $0, ["data", field], by: view.kind == .array ? "[]" : "\"\"")
                }
            }
            return false
        },
        Mutator(
            "J19", .likely, as: .app, summary: "an answer whose method is reserved",
            needs: [.command], variants: 4
        ) { editor, variant, choices in
            let reserved = editor.contract.reservedIDs
            guard let place = choices.pick(editor.linkAnswers), !reserved.isEmpty else {
                return false
            }
            return editor.edit(place) {
                JSONEdit.setting(
                    $0, ["method"], to: JSONEdit.quoted(reserved[variant % reserved.count]))
            }
        },
        Mutator(
            "J19", .likely, as: .app, summary: "a command whose id is reserved",
            variants: 8
        ) { editor, variant, choices in
            let reserved = editor.contract.reservedIDs
            guard !reserved.isEmpty else { return false }
            let command = JSON.object([
                .init("id", .string(reserved[variant / 2 % reserved.count])),
                .init("type", "clipboard_read"), .init("timeout_ms", 2000),
            ]).encoded
            let name = editor.name("r")
            let place = editor.quietPlace(&choices)
            editor.insert(
                variant % 2 == 0
                    ? [.enqueue(name, command), .get(editor.phone.poll(limit: "50"))]
                    : [.stimulate(name, command), .seconds(3)], at: place)
            return true
        },
    ]

    static let oddTimeouts = [
        "5000.0", "5e3", "2147483648", "9007199254740993", "1e400", "\"5000\"", "null", "5000.5",
        "[]", "1",
    ]

    /// A board may pass on what its own tool wrote.
    static let emptyTimeouts = ["0", "-1", "-0"]

    private static let oddErrors = [
        "null", "{}", "\"failed\"", "[]", "false", "0", #"{"category":"internal"}"#,
        #"{"code":"native_module_failed","message":"x"}"#,
        #"{"category":1,"code":2,"message":3}"#,
    ]
}

extension ScriptEditor {
    /// The same answer as a failure, so that it is told from the right one.
    static func failing(_ text: Bytes) -> Bytes? {
        text.with("error", error)
    }

    /// An answer that failed.
    func failure(_ id: String) -> Bytes {
        JSON.object([.init("id", .string(id)), .init("error", Self.error)]).encoded
    }

    private static let error = JSON.object([
        .init("category", "internal"), .init("code", "native_module_failed"),
        .init("message", "a wrong answer"),
    ])

    /// Commands under those ids wait at the same time, and are answered in an order.
    mutating func waitTogether(
        _ ids: [String], at place: Int, answering order: [Int], _ choices: inout Choices
    ) -> Bool {
        let types = contract.commands.filter { $0.usedID == nil && !$0.data.isEmpty }
        guard let type = choices.pick(types) else { return false }
        var actions: [FuzzAction] = []
        let names = ids.map { _ in name("c") }
        for (id, name) in zip(ids, names) {
            actions.append(
                .stimulate(
                    name,
                    values.command(
                        type, id: id, number: number(), timeout: 8000, &choices
                    ).encoded))
        }
        actions += names.map { .await($0, 5_000_000_000) }
        for index in order where names.indices.contains(index) {
            actions.append(
                .text(
                    link,
                    values.answer(
                        to: type, id: "$(\(names[index]))", number: number(), &choices)))
            actions.append(.milliseconds(300))
        }
        insert(actions, at: place)
        return true
    }
}

extension Bytes {
    /// The object with a member set; nil where it is no object.
    fileprivate func with(_ name: String, _ value: JSON) -> Bytes? {
        JSONEdit.setting(self, [name], to: String(decoding: value.encoded, as: UTF8.self))
    }
}

extension String {
    /// By bytes: some ids are long.
    fileprivate func trimming(_ byte: UInt8) -> String {
        var part = utf8[...]
        while part.first == byte { part.removeFirst() }
        while part.last == byte { part.removeLast() }
        return String(Substring(part))
    }
}
