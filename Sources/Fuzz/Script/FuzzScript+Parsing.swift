import Capture
import PhoneBridge
import Simulator
import Wire

extension FuzzScript {
    /// Steps of one script.
    package static let maximumSteps = 100_000

    /// Reads the text form; empty lines and those that begin with `#` mean nothing.
    package init(parsing text: String) throws(ScriptTextError) {
        var number = 0
        var script: FuzzScript?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            number += 1
            guard !line.isEmpty, line.first != "#" else { continue }
            do throws(ScriptTextError) {
                if script == nil {
                    script = try Self.header(line)
                } else {
                    try script?.take(line)
                }
            } catch {
                throw ScriptTextError(error.message, line: number)
            }
        }
        guard let script else { throw ScriptTextError("it is empty") }
        self = script
    }

    private static func header(_ line: Substring) throws(ScriptTextError) -> FuzzScript {
        let words = line.split(separator: " ")
        guard words.count == 4 || words.count == 6, words[0] == "bridgetap-fuzz",
            words[2] == "as", let side = Side(rawValue: String(words[3]))
        else {
            throw ScriptTextError(
                "the first line is not `bridgetap-fuzz \(version) as app` or `… as board`")
        }
        guard words[1] == "\(version)" else {
            throw ScriptTextError("version \(words[1]) is not known, \(version) is")
        }
        guard words.count == 6 else { return FuzzScript(as: side) }
        guard words[4] == "to", let platform = Platform(rawValue: String(words[5])) else {
            throw ScriptTextError("the phone's system is `to ios` or `to android`")
        }
        return FuzzScript(as: side, to: platform)
    }

    private mutating func take(_ line: Substring) throws(ScriptTextError) {
        guard steps.count < Self.maximumSteps else { throw ScriptTextError("it is too long") }
        if line.hasPrefix("- ") {
            guard let last = steps.indices.last, let mark = steps[last].mark,
                mark.original == nil
            else {
                throw ScriptTextError("`-` does not follow a step of a mutation")
            }
            steps[last].mark?.original = try Self.action(line.dropFirst(2))
            return
        }
        var rest = line
        var mutation: Mutation?
        if rest.first == "!" {
            let name = rest.dropFirst().prefix { $0 != " " }
            rest = rest.dropFirst(1 + name.count).drop { $0 == " " }
            let parts = name.split(separator: ":", omittingEmptySubsequences: false)
            guard let id = parts.first, !id.isEmpty, parts.count <= 2,
                let rating = Rule.Rating(rawValue: String(parts.count == 2 ? parts[1] : "S"))
            else { throw ScriptTextError("`!` is not followed by a mutation such as C1 or C3:L") }
            mutation = Mutation(String(id), rating)
        }
        var isConcurrent = false
        if rest.hasPrefix("& ") {
            isConcurrent = true
            rest = rest.dropFirst(2)
        }
        steps.append(
            FuzzStep(
                try Self.action(rest), isConcurrent: isConcurrent,
                mark: mutation.map { FuzzStep.Mark($0) }))
    }

    private static func action(_ line: Substring) throws(ScriptTextError) -> FuzzAction {
        var line = ScriptLine(line)
        let action = try line.action()
        try line.end()
        return action
    }
}

/// What is left of a line that is being read.
private struct ScriptLine {
    private var rest: Substring

    init(_ line: Substring) {
        rest = line
    }

    /// The next word; empty at the end.
    private mutating func word() -> Substring {
        rest = rest.drop { $0 == " " }
        let word = rest.prefix { $0 != " " }
        rest = rest.dropFirst(word.count)
        return word
    }

    private mutating func next() -> Character? {
        rest = rest.drop { $0 == " " }
        return rest.first
    }

    private mutating func name(_ what: String) throws(ScriptTextError) -> String {
        let name = word()
        guard !name.isEmpty, name.allSatisfy({ $0.isLetter || $0.isNumber || "-_".contains($0) })
        else { throw ScriptTextError("the name of a \(what) is missing") }
        return String(name)
    }

    private mutating func time() throws(ScriptTextError) -> Int64 {
        let text = word()
        guard let time = ScriptTime.parse(text) else {
            throw ScriptTextError("a time such as 5s or 250ms is missing, at most a day")
        }
        return time
    }

    /// A number of bytes, at least 1; nil for `off`.
    private mutating func size() throws(ScriptTextError) -> Int? {
        let text = word()
        if text == "off" { return nil }
        guard let size = Int(text), (1...ScriptBytes.maximum).contains(size) else {
            throw ScriptTextError("`off` or a number of bytes is missing")
        }
        return size
    }

    private mutating func content() throws(ScriptTextError) -> Bytes {
        _ = next()
        defer { rest = "" }
        return try ScriptBytes.parse(rest)
    }

    private mutating func quoted() throws(ScriptTextError) -> Bytes {
        _ = next()
        return try ScriptBytes.take(&rest)
    }

    private mutating func fieldLines() throws(ScriptTextError) -> [FieldLine] {
        var lines: [FieldLine] = []
        while next() == "<" {
            guard let end = rest.firstIndex(of: ">"),
                let colon = rest[..<end].range(of: ": ")
            else { throw ScriptTextError("a field line is not written as <Name: value>") }
            lines.append(
                FieldLine(
                    String(rest[rest.index(after: rest.startIndex)..<colon.lowerBound]),
                    String(rest[colon.upperBound..<end])))
            rest = rest[rest.index(after: end)...]
        }
        return lines
    }

    func end() throws(ScriptTextError) {
        guard rest.allSatisfy({ $0 == " " }) else {
            throw ScriptTextError("there is too much behind the step: \(rest)")
        }
    }

    mutating func action() throws(ScriptTextError) -> FuzzAction {
        let verb = word()
        switch verb {
        case "wait": return .wait(try time())
        case "text": return .text(try name("link"), try content())
        case "binary": return .binary(try name("link"), try content())
        case "frame": return .frame(try name("link"), try frame())
        case "bytes": return .bytes(try name("link"), try content())
        case "close": return try close()
        case "reset": return .reset(try name("link"))
        case "fin": return .fin(try name("link"))
        case "stall": return .stall(try name("link"))
        case "pause": return .pause(try name("link"))
        case "resume": return .resume(try name("link"))
        case "chop": return .chop(try name("link"), try size())
        case "cork": return .cork(try name("link"))
        case "uncork": return .uncork(try name("link"))
        case "fragment": return .fragment(try name("link"), try size())
        case "enqueue": return .enqueue(try name("command"), try content())
        case "await": return .await(try name("command"), try time())
        case "heal": return .heal
        case "alive": return .alive
        case "bystander": return .bystander
        case "again":
            guard let times = Int(word()), (1...FuzzScript.maximumRounds).contains(times) else {
                throw ScriptTextError(
                    "how often it is done, 1 to \(FuzzScript.maximumRounds), is missing")
            }
            return .again(times)
        case "connect": return try connect()
        case "beats":
            let link = try name("link")
            if next() == "o" {
                guard word() == "off" else { throw ScriptTextError("`off` or a time is missing") }
                return .beats(link, nil)
            }
            return .beats(link, try time())
        case "stimulate": return .stimulate(try name("command"), try content())
        case "raw": return .raw(try rawParts())
        case "accept": return .accept(try name("link"), try time())
        case "command": return .command(try name("command"), try content())
        case "serve": return try serve()
        case "state":
            defer { rest = "" }
            return .state(String(rest.drop { $0 == " " }))
        case "get", "post", "put", "delete", "head", "options", "patch", "trace":
            let target = word()
            guard !target.isEmpty else { throw ScriptTextError("the target is missing") }
            var request = FuzzRequest(verb.uppercased(), String(target))
            request.fieldLines = try fieldLines()
            if next() != nil { request.body = try content() }
            return .request(request)
        default: throw ScriptTextError("`\(verb)` is no step")
        }
    }

    private mutating func close() throws(ScriptTextError) -> FuzzAction {
        let link = try name("link")
        var code: UInt16?
        if let first = next(), first != "\"" {
            code = UInt16(word())
            guard code != nil else { throw ScriptTextError("a close code is 0 to 65535") }
        }
        return .close(link, code: code, reason: next() == nil ? [] : try quoted())
    }

    private mutating func connect() throws(ScriptTextError) -> FuzzAction {
        let link = try name("link")
        var dial = FuzzDial(query: "")
        while let first = next(), first != "<" {
            let text = word()
            if text == "deflate" { dial.offersDeflate = true } else { dial.query = String(text) }
        }
        dial.fieldLines = try fieldLines()
        return .connect(link, dial)
    }

    private mutating func frame() throws(ScriptTextError) -> FuzzFrame {
        guard let opcode = FuzzFrame.opcode(word()) else {
            throw ScriptTextError("the opcode is none of text, binary, close, ping, pong, op3 …")
        }
        var frame = FuzzFrame(opcode)
        while let first = next(), first != "\"" {
            let text = word()
            let parts = text.split(separator: "=", maxSplits: 1)
            let number = parts.count == 2 ? UInt64(parts[1]) : nil
            switch (parts[0], number) {
            case ("more", nil): frame.fin = false
            case ("masked", nil): frame.isMasked = true
            case ("unmasked", nil): frame.isMasked = false
            case ("rsv", let bits?) where bits < 8: frame.rsv = UInt8(bits)
            case ("announced", let length?): frame.announced = length
            case ("form", let form?) where form < 3:
                frame.lengthForm = LengthForm(rawValue: UInt8(form))
            default: throw ScriptTextError("`\(text)` means nothing for a frame")
            }
        }
        frame.payload = try quoted()
        return frame
    }

    private mutating func rawParts() throws(ScriptTextError) -> [FuzzRawPart] {
        var parts: [FuzzRawPart] = []
        while let first = next() {
            if first == "\"" {
                parts.append(.bytes(try quoted()))
                continue
            }
            let text = word()
            switch text {
            case "fin": parts.append(.fin)
            case "reset": parts.append(.reset)
            default:
                guard let time = ScriptTime.parse(text) else {
                    throw ScriptTextError("`\(text)` is no text in quotes, no time, fin or reset")
                }
                parts.append(.pause(time))
            }
        }
        return parts
    }

    private mutating func serve() throws(ScriptTextError) -> FuzzAction {
        guard let service = FuzzService(rawValue: String(word())) else {
            throw ScriptTextError("served are connections, echoes, polls and results")
        }
        let how = word()
        switch how {
        case "well": return .serve(service, .well)
        case "hang": return .serve(service, .hang)
        case "reset": return .serve(service, .reset)
        case "fin": return .serve(service, .fin)
        case "redirect": return .serve(service, .redirect)
        case "other-id": return .serve(service, .otherID)
        case "delay": return .serve(service, .delay(try time()))
        case "body": return .serve(service, .body(try content()))
        case "status", "cut":
            guard let number = Int(word()), (0...65535).contains(number) else {
                throw ScriptTextError("a number is missing behind \(how)")
            }
            return .serve(service, how == "cut" ? .cut(number) : .status(number))
        default: throw ScriptTextError("`\(how)` is no way to serve \(service.rawValue)")
        }
    }
}

extension Substring {
    /// Where a text stands first.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) {
                return start..<index(start, offsetBy: text.count)
            }
            start = index(after: start)
        }
        return nil
    }
}
