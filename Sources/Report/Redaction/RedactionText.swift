package import PhoneBridge
import Wire

/// What redaction touched, or what a scan found, for a terminal.
package struct RedactionText {
    private let manifest: RedactionManifest
    private let result: Result

    private enum Result {
        case redacted(keyID: String)
        /// A raw session, with so many values that tell of people.
        case raw(count: Int)
        case scanned([RedactionScan.Remain], count: Int)
    }

    /// Places that are told one by one.
    private static let maximumPlaces = 20

    package init(_ manifest: RedactionManifest, keyID: String) {
        self.manifest = manifest
        result = .redacted(keyID: keyID)
    }

    /// Tells of a scan that has come to its end.
    package init(_ scan: RedactionScan) {
        manifest = scan.manifest
        result =
            scan.isRedacted
            ? .scanned(scan.remains, count: scan.remainCount) : .raw(count: scan.count)
    }

    /// A scan as a line of JSON.
    package func line(name: String) -> String {
        var members: [JSON.Member] = [.init("session", .string(name))]
        switch result {
        case .redacted: break
        case .raw(let count):
            members += [.init("redacted", false), .init("found", .integer(count))]
        case .scanned(let remains, let count):
            members += [.init("redacted", true), .init("found", .integer(count))]
            members.append(
                .init(
                    "remains",
                    .array(
                        remains.map {
                            ["seq": .integer($0.seq), "kind": .string($0.kind.rawValue)]
                        })))
            return JSON.object(members).description + "\n"
        }
        members.append(.init("would_touch", manifest.json))
        return JSON.object(members).description + "\n"
    }

    /// The lines about the file with this name: counts by kind, then by field.
    package func text(name: String) -> String {
        var text: String
        switch result {
        case .redacted(let keyID):
            text =
                "\(visible(name)): \(manifest.changedEvents) of "
                + "\(counted(manifest.events, "event")) changed, key \(keyID)\n"
        case .raw(let count):
            text = "\(visible(name)): not redacted; \(counted(count, "value")) may tell of people\n"
            guard count > 0 else { return text }
        case .scanned(let remains, let count):
            return scanned(name, remains, count)
        }
        text += rows("kinds", manifest.kinds)
        text += rows("found within texts", manifest.found)
        text += rows("fields", manifest.fields)
        if manifest.recompressed > 0 {
            text += "  \(counted(manifest.recompressed, "message")) compressed again\n"
        }
        if manifest.filler > 0 {
            text +=
                "  \(counted(Int(clamping: manifest.filler), "byte")) of filler for what could "
                + "not be read\n"
        }
        if manifest.givenUp > 0 {
            text += "  \(counted(manifest.givenUp, "message")) given up: compressed and too large\n"
        }
        if manifest.rebuiltHeads > 0 {
            text += "  \(counted(manifest.rebuiltHeads, "odd head")) made anew\n"
        }
        return text
    }

    private func scanned(
        _ name: String, _ remains: [RedactionScan.Remain], _ count: Int
    ) -> String {
        var text =
            "\(visible(name)): redacted; "
            + (count == 0 ? "nothing" : counted(count, "place")) + " still looks personal\n"
        for remain in remains.prefix(Self.maximumPlaces) {
            let what =
                switch remain.kind {
                case .email: "an e-mail address at a host that is not reserved"
                case .host: "a host that is not reserved"
                case .phone: "a phone number in what redaction keeps"
                }
            text += "  seq \(remain.seq)  \(what)\n"
        }
        if count > Self.maximumPlaces { text += "  and \(count - Self.maximumPlaces) more\n" }
        return text
    }

    private func rows(_ title: String, _ counts: [String: Int]) -> String {
        guard !counts.isEmpty else { return "" }
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let width = sorted.map { String($0.value).count }.max() ?? 0
        return "  \(title)\n"
            + sorted.map { name, count in
                let digits = String(count)
                let pad = String(repeating: " ", count: width - digits.count)
                return "    \(pad)\(digits)  \(visible(name))\n"
            }.joined()
    }
}
