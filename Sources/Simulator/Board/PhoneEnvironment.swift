import Wire

/// The environment that a phone reports, reduced to the fields that the board keeps
/// (contract, "AppEvent"; board-http-facts, "Heartbeat and events").
struct PhoneEnvironment {
    /// As it stands in the status document.
    let json: JSON

    /// What a field must be.
    private enum Kind {
        case text
        case flag
        case number
        case integer
        case object([(String, Kind)], isAlwaysThere: Bool)
        case list([(String, Kind)])
    }

    private static let screen: [(String, Kind)] = [
        ("width", .number), ("height", .number), ("width_pixels", .integer),
        ("height_pixels", .integer), ("native_width_pixels", .integer),
        ("native_height_pixels", .integer), ("scale", .number), ("native_scale", .number),
        ("density", .number), ("density_dpi", .integer), ("scaled_density", .number),
    ]
    private static let battery: [(String, Kind)] = [
        ("level", .number), ("charging", .flag), ("state", .text),
    ]
    private static let app: [(String, Kind)] = [
        ("name", .text), ("available", .flag), ("category", .text),
        ("availability_source", .text), ("ios_url", .text), ("android_package", .text),
        ("note", .text), ("error", .text),
    ]
    private static let fields: [(String, Kind)] = [
        ("captured_at", .text), ("source", .text), ("platform", .text), ("system_name", .text),
        ("system_version", .text), ("is_tablet", .flag), ("locale", .text), ("language", .text),
        ("region", .text), ("time_zone", .text), ("utc_offset_minutes", .integer),
        ("utc_offset", .text), ("uses_24_hour_clock", .flag), ("device_name", .text),
        ("manufacturer", .text), ("brand", .text), ("model", .text),
        ("screen", .object(screen, isAlwaysThere: true)),
        ("battery", .object(battery, isAlwaysThere: true)),
        ("system_apps", .list(app)), ("third_party_apps", .list(app)),
        ("available_apps", .list(app)),
    ]

    /// Takes the data of a `phone_environment` event; a wrong type anywhere refuses all of it.
    ///
    /// Without a `platform` it gets the connection's.
    init(_ data: JSON, platform: String) throws(FieldError) {
        let fields = try JSONFields(data, path: "data", ignoresCase: true)
        var members = try Self.read(Self.fields, from: fields)
        let isNamed = members.contains { $0.name == "platform" }
        if !isNamed, !platform.isEmpty {
            let index = members.firstIndex { !["captured_at", "source"].contains($0.name) }
            members.insert(
                JSON.Member("platform", .string(platform)), at: index ?? members.endIndex)
        }
        json = .object(members)
    }

    private static func read(
        _ kinds: [(String, Kind)], from fields: JSONFields
    ) throws(FieldError) -> [JSON.Member] {
        var members: [JSON.Member] = []
        for (name, kind) in kinds {
            if let value = try read(name, kind, from: fields) {
                members.append(JSON.Member(name, value))
            }
        }
        return members
    }

    private static func read(
        _ name: String, _ kind: Kind, from fields: JSONFields
    ) throws(FieldError) -> JSON? {
        switch kind {
        case .text:
            return try fields.string(name).flatMap { $0.isEmpty ? nil : .string($0) }
        case .flag:
            return try fields.bool(name).map { .bool($0) }
        case .number:
            return try fields.number(name).map { .number($0) }
        case .integer:
            return try fields.integer(name).map { .number(String($0)) }
        case .object(let kinds, let isAlwaysThere):
            guard let object = try fields.object(name) else {
                return isAlwaysThere ? .object([]) : nil
            }
            return .object(try read(kinds, from: object))
        case .list(let kinds):
            guard let elements = try fields.array(name) else { return nil }
            var objects: [JSON] = []
            for element in elements {
                let object = try JSONFields(
                    element, path: fields.path + name + "[]", ignoresCase: true)
                objects.append(.object(try read(kinds, from: object)))
            }
            return .array(objects)
        }
    }
}
