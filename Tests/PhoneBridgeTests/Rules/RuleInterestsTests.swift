import Capture
import Foundation
import PhoneBridge
import Testing

/// What groups ask for, against being told all.
@Suite struct RuleInterestsTests {
    /// A group that is told everything, whatever it asks for.
    private struct Told<Group: RuleGroup>: RuleGroup {
        static var rules: [Rule] { Group.rules }
        private var group: Group

        init(contract: Contract, profile: Profile) {
            group = Group(contract: contract, profile: profile)
        }

        mutating func advance(to time: Int64, _ context: inout RuleContext) {
            group.advance(to: time, &context)
        }

        mutating func receive(_ event: Event, _ context: inout RuleContext) {
            group.receive(event, &context)
        }

        mutating func receive(_ fact: LinkFact, _ context: inout RuleContext) {
            group.receive(fact, &context)
        }

        mutating func finish(at time: Int64, _ context: inout RuleContext) {
            group.finish(at: time, &context)
        }
    }

    private static func told<Group: RuleGroup>(_ type: Group.Type) -> any RuleGroup.Type {
        Told<Group>.self
    }

    @Test func `a group gets what it asks for, and each asks for something`() {
        #expect(RuleInterests.all.isSuperset(of: [.sessions, .ended, .gone, .time]))
        for type in RuleChecker.groupTypes {
            #expect(!type.interests.isEmpty && type.interests != .all, "\(type)")
            #expect(Self.told(type).interests == .all)
        }
    }

    @Test(arguments: RecordedSessionsTests.own + RecordedSessionsTests.board)
    func `a group that is told all says the same`(_ file: String) throws {
        let everything = RuleChecker.groupTypes.map { Self.told($0) }
        // Cut sessions, too: holes are what groups forget to ask for.
        for cut in [0, 7] {
            var asked = RuleChecker()
            var told = RuleChecker(groups: everything)
            var reader = SessionReader(
                try SessionFileSource(
                    path: RecordedSessionsTests.root.appending(path: file).path()))
            var number = 0
            while let item = try reader.next() {
                number += 1
                guard case .event(let event) = item, cut == 0 || number % cut > 0 else {
                    #expect(asked.lost() == told.lost())
                    continue
                }
                #expect(asked.receive(event) == told.receive(event), "event \(number)")
            }
            #expect(asked.advance(to: .max / 2) == told.advance(to: .max / 2))
            #expect(asked.finish() == told.finish())
            #expect(asked.exercised == told.exercised)
        }
    }
}
