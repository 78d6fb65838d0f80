import Capture
import Wire

/// Keeps the frames of messages that come in several until it is known how these are played: as
/// whole messages, or frame by frame since one of them is broken, or since there is no end.
struct MessageParts {
    /// How a message is played.
    private enum Course {
        /// As a whole, so far; these are its frames.
        case whole([RecordedSession.Item])
        /// Frame by frame: its own event says it once more.
        case frames
        /// By its own event, whatever becomes of it.
        case event
    }

    /// The newest message in several frames, by its sender.
    private var courses: [FrameSender: Course] = [:]
    /// Frames of messages without an end, which a gap may explain.
    private var endless: [FrameSender: Set<Int>] = [:]

    /// What becomes of a frame.
    enum Verdict {
        /// Its message, or what is known of it, stands for it.
        case kept
        /// It is played, and so are these frames before it.
        case played(behind: [RecordedSession.Item])
    }

    /// A frame that stands by itself came.
    mutating func alone(from sender: FrameSender) {
        courses[sender] = nil
    }

    /// A frame of a message came, as an item that would play it.
    mutating func take(
        _ item: RecordedSession.Item, from sender: FrameSender, isFirst: Bool, isBroken: Bool
    ) -> Verdict {
        var earlier: [RecordedSession.Item] = []
        if isFirst {
            // One that it interrupts has no end.
            earlier = frames(of: sender)
            courses[sender] = isBroken ? .frames : .whole([])
        } else if isBroken {
            earlier = frames(of: sender)
            if case .event? = courses[sender] { return .kept }
            courses[sender] = .frames
        }
        switch courses[sender] {
        case .frames?: return .played(behind: earlier)
        case .whole(var items)?:
            // Taken out of it for the while, so that it is not copied.
            courses[sender] = .event
            items.append(item)
            courses[sender] = .whole(items)
            return .kept
        case .event?, nil: return .kept
        }
    }

    /// A frame came that cannot be played by itself.
    mutating func unplayable(from sender: FrameSender) -> [RecordedSession.Item] {
        let dropped = frames(of: sender)
        courses[sender] = .event
        return dropped
    }

    /// What is kept of the newest message.
    private func frames(of sender: FrameSender) -> [RecordedSession.Item] {
        if case .whole(let items)? = courses[sender] { items } else { [] }
    }

    /// The event of the newest message came.
    ///
    /// - Parameter isPlayable: whether the message can be sent as one.
    /// - Returns: whether the event is to be taken, and what of its frames is to be played, or has
    ///   become needless.
    mutating func message(
        from sender: FrameSender, isPlayable: Bool, hasEnd: Bool
    ) -> (isTaken: Bool, frames: [RecordedSession.Item]) {
        switch courses[sender] {
        case .frames?: return (false, [])
        case .event?, nil: return (true, [])
        case .whole(let items)?:
            courses[sender] = isPlayable ? .event : .frames
            if !hasEnd { endless[sender] = Set(items.map(\.seq)) }
            return (isPlayable, items)
        }
    }

    /// The newest message cannot be decompressed; gives what of it is to be played.
    mutating func notInflated(from sender: FrameSender) -> [RecordedSession.Item] {
        guard case .whole(let items)? = courses[sender] else { return [] }
        courses[sender] = .frames
        return items
    }

    /// Bytes are missing; gives the `seq` of frames that are not to be played after all, since the
    /// end of their message may be among what is missing.
    mutating func missing(from sender: FrameSender) -> Set<Int> {
        courses[sender] = nil
        return endless.removeValue(forKey: sender) ?? []
    }

    /// Something else of the sender came: its message without an end has none.
    mutating func settled(_ sender: FrameSender) {
        endless[sender] = nil
    }
}
