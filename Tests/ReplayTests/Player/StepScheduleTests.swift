import Capture
import Replay
import Testing
import Wire

@Suite struct StepScheduleTests {
    private typealias Step = ReplayScript.Step

    private static let second: Int64 = 1_000_000_000

    private static func script(_ steps: [Step]) -> ReplayScript {
        var script = ReplayScript(role: .app)
        script.steps = steps
        return script
    }

    private static func turns(_ schedule: inout StepSchedule, at now: Int64) -> [StepSchedule.Turn]
    {
        var turns: [StepSchedule.Turn] = []
        while let turn = schedule.next(at: now), turns.count < 20 {
            turns.append(turn)
            switch turn {
            case .act(let step): schedule.done(step, at: now)
            case .overdue(let step): schedule.fail(step, "late", at: now)
            case .finished: return turns
            }
        }
        return turns
    }

    @Test func `what we do waits for what we had seen before it`() {
        var schedule = StepSchedule(
            Self.script([
                Step(.connect(link: 0), seq: 1, time: 0),
                Step(.opened(link: 0), seq: 2, time: Self.second),
                Step(.send(link: 0, .text, []), seq: 3, time: 2 * Self.second),
            ]))
        schedule.begin(at: 0)
        #expect(Self.turns(&schedule, at: 0) == [.act(0)])
        #expect(schedule.awaited == 1)
        schedule.done(1, at: 5)
        #expect(Self.turns(&schedule, at: 5) == [.act(2), .finished])
    }

    @Test func `what the peer does may come early, and in any order`() {
        var schedule = StepSchedule(
            Self.script([
                Step(.arrival(command: 0), seq: 1, time: 0),
                Step(.arrival(command: 1), seq: 2, time: 0),
                Step(.request(exchange: 0), seq: 3, time: 0),
            ]))
        schedule.begin(at: 0)
        #expect(schedule.mayHappen(1))
        schedule.done(1, at: 1)
        #expect(Self.turns(&schedule, at: 1).isEmpty)
        schedule.done(0, at: 2)
        #expect(Self.turns(&schedule, at: 2) == [.act(2), .finished])
    }

    @Test func `with a strict order only the next thing may happen`() {
        let schedule = StepSchedule(
            Self.script([
                Step(.arrival(command: 0), seq: 1, time: 0),
                Step(.arrival(command: 1), seq: 2, time: 0),
            ]), isStrict: true)
        #expect(schedule.mayHappen(0))
        #expect(!schedule.mayHappen(1))
    }

    @Test func `an answer waits for its command alone, and not for what the board still owes`() {
        var answer = Step(.answer(command: 1, link: 0, []), seq: 3, time: 0)
        answer.needs = .cause(1, behind: nil)
        var schedule = StepSchedule(
            Self.script([
                Step(.arrival(command: 0), seq: 1, time: 0),
                Step(.arrival(command: 1), seq: 2, time: 0), answer,
            ]))
        schedule.begin(at: 0)
        schedule.done(1, at: 3)
        #expect(Self.turns(&schedule, at: 3) == [.act(2)])
    }

    @Test func `answers are given in the order of their times, and then of the script`() {
        let waits: [Int64] = [5, 2, 9, 2, 0]
        var steps = waits.indices.map { Step(.arrival(command: $0), seq: $0, time: 0) }
        for (command, wait) in waits.enumerated() {
            var answer = Step(.answer(command: command, link: 0, []), seq: 9, time: 0)
            answer.needs = .cause(command, behind: nil)
            answer.wait = ReplayScript.Wait(after: command, duration: wait, why: "late")
            steps.append(answer)
        }
        var schedule = StepSchedule(Self.script(steps))
        schedule.begin(at: 0)
        for command in [3, 0, 4, 2, 1] { schedule.done(command, at: 1) }
        #expect(schedule.nextDeadline == 1)
        #expect(Self.turns(&schedule, at: 4) == [.act(9), .act(6), .act(8)])
        #expect(schedule.nextDeadline == 6)
        #expect(Self.turns(&schedule, at: 10) == [.act(5), .act(7), .finished])
    }

    @Test func `an answer whose command did not come is not given`() {
        var answer = Step(.answer(command: 0, link: 0, []), seq: 2, time: 0)
        answer.needs = .cause(0, behind: nil)
        var schedule = StepSchedule(
            Self.script([Step(.arrival(command: 0), seq: 1, time: 0), answer]),
            patience: Self.second)
        schedule.begin(at: 0)
        #expect(Self.turns(&schedule, at: 0).isEmpty)
        #expect(schedule.nextDeadline == Self.second)
        #expect(Self.turns(&schedule, at: Self.second) == [.overdue(0), .finished])
        #expect(schedule.states[1] == .failed(at: Self.second, StepSchedule.noCause))
    }

    private static let speeds: [(speed: StepSchedule.Speed, scale: Double, due: Int64)] = [
        (.real, 1, 8 * second), (.times(4), 1, 2 * second), (.max, 1, 0), (.real, 2, 4 * second),
    ]

    @Test(arguments: speeds)
    func `recorded times shrink with the speed, and count from the start`(
        speed: StepSchedule.Speed, scale: Double, due: Int64
    ) {
        var schedule = StepSchedule(
            Self.script([Step(.connect(link: 0), seq: 1, time: 8 * Self.second)]), speed: speed,
            timeScale: scale)
        schedule.begin(at: 100)
        if due > 0 { #expect(Self.turns(&schedule, at: 100 + due - 1).isEmpty) }
        #expect(Self.turns(&schedule, at: 100 + due) == [.act(0), .finished])
    }

    @Test(arguments: [1.0, 10.0])
    func `a wait that means something keeps its length at every speed, in the target's time`(
        scale: Double
    ) {
        var late = Step(.answer(command: 0, link: 0, []), seq: 2, time: 0)
        late.needs = .cause(0, behind: nil)
        late.wait = ReplayScript.Wait(after: 0, duration: 6 * Self.second, why: "late")
        var schedule = StepSchedule(
            Self.script([Step(.arrival(command: 0), seq: 1, time: 0), late]), timeScale: scale)
        schedule.begin(at: 0)
        schedule.done(0, at: 50)
        let due = 50 + Int64(Double(6 * Self.second) / scale)
        #expect(Self.turns(&schedule, at: due - 1).isEmpty)
        #expect(schedule.nextDeadline == due)
        #expect(Self.turns(&schedule, at: due) == [.act(1), .finished])
    }

    @Test func `a step that goes another way leaves the one before it some time`() {
        var request = Step(.request(exchange: 0), seq: 2, time: 0)
        request.spacing = ReplayScript.Spacing(after: 0, duration: 100)
        var schedule = StepSchedule(
            Self.script([Step(.send(link: 0, .text, []), seq: 1, time: 0), request]), timeScale: 4)
        schedule.begin(at: 0)
        #expect(Self.turns(&schedule, at: 10) == [.act(0)])
        #expect(schedule.nextDeadline == 110)
        #expect(Self.turns(&schedule, at: 110) == [.act(1), .finished])
    }

    @Test func `what is skipped holds nobody up`() {
        var schedule = StepSchedule(
            Self.script([
                Step(.stimulate(command: 0), seq: 1, time: 0),
                Step(.arrival(command: 0), seq: 1, time: 0),
                Step(.connect(link: 0), seq: 2, time: 0),
            ]))
        schedule.begin(at: 0)
        #expect(schedule.next(at: 0) == .act(0))
        schedule.skip(0, "no way")
        schedule.skip(1, "no way")
        #expect(Self.turns(&schedule, at: 0) == [.act(2), .finished])
    }

    @Test func `a response is not waited for where its request was not made`() {
        var post = Step(.post(exchange: 0, command: 0), seq: 2, time: 0)
        post.needs = .cause(0, behind: nil)
        var response = Step(.response(exchange: 0), seq: 3, time: 0)
        response.needs = .cause(1, behind: nil)
        var schedule = StepSchedule(
            Self.script([Step(.arrival(command: 0), seq: 1, time: 0), post, response]),
            patience: Self.second)
        schedule.begin(at: 0)
        _ = Self.turns(&schedule, at: 0)
        #expect(Self.turns(&schedule, at: Self.second) == [.overdue(0), .finished])
        #expect(schedule.states[2] == .failed(at: Self.second, StepSchedule.noCause))
    }

    @Test func `nothing is due before the script begins, though the peer may be there`() {
        var schedule = StepSchedule(
            Self.script([
                Step(.opened(link: 0), seq: 1, time: 0),
                Step(.command(command: 0, link: 0, []), seq: 2, time: 0),
            ]))
        schedule.done(0, at: 5)
        #expect(schedule.next(at: 5) == nil)
        #expect(schedule.nextDeadline == nil)
        schedule.begin(at: 7)
        #expect(Self.turns(&schedule, at: 7) == [.act(1), .finished])
    }
}
