package import Simulator

/// A place in a command line or request that is filled in, written `{port}`.
package enum TargetPlace: String, Sendable, CaseIterable {
    /// The port where the target serves, or where it comes to.
    case port
    /// The number of the job, from 1.
    case job
    /// A second free port, for whoever moves a spawned app.
    case control
    /// A private folder of the job, removed at the end.
    case dir
    /// The system of the recorded phone, `ios` or `android`: for an app.
    case platform
    /// The words of the state that is wanted.
    case state
    /// The JSON of the command that the board is to send.
    case command

    /// What every command line may have.
    package static let general: Set<TargetPlace> = [.port, .job, .control, .dir]
    /// What command lines may have where an app is the target.
    package static let ofApp = general.union([.platform])
}

/// What the places of one job stand for.
package struct TargetValues: Sendable, Equatable {
    package var port: UInt16
    package var job: Int
    package var control: UInt16
    package var folder: String
    package var platform = Platform.ios
    package var state = ""
    package var command = ""

    package init(port: UInt16 = 0, job: Int = 1, control: UInt16 = 0, folder: String = "") {
        self.port = port
        self.job = job
        self.control = control
        self.folder = folder
    }

    /// The text for a place.
    package subscript(place: TargetPlace) -> String {
        switch place {
        case .port: "\(port)"
        case .job: "\(job)"
        case .control: "\(control)"
        case .dir: folder
        case .platform: platform.rawValue
        case .state: state
        case .command: command
        }
    }

    /// The variables that every program finds in its environment.
    package var environment: [String: String] {
        [
            "PORT": "\(port)", "JOB": "\(job)", "CONTROL": "\(control)",
            "PLATFORM": platform.rawValue,
        ]
    }
}

/// A text with places that are filled in later.
///
/// A place is a word of lower-case letters in braces. Other braces, such as those of JSON, are
/// plain text, and so is `${word}`, which is the shell's.
package struct TargetTemplate: Sendable, Equatable {
    private enum Part: Sendable, Equatable {
        case text(String)
        case place(TargetPlace)
    }

    /// The text as it was written.
    package let source: String
    private let parts: [Part]

    /// Reads a text; throws where it has a place that is not among `known`.
    package init(
        parsing source: String, known: Set<TargetPlace> = TargetPlace.general
    ) throws(TargetTextError) {
        self.source = source
        var parts: [Part] = []
        var text = ""
        var rest = source[...]
        while let character = rest.popFirst() {
            guard character == "{", text.last != "$" else {
                text.append(character)
                continue
            }
            let name = rest.prefix { ("a"..."z").contains($0) }
            guard !name.isEmpty, rest[name.endIndex...].first == "}" else {
                text.append(character)
                continue
            }
            guard let place = TargetPlace(rawValue: String(name)), known.contains(place) else {
                throw .unknownPlace(
                    String(name), known: TargetPlace.allCases.filter(known.contains))
            }
            if !text.isEmpty { parts.append(.text(text)) }
            text = ""
            parts.append(.place(place))
            rest = rest[name.endIndex...].dropFirst()
        }
        if !text.isEmpty { parts.append(.text(text)) }
        self.parts = parts
    }

    /// The places that it has.
    package var places: Set<TargetPlace> {
        Set(
            parts.compactMap { part in
                if case .place(let place) = part { place } else { nil }
            })
    }

    /// The text with its places filled in, each value as `encode` makes it.
    package func filled(
        with values: TargetValues, encode: (String) -> String = { $0 }
    ) -> String {
        var result = ""
        for part in parts {
            switch part {
            case .text(let text): result += text
            case .place(let place): result += encode(values[place])
            }
        }
        return result
    }
}

/// What is wrong with a command line or request for the target.
package enum TargetTextError: Error, Sendable, Equatable, CustomStringConvertible {
    case empty
    case unknownPlace(String, known: [TargetPlace])
    /// It needs the place, and does not have it.
    case missing(TargetPlace)
    /// It is neither `exec:COMMAND` nor `METHOD URL [BODY]`.
    case noRequest(String)
    /// Something else than `http`, which is all that is spoken here.
    case scheme(String)
    case url(String, why: String)

    /// What is wrong, in words.
    package var description: String {
        switch self {
        case .empty: "there is nothing in it"
        case .unknownPlace(let name, let known):
            "{\(name)} is no place that is filled in here; there are "
                + known.map { "{\($0.rawValue)}" }.joined(separator: ", ")
        case .missing(let place): "{\(place.rawValue)} is missing in it"
        case .noRequest(let text):
            "\"\(text)\" is neither exec:COMMAND nor a request like POST http://HOST:PORT/PATH BODY"
        case .scheme(let url): "\"\(url)\" does not begin with http://"
        case .url(let url, let why): "\"\(url)\": \(why)"
        }
    }
}
