import Capture
package import Network
package import PhoneBridge
package import Replay
import Simulator
package import Wire

/// Runs a script on a loop: as the app against a board, or as the board for an app that comes.
///
/// Steps run one after the other. What a step waits for is over after a bound, and then the script
/// goes on: whatever the target does, a run ends.
package final class ScriptRun {
    /// Called once, when the script has come to its end and the connections are closed.
    package var onEnd: (() -> Void)?
    /// Told what the board's own side made of a command, by its live id.
    package var onOutcome: ((String, JSON) -> Void)?
    /// Told when what the peer says is not read, and when it is again.
    package var onHole: (() -> Void)?
    /// What was found out that no event shows.
    package private(set) var remarks: [ScriptRemark] = []
    /// Whether a connection was opened while another was open.
    package private(set) var hasOverlap = false

    let script: FuzzScript
    let loop: any EventLoop
    let options: ScriptOptions
    private(set) weak var driver: (any TargetDriver)?
    var names = CommandNames()
    var links: [String: ScriptLink] = [:]
    /// Links whose names others have taken; they are heard until the end.
    private var retired: [ScriptLink] = []
    /// The newest link.
    var newest: ScriptLink?
    /// What lets commands out to a phone; nil where everything may go out.
    package internal(set) var gate: EffectGate?
    /// How the app's requests are served, where the board is played.
    var services = ScriptServices()
    var server: HTTPServer?
    var client: HTTPClient?

    private enum Phase {
        case running
        /// Steps are over; stimuli may still be under way.
        case settling
        case closing
        case over
    }

    private var phase = Phase.running
    private var index = 0
    private var token = 0
    /// The step that is waited for.
    private var waiting: Int?
    private var isAdvancing = false
    private var calls: [Int: any Cancellable] = [:]
    private var callCount = 0
    private var timers: [Int: ScheduledAction] = [:]
    private var waiters: [(name: String, done: () -> Void)] = []
    private var stimuli: [Int: Stimulus] = [:]
    /// Told each message, until it says that it has what it wanted.
    var listeners: [Int: (ScriptLink, JSON?) -> Bool] = [:]

    private struct Stimulus {
        var type: String
        /// When it has to have ended; nil where nothing says when.
        var bound: Int64?
    }

    /// - Parameters:
    ///   - driver: held weakly; moves the target beyond the link.
    ///   - gate: what lets commands out to the phone, where the board is played; nil where
    ///     everything may go out.
    package init(
        _ script: FuzzScript, on loop: any EventLoop, driver: (any TargetDriver)?,
        options: ScriptOptions, gate: EffectGate? = nil
    ) {
        self.script = script
        self.loop = loop
        self.driver = driver
        self.options = options
        self.gate = gate
    }

    // MARK: Start and end

    /// Plays the app against a board there.
    package func start(to board: Endpoint) {
        client = HTTPClient(to: board, on: loop)
        client?.maximumIdle = 4
        advance()
    }

    /// Plays the board on `server`, which listens already; see `makeServer`.
    package func startServing() {
        advance()
    }

    /// Ends at once; `onEnd` is not called.
    package func stop() {
        onEnd = nil
        end()
    }

    // MARK: Steps

    private func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while case .running = phase, waiting == nil {
            guard index < script.steps.count else { return settle() }
            let step = script.steps[index]
            index += 1
            token += 1
            let mine = token
            waiting = step.isConcurrent ? nil : mine
            perform(step.action) { [weak self] in self?.completed(mine) }
        }
    }

    private func completed(_ token: Int) {
        guard waiting == token else { return }
        waiting = nil
        advance()
    }

    private func perform(_ action: FuzzAction, _ done: @escaping () -> Void) {
        switch action {
        case .wait(let time): after(time, done)
        case .await(let name, let time): awaitCommand(name, time, done)
        case .connect(let name, let dial): connect(name, dial, done)
        case .request(let request): send(request, done)
        case .raw(let parts): raw(parts, done)
        case .accept(let name, let time): accept(name, time, done)
        case .state(let words): setState(words, done)
        case .alive: checkAlive(done)
        case .bystander: checkBystander(done)
        case .enqueue(let name, let json): enqueue(name, json, done)
        default:
            performAtOnce(action)
            done()
        }
    }

    private func performAtOnce(_ action: FuzzAction) {
        switch action {
        case .text(let name, let content): send(.text, content, on: name)
        case .binary(let name, let content): send(.binary, content, on: name)
        case .frame(let name, let frame): send(frame, on: name)
        case .bytes(let name, let bytes): send(raw: bytes, on: name)
        case .close(let name, let code, let reason):
            links[name]?.connection.close(
                code.map { CloseCode(rawValue: $0) }, String(decoding: reason, as: UTF8.self))
        case .reset(let name): drop(name) { $0.abort() }
        case .fin(let name): drop(name) { $0.drop() }
        case .stall(let name): links[name]?.stall()
        case .pause(let name): pause(name)
        case .resume(let name): resume(name)
        case .chop(let name, let size):
            links[name]?.connection.delivery = size.map { .segments(of: $0) } ?? .atOnce
        case .cork(let name): links[name]?.connection.delivery = .held
        case .uncork(let name): links[name]?.connection.delivery = .atOnce
        case .fragment(let name, let size): links[name]?.fragmentSize = size
        case .beats(let name, let interval):
            links[name]?.beat(every: interval.map(options.scaled))
        case .stimulate(let name, let json): stimulate(name, json)
        case .command(let name, let json): command(name, json)
        case .serve(let service, let serving): services[service] = serving
        case .heal: heal()
        case .wait, .await, .connect, .request, .raw, .accept, .state, .alive, .bystander,
            .enqueue, .again:
            // Whoever runs scripts sees to their rounds.
            break
        }
    }

    private func drop(_ name: String, _ how: (WebSocketConnection) -> Void) {
        guard let link = links.removeValue(forKey: name) else { return }
        link.end()
        how(link.connection)
        if newest === link { newest = links.values.first { $0.isOpen } }
    }

    /// What is not read is not seen, and nobody is blamed for what was not seen.
    private func pause(_ name: String) {
        guard let link = links[name] else { return }
        onHole?()
        link.pause()
    }

    private func resume(_ name: String) {
        guard let link = links[name] else { return }
        if link.isPaused { onHole?() }
        link.resume()
    }

    private func heal() {
        for name in links.keys.sorted() { resume(name) }
        for link in links.values { link.connection.delivery = .atOnce }
        services.heal()
    }

    // MARK: Time and calls

    /// Calls `action` once so much of the protocol's time has passed.
    func after(_ time: Int64, _ action: @escaping () -> Void) {
        later(options.scaled(time), action)
    }

    /// Calls `action` once so much time has passed; gives a number by which to call it off.
    @discardableResult
    func later(_ time: Int64, _ action: @escaping () -> Void) -> Int {
        callCount += 1
        let number = callCount
        timers[number] = loop.schedule(after: time) { [weak self] in
            self?.timers[number] = nil
            action()
        }
        return number
    }

    func callOff(_ number: Int) {
        timers.removeValue(forKey: number)?.cancel()
    }

    /// Keeps a call until it is over; `begin` is given what its completion has to call first.
    @discardableResult
    func call(_ begin: (@escaping () -> Void) -> any Cancellable) -> Int {
        callCount += 1
        let number = callCount
        // A completion never runs inside the call that asked for it.
        calls[number] = begin { [weak self] in self?.calls[number] = nil }
        return number
    }

    func cancelCall(_ number: Int) {
        calls.removeValue(forKey: number)?.cancel()
    }

    /// A number for something that is listened for.
    func nextNumber() -> Int {
        callCount += 1
        return callCount
    }

    func remark(_ check: ScriptRemark.Check, _ text: String, type: String? = nil) {
        remarks.append(ScriptRemark(check: check, text: text, type: type))
    }

    // MARK: Commands

    private func awaitCommand(_ name: String, _ time: Int64, _ done: @escaping () -> Void) {
        guard !names.hasCome(name) else { return done() }
        var isDone = false
        let finish = {
            guard !isDone else { return }
            isDone = true
            done()
        }
        let timer = later(options.scaled(time)) { [weak self] in
            self?.checkPolls()
            finish()
        }
        waiters.append(
            (
                name,
                { [weak self] in
                    self?.callOff(timer)
                    finish()
                }
            ))
    }

    /// Lets those go on who waited for what has come.
    func tellWaiters() {
        let ready = waiters.filter { names.hasCome($0.name) }
        guard !ready.isEmpty else { return }
        waiters.removeAll { names.hasCome($0.name) }
        for waiter in ready { waiter.done() }
    }

    private func stimulate(_ name: String, _ text: Bytes) {
        guard let driver, let json = try? JSON(parsing: names.fill(text)) else { return }
        names.add(name, json)
        let type = json["type"]?.stringValue ?? ""
        let given = json["timeout_ms"].map { $0.integerValue } ?? Self.defaultTimeout
        var stimulus = Stimulus(type: type)
        if let given, (1...Self.maximumTimeout).contains(given) {
            stimulus.bound =
                loop.now
                + options.scaled(given * nanosecondsPerMillisecond) + Self.slack
        }
        let patience = (stimulus.bound ?? loop.now + options.scaled(60 * nanosecondsPerSecond))
        let number = nextNumber()
        stimuli[number] = stimulus
        call { isOver in
            driver.stimulate(json, timeout: patience - loop.now + 4 * Self.slack) {
                [weak self] result in
                isOver()
                self?.stimulusEnded(number, name, result)
            }
        }
    }

    /// Milliseconds (contract, "BridgeCommand").
    private static let defaultTimeout: Int64? = 5000
    /// Milliseconds; a command that may take longer has no bound here.
    private static let maximumTimeout: Int64 = 600_000
    /// What a stimulus gets beyond its time-out, in nanoseconds.
    private static let slack = 1500 * nanosecondsPerMillisecond

    private func stimulusEnded(
        _ number: Int, _ name: String, _ result: Result<JSON?, TargetError>
    ) {
        guard let stimulus = stimuli.removeValue(forKey: number) else { return }
        if let bound = stimulus.bound, loop.now > bound {
            let over = (loop.now - bound + Self.slack) / nanosecondsPerMillisecond
            remark(
                .stimulusEnds,
                "the board was told to send a \(stimulus.type) command and ended it \(over) ms "
                    + "after its time-out",
                type: stimulus.type)
        }
        if case .success(let response?) = result {
            onOutcome?(names.liveID(of: name), response)
        }
        if case .settling = phase, stimuli.isEmpty { close() }
    }

    private func setState(_ words: String, _ done: @escaping () -> Void) {
        services.noteState(words)
        guard let driver, driver.canSetState else { return done() }
        driver.setState(words) { _ in done() }
    }

    // MARK: The end

    /// Waits for what was started and is not over.
    private func settle() {
        phase = .settling
        guard !stimuli.isEmpty else { return close() }
        let last = stimuli.values.compactMap(\.bound).max() ?? loop.now
        later(max(0, last - loop.now) + 1) { [weak self] in
            guard let self, case .settling = phase else { return }
            for stimulus in stimuli.values where stimulus.bound != nil {
                remark(
                    .stimulusEnds,
                    "the board was told to send a \(stimulus.type) command, and behind its "
                        + "time-out it had not ended it",
                    type: stimulus.type)
            }
            close()
        }
    }

    /// Closes what is open; who does not answer is not waited for.
    private func close() {
        phase = .closing
        heal()
        let open = links.values.filter(\.isOpen)
        guard !open.isEmpty else { return end() }
        for link in open {
            link.end()
            link.connection.close(script.played == .app ? .normal : .goingAway)
        }
        later(nanosecondsPerSecond) { [weak self] in self?.end() }
    }

    /// The last link that is closed ends the run.
    func linkClosed(_ link: ScriptLink) {
        link.end()
        if links[link.name] === link { links[link.name] = nil }
        if newest === link { newest = links.values.first { $0.isOpen } }
        if case .closing = phase, !links.values.contains(where: \.isOpen) { end() }
    }

    private func end() {
        if case .over = phase { return }
        phase = .over
        waiting = nil
        for timer in timers.values { timer.cancel() }
        timers = [:]
        for call in calls.values { call.cancel() }
        calls = [:]
        waiters = []
        listeners = [:]
        for link in links.values {
            link.end()
            link.connection.abort()
        }
        links = [:]
        for link in retired { link.connection.abort() }
        retired = []
        client?.closeIdle()
        server?.close()
        services = ScriptServices()
        let onEnd = onEnd
        self.onEnd = nil
        // What was just closed is recorded at the end of this turn.
        loop.schedule(at: loop.now) { onEnd?() }
    }

    // MARK: Links

    func adopt(_ connection: WebSocketConnection, as name: String) {
        let role: WebSocketRole = script.played == .app ? .client : .server
        let link = ScriptLink(name, connection, as: role, on: loop)
        if links.values.contains(where: \.isOpen) { hasOverlap = true }
        if let old = links[name] {
            old.end()
            retired.append(old)
        }
        links[name] = link
        newest = link
        // One whose name another has taken is let go, and its connection may speak on.
        connection.onMessage = { [weak self, weak link] _, content in
            if let link { self?.heard(content, on: link) }
        }
        connection.onClosed = { [weak self, weak link] _ in
            if let link { self?.linkClosed(link) }
        }
    }

    private func heard(_ content: Bytes, on link: ScriptLink) {
        let json = try? JSON(parsing: content)
        if script.played == .app {
            if let json, let id = json["id"]?.stringValue, let type = json["type"]?.stringValue {
                names.came(id: id, type: type)
                tellWaiters()
            }
        } else {
            heardFromApp(content, json, on: link)
        }
        for (number, listener) in listeners.sorted(by: { $0.key < $1.key })
        where listener(link, json) {
            listeners[number] = nil
        }
    }

    private func send(_ opcode: Opcode, _ content: Bytes, on name: String) {
        let content = names.fill(content)
        guard let link = links[name], let content = passed(content) else { return }
        link.send(opcode, content)
    }

    private func send(_ frame: FuzzFrame, on name: String) {
        guard let link = links[name] else { return }
        var frame = frame
        frame.payload = names.fill(frame.payload)
        // A gate that is not open lets out what it can read, and nothing else.
        if script.played == .board, gate != nil {
            guard let passed = gate?.pass(frame) else { return }
            frame = passed
        }
        link.send(frame)
    }

    private func send(raw bytes: Bytes, on name: String) {
        guard script.played == .app || gate == nil else { return }
        links[name]?.connection.send(raw: bytes)
    }

    /// What may go out to a phone; everything to a board.
    func passed(_ content: Bytes) -> Bytes? {
        guard script.played == .board, gate != nil else { return content }
        guard case .allowed(let content)? = gate?.pass(content) else { return nil }
        return content
    }
}
