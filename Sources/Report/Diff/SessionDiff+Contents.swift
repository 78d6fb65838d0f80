import Capture
import PhoneBridge
import Wire

extension SessionDiff {
    typealias Knowledge = FieldComparison.Knowledge

    func command(_ type: Contract.CommandType?) -> Knowledge {
        Knowledge(
            type: .object(
                [
                    .init("type", .string, required: true),
                    .init("timeout_ms", .integer, default: 5000),
                    .init("payload", .object(type?.payload ?? [])),
                    .init("phone_id", .string, personal: .id),
                ] + (type?.fields ?? [])), personal: Contract.Personal.none)
    }

    static func error(named name: String) -> Contract.Field {
        .init(
            name,
            .object([
                .init("category", .string, required: true),
                .init("code", .string, required: true),
                .init("message", .string, personal: .note),
                .init("details", .anyObject, personal: .note),
            ]))
    }

    func result(_ type: Contract.CommandType?) -> Knowledge {
        Knowledge(
            type: .object([
                .init("method", .string), Self.error(named: "error"),
                .init("data", .object(type?.data ?? [])),
            ]), personal: Contract.Personal.none)
    }

    func event(_ type: Contract.EventType?) -> Knowledge {
        Knowledge(
            type: .object([
                .init("method", .string), .init("data", .object(type?.data ?? [])),
            ]), personal: Contract.Personal.none)
    }

    /// Compares two contents of the spools, of which neither is compared where one is not there.
    mutating func compare(
        _ left: DiffSession.Content?, _ right: DiffSession.Content?, _ name: String,
        _ known: Knowledge, birth: String? = nil, into fields: inout FieldComparison
    ) throws(OutputError) {
        guard let left, let right else { return }
        let bytes = (try first.read(left), try second.read(right))
        // What is the same to the byte has no differences; that is most of it.
        guard bytes.0 != bytes.1 || ledger.seesAll else { return }
        guard let one = Self.parse(bytes.0), let other = Self.parse(bytes.1) else {
            if bytes.0 != bytes.1 {
                fields.add(FieldDifference(path: name, kind: .changed, first: nil, second: nil))
            }
            return
        }
        compare(one, other, name, known, birth: birth, into: &fields)
    }

    /// Compares two values, by what the contract knows of the whole.
    mutating func compare(
        _ one: JSON?, _ other: JSON?, _ name: String, _ known: Knowledge, birth: String? = nil,
        into fields: inout FieldComparison
    ) {
        var comparison = FieldComparison()
        comparison.birth = birth
        comparison.compare(one, other, at: name, known, &ledger)
        fields.add(comparison) { settled($0, at: name, one, other) }
    }

    /// A value without the id, which tells one command from another and says nothing more.
    static func parse(_ bytes: Bytes) -> JSON? {
        guard let value = try? JSON(parsing: bytes) else { return nil }
        guard case .object(let members) = value else { return value }
        return .object(members.filter { $0.name != "id" })
    }

    /// A difference as the contract judges it, for what is not told by its type alone.
    private func settled(
        _ difference: FieldDifference, at root: String, _ one: JSON?, _ other: JSON?
    ) -> FieldDifference {
        var difference = difference
        guard !difference.isByRule else { return difference }
        if root == "event" { return settled(event: difference, one, other) }
        guard difference.kind == .changed else { return difference }
        switch difference.path.dropFirst(root.utf8.count) {
        case ".method":
            let known = Set(contract.commands.flatMap(\.methods))
            if !isOnePlatform,
                let left = difference.first?.stringValue, known.contains(left),
                let right = difference.second?.stringValue, known.contains(right)
            {
                difference.kind = .method
            }
        case ".error.message":
            if one?["error"]?["code"] == other?["error"]?["code"],
                one?["error"]?["category"] == other?["error"]?["category"]
            {
                difference.kind = .wording
            }
        default: break
        }
        return difference
    }
}
