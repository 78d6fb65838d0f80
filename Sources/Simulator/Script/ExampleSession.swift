/// What happens to an app, what its board does, and what others ask the board meanwhile: one
/// example session.
package struct ExampleSession: Sendable {
    /// Who in it is one of the reference peers, so that the session can be played to another one.
    package enum Peer: String, CaseIterable, Sendable {
        case app
        case board
    }

    /// An app that comes and goes; times in seconds from the start, before they are scaled.
    package struct Visitor: Sendable {
        package var app: AppOptions
        package var comes: Double
        package var goes: Double
    }

    /// A short name, fit for a file.
    package let name: String
    /// What it shows, in one sentence.
    package let summary: String
    package var app = AppOptions()
    package var board = BoardOptions()
    package var scenario = AppScenario([])
    package var script = BoardScript([])
    /// What a tool on the board's side asks, over the recorded link.
    package var tool = RequestScript([])
    /// What a second phone asks, which is no reference app.
    package var otherPhone = RequestScript([])
    /// A second phone's app that connects for a while.
    package var visitor: Visitor?
    /// Seconds until nothing happens any more, before they are scaled.
    package let duration: Double

    /// The sides that do in it what a reference peer does of itself.
    ///
    /// The app is none where it says what it is told, or where another phone takes part; the
    /// board is none where it is told to end a connection, or to leave a poll unanswered.
    package var peers: [Peer] {
        let isTold = scenario.entries.contains { entry in
            if case .say = entry.step { true } else { false }
        }
        let hasOthers = visitor != nil || !otherPhone.entries.isEmpty
        var peers: [Peer] = isTold || hasOthers ? [] : [.app]
        if script.entries.allSatisfy(\.step.isOrdinary) { peers.append(.board) }
        return peers
    }

    /// Those that show a person what there is.
    package static var demonstration: [ExampleSession] {
        [allCommands, errors, reconnect, pipQueue, fgsQueue, compressedAndroid]
    }

    /// All example sessions, by what they are about.
    package static var all: [ExampleSession] {
        [
            allCommands, errors, reconnect, compressedAndroid, fragmented,
            sameID, sameContent, twoAtOnce, lateAnswer, prompts, slowCommands, times,
            pipQueue, fgsQueue, bleQueue, queueIDs, queueLimit, redelivery, cutRequest,
            oddPhone, replaced, lateWords, oddBoard, silence,
        ]
    }
}

extension ExampleSession {
    /// A session of the board's commands alone, with an iOS app in the foreground.
    package init(name: String, summary: String, commands: BoardScript, duration: Double) {
        self.init(name: name, summary: summary, script: commands, duration: duration)
    }
}
