package import PhoneBridge
import Wire

/// Ids and a phone that a target has not met yet, for one that cannot be started anew: what it
/// remembers of the runs before is of others then (fuzzing plan, 3.11).
package struct FreshNames: Sendable {
    /// What is put in front of ids.
    private let prefix: Bytes
    private let phoneID: Bytes
    /// Ids that mean something by themselves.
    private let reserved: Set<String>

    /// - Parameters:
    ///   - start: when the program's first run began, in seconds.
    ///   - run: the number of the run.
    package init(start: Int64, run: Int, contract: Contract) {
        prefix = Bytes("\(String(max(0, start), radix: 36))-\(run)-".utf8)
        phoneID = Bytes(contract.poll.phoneID.utf8)
        reserved = Set(contract.reservedIDs)
    }

    /// The script with ids of its own; what is nearly an id stays as near to it.
    package func applied(to script: FuzzScript) -> FuzzScript {
        let ids = ids(in: script)
        var script = script
        for index in script.steps.indices {
            script.steps[index].action = renamed(script.steps[index].action, ids)
        }
        return script
    }

    /// The ids of its commands, in lower case, the longest first.
    private func ids(in script: FuzzScript) -> [Bytes] {
        var ids: Set<Bytes> = []
        for step in script.steps {
            let json: JSON?
            switch step.action {
            case .stimulate(_, let text), .enqueue(_, let text), .command(_, let text):
                json = try? JSON(parsing: text)
            case .request(let request) where request.method == "POST":
                json = (try? JSON(parsing: request.body))?["command"]
            default: continue
            }
            guard let id = json?["id"]?.stringValue, id.utf8.count > 1, !reserved.contains(id)
            else { continue }
            ids.insert(Bytes(id.utf8).map(Self.lowercased))
        }
        return ids.sorted {
            $0.count != $1.count ? $0.count > $1.count : $0.lexicographicallyPrecedes($1)
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private func renamed(_ action: FuzzAction, _ ids: [Bytes]) -> FuzzAction {
        switch action {
        case .text(let link, let content): return .text(link, renamed(content, ids))
        case .binary(let link, let content): return .binary(link, renamed(content, ids))
        case .bytes(let link, let bytes): return .bytes(link, renamed(bytes, ids))
        case .frame(let link, var frame):
            frame.payload = renamed(frame.payload, ids)
            return .frame(link, frame)
        case .stimulate(let name, let json): return .stimulate(name, renamed(json, ids))
        case .command(let name, let json): return .command(name, renamed(json, ids))
        case .enqueue(let name, let json): return .enqueue(name, renamed(json, ids))
        case .connect(let link, var dial):
            dial.query = renamed(dial.query, ids)
            return .connect(link, dial)
        case .request(var request):
            request.target = renamed(request.target, ids)
            request.body = renamed(request.body, ids)
            return .request(request)
        default: return action
        }
    }

    private func renamed(_ text: String, _ ids: [Bytes]) -> String {
        String(decoding: renamed(Bytes(text.utf8), ids), as: UTF8.self)
    }

    /// Puts the prefix before each id that a quotation mark or a slash stands before, and before the
    /// phone's id.
    private func renamed(_ content: Bytes, _ ids: [Bytes]) -> Bytes {
        var result: Bytes = []
        result.reserveCapacity(content.count)
        let folded = content.map(Self.lowercased)
        var index = 0
        while index < content.count {
            if let length = place(at: index, in: folded, ids) {
                result += prefix
                result += content[index..<index + length]
                index += length
            } else {
                result.append(content[index])
                index += 1
            }
        }
        return result
    }

    /// How long the id is that begins there; nil where none does.
    private func place(at index: Int, in folded: Bytes, _ ids: [Bytes]) -> Int? {
        var before = index - 1
        while before >= 0, folded[before] == 0x20 { before -= 1 }
        guard before >= 0 else { return nil }
        switch folded[before] {
        case UInt8(ascii: "\""), UInt8(ascii: "/"):
            return ids.first { folded[index...].starts(with: $0) }?.count
        case UInt8(ascii: "="):
            let name = folded[..<before].suffix(phoneID.count)
            guard before == index - 1, name.elementsEqual(phoneID),
                folded[index] != UInt8(ascii: "&")
            else { return nil }
            return 1
        default: return nil
        }
    }
}
