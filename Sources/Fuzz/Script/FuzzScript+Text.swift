import Capture
import Network
import PhoneBridge
import Simulator
import Wire

extension FuzzScript: CustomStringConvertible {
    /// The text form, with a line feed at its end.
    package var description: String {
        let platform = platform == .ios ? "" : " to \(platform.rawValue)"
        var lines = ["bridgetap-fuzz \(Self.version) as \(played.rawValue)\(platform)"]
        for step in steps {
            var line = ""
            if let mark = step.mark {
                line += "!\(mark.mutation.id)"
                if mark.mutation.rating != .sure { line += ":\(mark.mutation.rating.rawValue)" }
                line += " "
            }
            if step.isConcurrent { line += "& " }
            lines.append(line + step.action.description)
            if let original = step.mark?.original { lines.append("- \(original)") }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension FuzzAction: CustomStringConvertible {
    /// The action as a line of a script.
    package var description: String {
        switch self {
        case .wait(let time): "wait \(ScriptTime.text(time))"
        case .text(let link, let content): "text \(link) \(ScriptBytes.text(content))"
        case .binary(let link, let content): "binary \(link) \(ScriptBytes.text(content))"
        case .frame(let link, let frame): "frame \(link) \(frame.words)"
        case .bytes(let link, let bytes): "bytes \(link) \(ScriptBytes.quoted(bytes))"
        case .close(let link, let code, let reason):
            "close \(link)" + (code.map { " \($0)" } ?? "")
                + (reason.isEmpty ? "" : " " + ScriptBytes.quoted(reason))
        case .reset(let link): "reset \(link)"
        case .fin(let link): "fin \(link)"
        case .stall(let link): "stall \(link)"
        case .pause(let link): "pause \(link)"
        case .resume(let link): "resume \(link)"
        case .chop(let link, let size): "chop \(link) \(size.map { "\($0)" } ?? "off")"
        case .cork(let link): "cork \(link)"
        case .uncork(let link): "uncork \(link)"
        case .fragment(let link, let size): "fragment \(link) \(size.map { "\($0)" } ?? "off")"
        case .enqueue(let name, let json): "enqueue \(name) \(ScriptBytes.text(json))"
        case .await(let name, let time): "await \(name) \(ScriptTime.text(time))"
        case .heal: "heal"
        case .alive: "alive"
        case .bystander: "bystander"
        case .again(let times): "again \(times)"
        case .connect(let link, let dial): "connect \(link)\(dial.words)"
        case .beats(let link, let interval):
            "beats \(link) \(interval.map(ScriptTime.text) ?? "off")"
        case .stimulate(let name, let json): "stimulate \(name) \(ScriptBytes.text(json))"
        case .request(let request): request.words
        case .raw(let parts): "raw " + parts.map(\.words).joined(separator: " ")
        case .accept(let link, let time): "accept \(link) \(ScriptTime.text(time))"
        case .command(let name, let json): "command \(name) \(ScriptBytes.text(json))"
        case .serve(let service, let serving): "serve \(service.rawValue) \(serving.words)"
        case .state(let words): "state \(words)"
        }
    }
}

extension FuzzDial {
    var words: String {
        (query.isEmpty ? "" : " " + query) + (offersDeflate ? " deflate" : "")
            + fieldLines.map(\.words).joined()
    }
}

extension FieldLine {
    /// A field line of a script, with a space before it.
    fileprivate var words: String { " <" + name + ": " + value + ">" }
}

extension FuzzRequest {
    fileprivate var words: String {
        method.lowercased() + " " + target + fieldLines.map(\.words).joined()
            + (body.isEmpty ? "" : " " + ScriptBytes.text(body))
    }
}

extension FuzzRawPart {
    fileprivate var words: String {
        switch self {
        case .bytes(let bytes): ScriptBytes.quoted(bytes)
        case .pause(let time): ScriptTime.text(time)
        case .fin: "fin"
        case .reset: "reset"
        }
    }
}

extension FuzzServing {
    fileprivate var words: String {
        switch self {
        case .well: "well"
        case .hang: "hang"
        case .reset: "reset"
        case .fin: "fin"
        case .status(let status): "status \(status)"
        case .redirect: "redirect"
        case .delay(let time): "delay \(ScriptTime.text(time))"
        case .body(let body): "body \(ScriptBytes.text(body))"
        case .cut(let count): "cut \(count)"
        case .otherID: "other-id"
        }
    }
}

extension FuzzFrame {
    private static let names: [(Opcode, String)] = [
        (.continuation, "continuation"), (.text, "text"), (.binary, "binary"), (.close, "close"),
        (.ping, "ping"), (.pong, "pong"),
    ]

    /// The opcode of that word: a name, or `op3` to `op15`.
    static func opcode(_ word: Substring) -> Opcode? {
        if let known = names.first(where: { $0.1 == word }) { return known.0 }
        guard word.hasPrefix("op"), let number = UInt8(word.dropFirst(2)), number < 16 else {
            return nil
        }
        return Opcode(rawValue: number)
    }

    fileprivate var words: String {
        var words = [
            Self.names.first { $0.0 == opcode }?.1 ?? "op\(opcode.rawValue)"
        ]
        if !fin { words.append("more") }
        if rsv != 0 { words.append("rsv=\(rsv)") }
        if let isMasked { words.append(isMasked ? "masked" : "unmasked") }
        if let announced { words.append("announced=\(announced)") }
        if let lengthForm { words.append("form=\(lengthForm.rawValue)") }
        words.append(ScriptBytes.quoted(payload))
        return words.joined(separator: " ")
    }
}

/// Durations as a script writes them: `5s`, `250ms`, `20us`, `7ns`, `5min`.
package enum ScriptTime {
    private static let units: [(String, Int64)] = [
        ("min", 60 * nanosecondsPerSecond), ("s", nanosecondsPerSecond),
        ("ms", nanosecondsPerMillisecond), ("us", 1000), ("ns", 1),
    ]

    /// The text of so many nanoseconds.
    package static func text(_ time: Int64) -> String {
        guard time > 0 else { return "0s" }
        for (name, size) in units where time % size == 0 && (name != "min" || time > size) {
            return "\(time / size)\(name)"
        }
        return "\(time)ns"
    }

    /// Reads a duration of up to a day; nil for anything else.
    package static func parse(_ text: Substring) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int64(digits),
            let unit = units.first(where: { $0.0 == text.dropFirst(digits.count) })
        else { return nil }
        let (time, overflow) = number.multipliedReportingOverflow(by: unit.1)
        return overflow || time > 86_400 * nanosecondsPerSecond ? nil : time
    }
}
