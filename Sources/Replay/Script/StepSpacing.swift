import Capture

/// Keeps some of the time between two steps of the app that go over different connections.
///
/// What goes over one connection arrives in order. Over two, the later may come first: the board
/// would give its status before it heard of the event that changed it. Where nothing told that the
/// first had arrived, a part of the recorded time between both is kept.
enum StepSpacing {
    /// The most that is kept, in nanoseconds: what networks of a desk or an office need.
    private static let maximum: Int64 = 100_000_000

    /// Sets the spacing of a script for the app's side.
    static func apply(to script: inout ReplayScript) {
        /// The last step on each connection of which nobody has said that it arrived.
        var open: [Int: Int] = [:]
        /// Connections on which commands are to be answered for.
        var answeredOn: [Int: Int] = [:]
        for index in script.steps.indices {
            let step = script.steps[index]
            switch step.kind {
            case .send(let link, _, _), .beat(let link, _), .frame(let link, _), .ping(let link, _):
                begin(index, on: script.links[link].conn, &open, &script)
            case .answer(let command, let link, _):
                begin(index, on: script.links[link].conn, &open, &script)
                answeredOn[command] = script.links[link].conn
            case .request(let exchange), .post(let exchange, _):
                begin(index, on: script.exchanges[exchange].conn, &open, &script)
            case .connect(let link):
                begin(index, on: script.links[link].conn, &open, &script)
            case .opened(let link), .echo(let link), .ended(let link):
                open[script.links[link].conn] = nil
            case .response(let exchange): open[script.exchanges[exchange].conn] = nil
            case .outcome(let command):
                if let conn = answeredOn[command] { open[conn] = nil }
            case .kept, .end, .stimulate, .command, .offer, .state, .treatPoll, .arrival, .appEvent,
                .handedOut, .answered, .pause:
                break
            }
        }
    }

    private static func begin(
        _ index: Int, on conn: Int, _ open: inout [Int: Int], _ script: inout ReplayScript
    ) {
        // The latest one: those before it have had longer.
        if let earlier = open.filter({ $0.key != conn }).values.max() {
            let gap = script.steps[index].time - script.steps[earlier].time
            let duration = max(0, min(gap, maximum))
            if duration > 0 {
                script.steps[index].spacing = .init(after: earlier, duration: duration)
            }
        }
        open[conn] = index
    }
}
