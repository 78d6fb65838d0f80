import PhoneBridge
import Wire

/// The events that the app sends about its phone (contract, "AppEvent").
extension Phone {
    /// The message of a `phone_environment` event.
    func environmentEvent(at now: Moment) -> JSON {
        event(
            "phone_environment",
            [
                ("captured_at", .string(Timestamp(wall: now.wall).wholeSecondsText)),
                ("source", "aiden-app"), ("platform", .string(platform.rawValue)),
                ("system_name", platform == .ios ? "iOS" : "Android"),
                ("system_version", platform == .ios ? "18.5" : "15"),
                ("is_tablet", false), ("locale", "zh-Hans-CN"), ("language", "zh"),
                ("region", "CN"), ("time_zone", "Asia/Shanghai"), ("utc_offset_minutes", 480),
                ("utc_offset", "+08:00"), ("uses_24_hour_clock", true),
                ("manufacturer", platform == .ios ? "Apple" : "Google"),
                ("brand", platform == .ios ? "Apple" : "google"),
                ("model", platform == .ios ? "iPhone16,2" : "Pixel 9"),
                ("screen", screen), ("battery", battery),
                ("system_apps", .array(apps.filter(\.isBuiltIn).map { entry($0) })),
                ("third_party_apps", .array(apps.filter { !$0.isBuiltIn }.map { entry($0) })),
                (
                    "available_apps",
                    .array(apps.filter { !$0.isBuiltIn }.map { entry($0, isSummary: true) })
                ),
            ])
    }

    /// The message of a `phone_app_state` event.
    func appStateEvent(_ state: String, mode: BackgroundMode?, at now: Moment) -> JSON {
        let hasEntry = platform == .ios && state == "background" && mode != nil
        return event(
            "phone_app_state",
            [
                ("app_state", .string(state)),
                ("return_entry", hasEntry ? "dynamic_island" : "none"),
                ("return_entry_available", .bool(hasEntry)),
                ("pip_bridge_enabled", .bool(mode == .pip)),
                ("reported_at", .string(Timestamp(wall: now.wall).wholeSecondsText)),
            ])
    }

    private func event(_ name: String, _ data: [(String, JSON)]) -> JSON {
        .object([
            JSON.Member("id", .string(name)), JSON.Member("method", .string(name)),
            JSON.Member("data", object(data)),
        ])
    }

    private func object(_ members: [(String, JSON)]) -> JSON {
        .object(members.map { JSON.Member($0.0, $0.1) })
    }

    private var screen: JSON {
        switch platform {
        case .ios:
            object([
                ("width", 393), ("height", 852), ("width_pixels", 1179), ("height_pixels", 2556),
                ("scale", 3),
            ])
        case .android:
            object([
                ("width", 411), ("height", 923), ("width_pixels", 1080), ("height_pixels", 2424),
                ("density", .number("2.625")), ("density_dpi", 420),
            ])
        }
    }

    private var battery: JSON {
        object([("level", .number("0.87")), ("charging", true), ("state", "charging")])
    }

    /// An app's entry; the summary is the form that older boards know.
    private func entry(_ app: InstallableApp, isSummary: Bool = false) -> JSON {
        var members: [(String, JSON)] = [
            ("name", .string(app.name)), ("available", .bool(app.isInstalled)),
            ("category", app.isBuiltIn ? "system" : "third_party"),
        ]
        if !isSummary {
            let probe: JSON = platform == .ios ? "can_open_url" : "package_launchability"
            members.append(("availability_source", app.isBuiltIn ? "builtin" : probe))
        }
        if !app.isBuiltIn {
            members.append(
                platform == .ios
                    ? ("ios_url", .string(app.iosURL))
                    : ("android_package", .string(app.androidPackage)))
        }
        return object(members)
    }
}
