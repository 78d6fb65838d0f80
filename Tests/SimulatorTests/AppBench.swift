import Simulator
import Wire

/// A reference app in virtual time, against a board that is played by hand.
struct AppBench {
    var app: App
    /// 2026-06-10T03:20:05Z.
    private(set) var now = Moment(
        monotonic: seconds(1000), wall: 1_781_061_605 * 1_000_000_000)
    /// Everything the app asked for, with the second at which it did.
    private(set) var log: [(second: Double, action: AppAction)] = []

    init(_ defects: Defect..., configure: (inout AppOptions) -> Void = { _ in }) {
        var options = AppOptions()
        options.pollsInForeground = false
        options.defects = Set(defects)
        configure(&options)
        app = App(options: options)
    }

    /// Starts the app and opens its link; its number is 1.
    mutating func connect() -> LinkID {
        take(app.start(at: now))
        return open()
    }

    mutating func start() { take(app.start(at: now)) }

    /// Accepts the link that the app asked for last.
    @discardableResult
    mutating func open() -> LinkID {
        let link = links.last ?? LinkID(rawValue: 0)
        take(app.linkOpened(link, at: now))
        return link
    }

    mutating func end(_ link: LinkID) { take(app.linkEnded(link, at: now)) }

    mutating func perform(_ step: AppStep) { take(app.perform(step, at: now)) }

    /// Lets time pass, keeping every deadline of the app; `echoing` answers its heartbeats.
    mutating func wait(_ duration: Double, echoing: Bool = true) {
        let end = now.monotonic + seconds(duration)
        while let deadline = app.nextDeadline, deadline <= end {
            advance(to: max(deadline, now.monotonic))
            let count = log.count
            take(app.deadlineReached(at: now))
            guard echoing else { continue }
            for entry in log[count...] {
                if case .send(let link, let bytes) = entry.action,
                    bytes == Bytes(#"{"id":"heartbeat"}"#.utf8)
                {
                    take(app.receive(message: bytes, on: link, at: now))
                }
            }
        }
        advance(to: end)
    }

    /// Says a message on a link, lets the app work, and returns what it says.
    @discardableResult
    mutating func say(
        _ message: String, on link: LinkID, firstFragmentCount: Int? = nil, working: Double = 0.1
    ) -> [String] {
        let count = log.count
        take(
            app.receive(
                message: Bytes(message.utf8), firstFragmentCount: firstFragmentCount, on: link,
                at: now))
        wait(working)
        return sent(from: count).filter { !$0.contains("heartbeat") }
    }

    /// Sends a command and returns its answer; nil when there is none or more than one.
    mutating func ask(_ message: String, on link: LinkID) -> JSON? {
        let answers = say(message, on: link)
        return answers.count == 1 ? json(answers[0]) : nil
    }

    mutating func reply(to id: RequestID, _ status: Int, _ body: String) {
        take(app.replied(to: id, status: status, body: Bytes(body.utf8), at: now))
    }

    mutating func fail(_ id: RequestID) { take(app.requestFailed(id, at: now)) }

    /// Answers the poll that was made last with these commands, and lets the app work.
    mutating func deliver(_ commands: String) {
        if let poll = polls.last?.id { reply(to: poll, 200, "{\"commands\":\(commands)}") }
        wait(0.1)
    }

    /// What the app sent on its links, as text.
    func sent(from index: Int = 0) -> [String] {
        log[index...].compactMap {
            if case .send(_, let bytes) = $0.action {
                String(decoding: bytes, as: UTF8.self)
            } else {
                nil
            }
        }
    }

    /// The links that the app asked for.
    var links: [LinkID] {
        log.compactMap { if case .connect(let id, _) = $0.action { id } else { nil } }
    }

    /// The seconds at which the app asked for a link.
    var connectTimes: [Double] {
        log.compactMap { if case .connect = $0.action { $0.second } else { nil } }
    }

    /// The polls that the app made.
    var polls: [(id: RequestID, second: Double, target: String)] {
        log.compactMap {
            if case .request(let id, "GET", let target, _) = $0.action {
                (id, $0.second, target)
            } else {
                nil
            }
        }
    }

    /// The results that the app posted.
    var posts: [(id: RequestID, second: Double, body: String)] {
        log.compactMap {
            if case .request(let id, "POST", _, let body) = $0.action {
                (id, $0.second, String(decoding: body ?? [], as: UTF8.self))
            } else {
                nil
            }
        }
    }

    var aborted: [LinkID] {
        log.compactMap { if case .abort(let id) = $0.action { id } else { nil } }
    }

    private mutating func take(_ actions: [AppAction]) {
        let second = Double(now.monotonic - seconds(1000)) / 1e9
        log += actions.map { (second, $0) }
    }

    private mutating func advance(to monotonic: Int64) {
        let step = monotonic - now.monotonic
        now = Moment(monotonic: monotonic, wall: now.wall + step)
    }
}
