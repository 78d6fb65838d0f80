import Capture
import Network
import PhoneBridge
import Simulator
import Wire

/// A right exchange, from which mutations start: parts in an order, each as plain as can be.
///
/// Both sides' conversations use one type that has no payload at most once: where two commands are
/// equal but for their ids, that is a mutation already (C2).
struct Conversation {
    var editor: ScriptEditor
    let features: Set<Feature>
    /// Types that are not used again.
    private var used: Set<String> = []

    init(_ editor: ScriptEditor, with features: Set<Feature>) {
        self.editor = editor
        self.features = features
    }

    private var values: ContractValues { editor.values }

    /// The whole exchange.
    static func make(
        _ editor: ScriptEditor, with features: Set<Feature>, _ choices: inout Choices
    ) -> ScriptEditor {
        var conversation = Conversation(editor, with: features)
        switch editor.played {
        case .app: conversation.asApp(&choices)
        case .board: conversation.asBoard(&choices)
        }
        return conversation.editor
    }

    // MARK: Types

    /// A type of command that may be used here.
    mutating func type(
        for route: Contract.BackgroundRoute? = nil, _ choices: inout Choices
    ) -> Contract.CommandType? {
        let types = editor.contract.commands.filter { type in
            (route.map(type.backgroundRoutes.contains) ?? true) && !used.contains(type.name)
        }
        guard let type = choices.pick(types) else { return nil }
        if type.payload.isEmpty { used.insert(type.name) }
        return type
    }

    // MARK: As the app

    private mutating func asApp(_ choices: inout Choices) {
        if !features.contains(.withoutLink) { open("a", &choices) }
        if features.contains(.command) { commandToApp(&choices) }
        if features.contains(.secondCommand) { commandToApp(&choices) }
        if features.contains(.things) { things(&choices) }
        if features.contains(.queue) { queue(choices.number(in: 1...2), &choices) }
        if features.contains(.manyQueued) { queue(choices.number(in: 4...7), &choices) }
        if features.contains(.secondPhone), !features.contains(.withoutLink) {
            secondPhone(&choices)
        }
        if features.contains(.background) { background(&choices) }
        if features.contains(.reconnect), !features.contains(.withoutLink) {
            editor.add(.close(editor.link, code: 1000, reason: []))
            editor.add(.seconds(4))
            open("b", &choices)
            commandToApp(&choices)
        }
    }

    /// Connects, reports the environment, and beats from then on.
    mutating func open(_ link: String, _ choices: inout Choices) {
        editor.add(.connect(link, editor.phone.dial))
        if let environment = values.environment {
            editor.add(
                .text(link, values.event(environment, number: editor.number(), &choices)))
        }
        editor.add(.beats(link, 5 * nanosecondsPerSecond))
    }

    /// A command over the WebSocket with its answer.
    private mutating func commandToApp(_ choices: inout Choices) {
        guard !features.contains(.withoutLink), let type = type(for: nil, &choices) else { return }
        commandToApp(type, &choices)
    }

    private mutating func commandToApp(
        _ type: Contract.CommandType, _ choices: inout Choices
    ) {
        let name = editor.name("c")
        let number = editor.number()
        let timeout = choices.pick([8000, 5000, 2000, 10_000]) ?? 8000
        let used = type.usedID == nil ? nil : "thing-\(number)"
        editor.add(
            .stimulate(
                name,
                values.command(
                    type, id: name, number: number, used: used, timeout: timeout, &choices
                ).encoded))
        editor.add(.await(name, 5 * nanosecondsPerSecond))
        if choices.oneIn(3) { editor.add(.milliseconds(choices.number(in: 1...9) * 100)) }
        editor.add(
            .text(
                openLink,
                values.answer(to: type, id: "$(\(name))", number: number, &choices)))
    }

    private var openLink: String {
        for step in editor.steps.reversed() {
            if case .connect(let name, _) = step.action { return name }
        }
        return "a"
    }

    /// The types of a thing's life, each as a command of its own.
    private mutating func things(_ choices: inout Choices) {
        guard let changer = changer(&choices), let born = changer.usedID,
            let creator = editor.contract.creator(for: changer)
        else { return }
        let types = [creator, editor.contract.reader(of: born), changer].compactMap { $0 }
        for type in types {
            if features.contains(.withoutLink) {
                queued([type], &choices)
            } else {
                commandToApp(type, &choices)
            }
        }
    }

    /// A type that changes or deletes a thing which an earlier one created.
    private mutating func changer(_ choices: inout Choices) -> Contract.CommandType? {
        choices.pick(
            editor.contract.commands.filter { editor.contract.creator(for: $0) != nil })
    }

    /// Commands in the queue, polled, answered and asked for.
    private mutating func queue(_ count: Int, _ choices: inout Choices) {
        var types: [Contract.CommandType] = []
        for _ in 0..<count {
            if let type = type(for: nil, &choices) { types.append(type) }
        }
        queued(types, &choices)
    }

    private mutating func queued(_ types: [Contract.CommandType], _ choices: inout Choices) {
        queued(types, poll: editor.phone.poll(), phone: nil, &choices)
    }

    private mutating func queued(
        _ types: [Contract.CommandType], poll: String, phone: String?, _ choices: inout Choices
    ) {
        var queued: [(name: String, type: Contract.CommandType, number: Int)] = []
        for type in types {
            let name = editor.name("q")
            let number = editor.number()
            var command = values.command(
                type, id: name, number: number, timeout: 8000, &choices)
            if let phone, case .object(var members) = command {
                members.append(.init(editor.contract.poll.phoneID, .string(phone)))
                command = .object(members)
            }
            let isForAnyone = phone == nil && !features.contains(.withoutLink) && choices.oneIn(2)
            editor.add(
                .enqueue(
                    name,
                    phone == nil && !isForAnyone
                        ? editor.forPhone(command.encoded) : command.encoded))
            queued.append((name, type, number))
        }
        editor.add(.get(poll))
        for (name, type, number) in queued {
            editor.add(
                .post(
                    "results",
                    values.answer(to: type, id: "$(\(name))", number: number, &choices).encoded))
        }
        if let last = queued.last { editor.add(.get("results/$(\(last.name))")) }
    }

    private mutating func secondPhone(_ choices: inout Choices) {
        let other = PlayedPhone(
            platform: choices.oneIn(2) ? .android : .ios, id: "p2", editor.contract.poll)
        guard let type = type(for: nil, &choices) else { return }
        queued([type], poll: other.poll(), phone: "p2", &choices)
    }

    private mutating func background(_ choices: inout Choices) {
        let isAndroid = editor.phone.platform == .android
        let route = isAndroid ? Contract.BackgroundRoute.fgs : .pip
        guard let type = type(for: route, &choices) else { return }
        report("background", pip: !isAndroid)
        queued([type], poll: editor.phone.backgroundPoll, phone: nil, &choices)
        report("active", pip: false)
        // What an absent report leaves is said by a poll.
        if isAndroid { editor.add(.get(editor.phone.poll("active", fgs: true))) }
    }

    /// Tells the app's state over the link, where there is one.
    private mutating func report(_ state: String, pip: Bool) {
        guard !features.contains(.withoutLink), let event = values.appState else { return }
        editor.add(.text(openLink, Self.report(state, pip: pip, event, editor.contract)))
    }

    static func report(
        _ state: String, pip: Bool, _ event: Contract.EventType, _ contract: Contract
    ) -> JSON {
        .object([
            .init("id", .string(event.name)), .init("method", .string(event.name)),
            .init(
                "data",
                .object([
                    .init(contract.poll.appState, .string(state)),
                    .init(contract.poll.pipEnabled, .bool(pip)),
                ])),
        ])
    }

    // MARK: As the board

    private mutating func asBoard(_ choices: inout Choices) {
        editor.add(.accept("a", 10 * nanosecondsPerSecond))
        // It says first what it has to say.
        editor.add(.milliseconds(500))
        if features.contains(.command) { commandFromBoard(by: nil, &choices) }
        if features.contains(.secondCommand) { commandFromBoard(by: nil, &choices) }
        if features.contains(.things) { thingsFromBoard(&choices) }
        if features.contains(.queue) { enqueueFromBoard(choices.number(in: 1...2), &choices) }
        if features.contains(.manyQueued) {
            enqueueFromBoard(choices.number(in: 4...7), &choices)
        }
        if features.contains(.background) { backgroundFromBoard(&choices) }
        if features.contains(.reconnect) {
            editor.add(.close(editor.link, code: 1001, reason: Bytes("new connection".utf8)))
            editor.add(.accept("b", 10 * nanosecondsPerSecond))
            editor.add(.milliseconds(500))
            commandFromBoard(by: nil, &choices)
        }
    }

    private mutating func commandFromBoard(
        by route: Contract.BackgroundRoute?, _ choices: inout Choices
    ) {
        guard let type = type(for: route, &choices) else { return }
        commandFromBoard(type, &choices)
    }

    /// A command over the WebSocket; what it is for is created first.
    @discardableResult
    private mutating func commandFromBoard(
        _ type: Contract.CommandType, _ choices: inout Choices
    ) -> String {
        var used: String?
        if let field = type.usedID, let creator = editor.contract.creator(for: type) {
            used = "$(\(commandFromBoard(creator, &choices)).\(field))"
        }
        return commandFromBoard(type, used: used, &choices)
    }

    @discardableResult
    private mutating func commandFromBoard(
        _ type: Contract.CommandType, used: String?, _ choices: inout Choices
    ) -> String {
        let name = editor.name("c")
        let number = editor.number()
        editor.add(
            .command(
                name,
                values.command(
                    type, id: name, number: number, used: used, timeout: 8000, &choices
                ).encoded))
        editor.add(.await(name, 8 * nanosecondsPerSecond))
        return name
    }

    /// A thing is created, read, changed or deleted, and read again.
    private mutating func thingsFromBoard(_ choices: inout Choices) {
        guard let changer = changer(&choices), let born = changer.usedID,
            let creator = editor.contract.creator(for: changer),
            let reader = editor.contract.reader(of: born)
        else { return }
        let name = commandFromBoard(creator, &choices)
        commandFromBoard(reader, used: nil, &choices)
        commandFromBoard(changer, used: "$(\(name).\(born))", &choices)
    }

    private mutating func enqueueFromBoard(_ count: Int, _ choices: inout Choices) {
        var names: [String] = []
        for _ in 0..<count {
            guard let type = type(for: nil, &choices), type.usedID == nil else { continue }
            names.append(enqueueFromBoard(type, &choices))
        }
        for name in names { editor.add(.await(name, 12 * nanosecondsPerSecond)) }
    }

    private mutating func enqueueFromBoard(
        _ type: Contract.CommandType, _ choices: inout Choices
    ) -> String {
        let name = editor.name("q")
        let number = editor.number()
        editor.add(
            .enqueue(
                name,
                values.command(type, id: name, number: number, timeout: 30_000, &choices).encoded))
        return name
    }

    private mutating func backgroundFromBoard(_ choices: inout Choices) {
        let mode: BackgroundMode = editor.phone.platform == .android ? .fgs : .pip
        let route: Contract.BackgroundRoute = mode == .fgs ? .fgs : .pip
        guard let type = type(for: route, &choices), type.usedID == nil else { return }
        editor.add(.state(PhoneStateWord.background(mode).text))
        let name = enqueueFromBoard(type, &choices)
        editor.add(.await(name, 12 * nanosecondsPerSecond))
        editor.add(.state(PhoneStateWord.active.text))
        editor.add(.milliseconds(500))
    }
}
