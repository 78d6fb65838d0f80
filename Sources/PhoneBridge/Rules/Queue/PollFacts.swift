import Capture
import Wire

/// What a poll asks for, as far as it says so beyond doubt.
///
/// A parameter that is given twice, or with a text that is none of its values, counts as unknown:
/// boards read such things in different ways.
struct PollFacts: Sendable {
    enum Limit: Sendable, Equatable {
        case absent
        /// One of the values that the board honours.
        case valid(Int64)
        case odd
    }

    let platform: String?
    let phoneID: String?
    /// Whether there is a `phone_id` that is not plain.
    let hasOddPhoneID: Bool
    let appState: String?
    let pipEnabled: Bool?
    let fgsEnabled: Bool?
    let limit: Limit
    /// Whether `phone_id` is not there at all.
    var hasNoPhoneID: Bool { phoneID == nil && !hasOddPhoneID }

    /// Reads the target of a poll.
    init(_ target: RequestTarget, _ names: Contract.PollParameters) {
        func values(_ name: String) -> [String] {
            target.query.filter { $0.name == name }.map(\.value)
        }
        func single(_ name: String) -> String? {
            let found = values(name)
            return found.count == 1 ? found[0] : nil
        }
        func flag(_ name: String) -> Bool? {
            guard let text = single(name) else { return nil }
            if names.trueTexts.contains(text) { return true }
            return names.falseTexts.contains(text) ? false : nil
        }
        platform = single(names.platform).flatMap { names.platforms.contains($0) ? $0 : nil }
        appState = single(names.appState).flatMap { names.appStates.contains($0) ? $0 : nil }
        pipEnabled = flag(names.pipEnabled)
        fgsEnabled = flag(names.fgsEnabled)
        let phones = values(names.phoneID)
        let isPlain =
            phones.count == 1 && !phones[0].isEmpty
            && phones[0].utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        phoneID = isPlain ? phones[0] : nil
        hasOddPhoneID = !isPlain && !phones.isEmpty
        if values(names.limit).isEmpty {
            limit = .absent
        } else if let text = single(names.limit), let number = Int64(text),
            String(number) == text, names.limits.contains(number)
        {
            limit = .valid(number)
        } else {
            limit = .odd
        }
    }

    /// The route that the poll stands for, where it says all that decides about it.
    var route: Contract.BackgroundRoute? {
        guard let platform, let appState, appState != "active" else { return nil }
        if platform == "android" {
            return appState == "background" && fgsEnabled == true ? .fgs : nil
        }
        return pipEnabled.map { $0 ? .pip : .bleWake }
    }

    /// Whether any command may be handed out to it, for sure.
    var takesEverything: Bool {
        guard let platform, appState == "active" else { return false }
        return platform != "android" || fgsEnabled != false
    }
}

extension ExchangeFact {
    /// The commands in a poll's answer; nil for anything else.
    var commands: [JSONView]? {
        guard response.status == 200, let json else { return nil }
        if json.root.kind == .array { return json.root.elements }
        guard let list = json.root["commands"] else { return nil }
        switch list.kind {
        case .array: return list.elements
        case .null: return []
        default: return nil
        }
    }
}
