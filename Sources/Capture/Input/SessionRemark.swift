/// Where something stands in an input.
package struct SessionPosition: Sendable, Equatable {
    /// The input's index among those given together.
    package var input: Int
    /// Counted from 1.
    package var line: Int
    /// The offset of the line's first byte in the unpacked text.
    package var offset: UInt64
    /// The input is of packets, and `line` counts them.
    package var isPacket: Bool
    /// The input is no file of lines: `line` counts the events that were made of it.
    package var isEvent = false

    package init(input: Int = 0, line: Int, offset: UInt64, isPacket: Bool = false) {
        self.input = input
        self.line = line
        self.offset = offset
        self.isPacket = isPacket
    }

    /// What `line` counts.
    package var unit: String { isPacket ? "packet" : isEvent ? "event" : "line" }

    /// `line 5`, or `packet 5`.
    package var text: String { "\(unit) \(line)" }
}

/// Something about a session file that its reader noticed and went on after.
package struct SessionRemark: Sendable, Equatable {
    package var position: SessionPosition
    package var kind: Kind

    package init(position: SessionPosition, kind: Kind) {
        self.position = position
        self.kind = kind
    }

    package enum Kind: Sendable, Equatable {
        /// The last line is cut short; it had so many bytes.
        case tornLine(bytes: Int)
        /// Packed data is damaged, or its last member or frame is cut short.
        case damaged(String)
        case badLine(LineFault)
        case lineTooLong(limit: Int)
        /// An event of a later version was stepped over.
        case unknownEvent(String, seq: Int?)
        /// Parts of the session are not among the inputs.
        case missingParts(ClosedRange<Int>)
        /// A file of packets is damaged or cut short.
        case badPackets(PacketFile.Fault)
        /// A HAR file is damaged or cut short.
        case badHAR(JSONStream.Fault)
    }

    /// What is to be told, for a person who knows the file's name and the line's number.
    package var text: String {
        switch kind {
        case .tornLine:
            "the last line is cut short; the \(Self.lines(position.line - 1)) before it are used"
        case .damaged(let what):
            "\(what); the \(Self.lines(position.line)) up to there are used"
        case .badLine(let fault): fault.text
        case .lineTooLong(let limit): "the line has more than \(limit >> 20) MiB; it is left out"
        case .unknownEvent(let kind, _):
            "an event \"\(kind)\", which this program does not know, is left out"
        case .missingParts(let parts):
            parts.count == 1
                ? "part \(parts.lowerBound) of the session is missing"
                : "parts \(parts.lowerBound) to \(parts.upperBound) of the session are missing"
        case .badPackets(let fault): "\(fault.sentence); the packets before it are used"
        case .badHAR(let fault): "\(fault.place): \(fault.text); the entries before it are used"
        }
    }

    /// What a person may conclude or do; nil where `text` says it all.
    package var hint: String? {
        switch kind {
        case .tornLine, .damaged:
            "the recorder did not end in good order; nothing that it had forwarded before is missing"
        case .badLine, .lineTooLong:
            "bridgetap verify --repair keeps what is good"
        case .unknownEvent:
            "a newer bridgetap wrote this file"
        case .missingParts: "give all parts together"
        case .badPackets(let fault):
            fault.hint ?? "whoever captured them did not end in good order, or still goes on"
        case .badHAR: "the program that wrote it did not end in good order"
        }
    }

    private static func lines(_ count: Int) -> String {
        count == 1 ? "1 line" : "\(count) lines"
    }
}

/// Why an input is not a session that can be read.
package enum SessionError: Error, Sendable, Equatable {
    case unreadable(SourceError)
    case empty(name: String)
    /// Another kind of file, `what` if it is known.
    case notASession(name: String, what: String?)
    /// The first line is not what it should be.
    case badFirstLine(name: String, LineFault)
    /// The file is of a newer version than this program reads.
    case newerVersion(name: String, version: Int)
    /// Inputs given together are of several sessions.
    case otherSession(name: String, id: String, expected: String)
    /// A session that is to be merged has no time.
    case badStart(name: String, startedAt: String)
    /// The same part was given twice.
    case partTwice(name: String, part: Int)
    /// No packet of the file can be read.
    case badPackets(name: String, PacketFile.Fault)
    /// No entry of a HAR file can be read.
    case badHAR(name: String, JSONStream.Fault)
    /// Packets of a link type that is not read.
    case unknownLinkType(name: String, link: String)
    /// Packets and HAR files cannot be followed as they grow.
    case cannotFollow(name: String)
    /// What has to be put aside cannot be.
    case cannotSpool(OutputError)

    /// What is wrong, for a person.
    package var text: String {
        switch self {
        case .unreadable(let error):
            "cannot read \(error.name) (\(error.call): error \(error.errno))"
        case .empty(let name): "\(name) is empty"
        case .notASession(let name, let what?): "\(name) is \(what), not a session file"
        case .notASession(let name, nil): "\(name) is not a session file"
        case .badFirstLine(let name, let fault): "\(name), line 1: \(fault.text)"
        case .newerVersion(let name, let version):
            "\(name) has version \(version) of the capture format; this program reads up to "
                + "\(EventDecoder.supportedVersion)"
        case .otherSession(let name, let id, let expected):
            "\(name) is of session \(id), the files before it of session \(expected)"
        case .badStart(let name, let startedAt):
            "\(name): the session's started_at is no time: \"\(startedAt)\""
        case .partTwice(let name, let part):
            "\(name) is part \(part) of the session, which was given before"
        case .badPackets(let name, let fault):
            "\(name), packet \(fault.packets + 1): \(fault.sentence)"
        case .unknownLinkType(let name, let link):
            "\(name) has packets of link type \(link), which this program does not read"
        case .badHAR(let name, let fault):
            "\(name), line \(fault.line), \(fault.place): \(fault.text)"
        case .cannotFollow(let name): "\(name) is no file of lines, so it cannot be followed"
        case .cannotSpool(let error):
            "cannot write \(error.path) (\(error.call): \(error.name))"
        }
    }
}
