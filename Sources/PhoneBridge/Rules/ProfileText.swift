package import Wire

/// Reads the text of a profile, JSON5 (docs/profiles.md).
///
/// Numbers take the place of those of the profile that it `extends`; counted rules, waivers and
/// deviations come on top of them.
package struct ProfileText {
    /// The rules that there are.
    private let rules: [Rule]
    /// Finds the profile that another one extends.
    private let base: (String) throws(ProfileError) -> Profile
    private var profile: Profile

    private init(
        name: String, rules: [Rule], base: @escaping (String) throws(ProfileError) -> Profile
    ) {
        self.rules = rules
        self.base = base
        profile = Profile.contract
        profile.name = name
    }

    /// Parses a text.
    ///
    /// - Parameters:
    ///   - name: what the profile is called unless the text says so itself.
    ///   - rules: the rules that it can speak of.
    ///   - base: gives the profile that it extends; called at most once.
    package static func parse(
        _ text: Bytes, name: String, rules: [Rule],
        base: @escaping (String) throws(ProfileError) -> Profile
    ) throws(ProfileError) -> Profile {
        let value: JSON5
        do throws(JSON5Error) {
            value = try JSON5(parsing: text)
        } catch {
            throw ProfileError(.syntax(error), at: error.place)
        }
        var reader = ProfileText(name: name, rules: rules, base: base)
        try reader.read(value)
        return reader.profile
    }

    // MARK: Keys

    private static let durations:
        [(key: String, path: any WritableKeyPath<Profile, Int64> & Sendable)] = [
            ("slack_ms", \.slackMilliseconds),
            ("queue_wait_minimum_ms", \.queueWaitMinimumMilliseconds),
            ("heartbeat_echo_ms", \.heartbeatEchoMilliseconds),
            ("heartbeat_sweep_ms", \.heartbeatSweepMilliseconds),
            ("queue_sweep_ms", \.queueSweepMilliseconds),
        ]

    /// Those that may be unknown, which `null` says.
    private static let openNumbers:
        [(key: String, path: any WritableKeyPath<Profile, Int64?> & Sendable)] = [
            ("in_flight_ms", \.inFlightMilliseconds),
            ("queue_life_ms", \.queueLifeMilliseconds),
            ("result_retention_ms", \.resultRetentionMilliseconds),
            ("default_poll_limit", \.defaultPollLimit),
            ("maximum_message_size", \.maximumMessageSize),
        ]

    private static let otherKeys = [
        "extends", "name", "time_scale", "maximum_redeliveries", "counted", "waivers",
        "deviations",
    ]

    /// Every key of a profile.
    package static let keys =
        otherKeys + durations.map(\.key) + openNumbers.map(\.key)

    private mutating func read(_ value: JSON5) throws(ProfileError) {
        let members = try Self.members(of: value, what: "a profile")
        try Self.check(members, against: Self.keys)
        // The others build on it, wherever it stands.
        for member in members where member.name == "extends" {
            let name = profile.name
            let extended = try Self.string(member)
            do throws(ProfileError) {
                profile = try base(extended)
            } catch {
                throw ProfileError(error.reason, at: error.place ?? member.value.place)
            }
            profile.name = name
        }
        for member in members { try read(member) }
    }

    private mutating func read(_ member: JSON5.Member) throws(ProfileError) {
        if let (_, path) = Self.durations.first(where: { $0.key == member.name }) {
            profile[keyPath: path] = try Self.number(member)
            return
        }
        if let (_, path) = Self.openNumbers.first(where: { $0.key == member.name }) {
            profile[keyPath: path] = try Self.openNumber(member)
            return
        }
        switch member.name {
        case "name": profile.name = try Self.string(member)
        case "time_scale": profile.timeScale = try Self.scale(member)
        case "maximum_redeliveries":
            profile.maximumRedeliveries = try Self.openNumber(member).map { Int(clamping: $0) }
        case "counted": try readCounted(member)
        case "waivers":
            for element in try Self.elements(member) { try readWaiver(element) }
        case "deviations":
            for deviation in try Self.members(of: member.value, what: "deviations") {
                profile.deviations[try rule(deviation.name, at: deviation.place).id] =
                    try Self.string(deviation)
            }
        default: break
        }
    }

    private mutating func readCounted(_ member: JSON5.Member) throws(ProfileError) {
        if case .string("all") = member.value.content {
            profile.countedRules.formUnion(
                rules.lazy.filter { $0.rating == .likely }.map(\.id))
            return
        }
        for element in try Self.elements(member, or: "\"all\", or a list of rules") {
            guard case .string(let id) = element.content else {
                throw ProfileError(
                    .wrongValue(key: member.name, expected: "\"all\", or a list of rules"),
                    at: element.place)
            }
            let rule = try rule(id, at: element.place)
            guard rule.rating == .likely else {
                throw ProfileError(.notCountable(id, rule.rating), at: element.place)
            }
            profile.countedRules.insert(id)
        }
    }

    private mutating func readWaiver(_ value: JSON5) throws(ProfileError) {
        let members = try Self.members(of: value, what: "a waiver")
        try Self.check(members, against: ["rule", "reason", "until"])
        var texts: [String: String] = [:]
        for member in members {
            let text = try Self.string(member)
            texts[member.name] = text
            if member.name == "rule" { _ = try rule(text, at: member.value.place) }
            if member.name == "until", Timestamp(text + "T00:00:00Z") == nil {
                throw ProfileError(.notADate(text), at: member.value.place)
            }
        }
        guard let rule = texts["rule"] else {
            throw ProfileError(.missingKey("rule"), at: value.place)
        }
        // Nobody remembers in a year why.
        guard let reason = texts["reason"], !reason.isEmpty else {
            throw ProfileError(.missingKey("reason"), at: value.place)
        }
        profile.waivers.append(Profile.Waiver(rule: rule, reason: reason, until: texts["until"]))
    }

    private func rule(_ id: String, at place: JSON5.Place) throws(ProfileError) -> Rule {
        if let rule = rules.first(where: { $0.id == id }) { return rule }
        throw ProfileError(
            .unknownRule(id, nearest: nearestWord(to: id, among: rules.map(\.id))), at: place)
    }
}

// MARK: - Values

extension ProfileText {
    private static func check(
        _ members: [JSON5.Member], against keys: [String]
    ) throws(ProfileError) {
        var seen: Set<String> = []
        for member in members {
            guard keys.contains(member.name) else {
                throw ProfileError(
                    .unknownKey(
                        member.name, nearest: nearestWord(to: member.name, among: keys)),
                    at: member.place)
            }
            guard seen.insert(member.name).inserted else {
                throw ProfileError(.keyTwice(member.name), at: member.place)
            }
        }
    }

    private static func members(
        of value: JSON5, what: String
    ) throws(ProfileError) -> [JSON5.Member] {
        guard case .object(let members) = value.content else {
            throw ProfileError(.wrongValue(key: what, expected: "an object"), at: value.place)
        }
        return members
    }

    private static func elements(
        _ member: JSON5.Member, or expected: String = "a list"
    ) throws(ProfileError) -> [JSON5] {
        guard case .array(let elements) = member.value.content else {
            throw wrong(member, expected)
        }
        return elements
    }

    private static func string(_ member: JSON5.Member) throws(ProfileError) -> String {
        guard case .string(let text) = member.value.content, !text.isEmpty else {
            throw wrong(member, "a text")
        }
        return text
    }

    /// More would leave a sum of durations no room, and a year is more than any of them.
    private static let maximumNumber: Int64 = 365 * 86_400_000

    private static func number(_ member: JSON5.Member) throws(ProfileError) -> Int64 {
        guard let number = member.value.json.integerValue, (0...maximumNumber).contains(number)
        else { throw wrong(member, "a whole number from 0 to \(maximumNumber)") }
        return number
    }

    private static func openNumber(_ member: JSON5.Member) throws(ProfileError) -> Int64? {
        if case .null = member.value.content { return nil }
        return try number(member)
    }

    private static func scale(_ member: JSON5.Member) throws(ProfileError) -> Double {
        guard let scale = member.value.json.numberText.flatMap(Double.init),
            (0.001...1_000_000).contains(scale)
        else { throw wrong(member, "a number from 0.001 to 1000000") }
        return scale
    }

    private static func wrong(_ member: JSON5.Member, _ expected: String) -> ProfileError {
        ProfileError(.wrongValue(key: member.name, expected: expected), at: member.value.place)
    }
}
