package import PhoneBridge
import Wire

/// The phone behind the app: what its commands read and change, all in memory.
package struct Phone: Sendable {
    /// What a user can grant or deny (contract, "Permission Management").
    package typealias Permission = Contract.Permission

    /// What the user has said about a permission.
    package typealias Decision = PermissionDecision

    package let platform: Platform
    package var permissions: [Permission: Decision]
    package var clipboard = ""
    package var calendar = PhoneCalendar()
    package var contacts = PhoneContacts()
    package var notifications = PhoneNotifications()
    package var apps: [InstallableApp]
    /// The targets that were opened, the oldest first; the last thousand.
    package private(set) var opened: [String] = []
    let defects: Set<Defect>
    /// Numbers the ids that the phone gives.
    private var nextNumber = 1

    /// Makes a phone with all permissions, a few contacts and an empty calendar.
    package init(platform: Platform, defects: Set<Defect> = []) {
        self.platform = platform
        self.defects = defects
        permissions = Dictionary(
            uniqueKeysWithValues: Permission.allCases.map { ($0, .granted) })
        apps = InstallableApp.usual
    }

    /// A new id for what the phone makes.
    mutating func makeID(_ prefix: String) -> String {
        defer { nextNumber += 1 }
        return "\(platform.rawValue)_\(prefix)_\(nextNumber)"
    }

    mutating func noteOpened(_ target: String) {
        if opened.count == 1000 { opened.removeFirst() }
        opened.append(target)
    }
}

/// An app that the phone may have.
package struct InstallableApp: Sendable, Equatable {
    /// The name that the environment shows.
    package var name: String
    /// Other names that it is asked for by.
    package var aliases: [String]
    package var isInstalled: Bool
    /// Whether it came with the phone.
    package var isBuiltIn: Bool
    package var iosURL: String
    package var androidPackage: String

    package init(
        name: String, aliases: [String], isInstalled: Bool, isBuiltIn: Bool, iosURL: String,
        androidPackage: String
    ) {
        self.name = name
        self.aliases = aliases
        self.isInstalled = isInstalled
        self.isBuiltIn = isBuiltIn
        self.iosURL = iosURL
        self.androidPackage = androidPackage
    }

    /// Whether `name` is one of its names, in any case of letters.
    func isCalled(_ name: String) -> Bool {
        ([self.name] + aliases).contains { $0.lowercased() == name.lowercased() }
    }

    /// Two apps of the system and two others, one of them not there (contract, "AppEvent").
    static let usual = [
        InstallableApp(
            name: "Camera", aliases: ["相机"], isInstalled: true, isBuiltIn: true,
            iosURL: "camera://", androidPackage: "com.android.camera"),
        InstallableApp(
            name: "Contacts", aliases: ["通讯录"], isInstalled: true, isBuiltIn: true,
            iosURL: "contacts://", androidPackage: "com.android.contacts"),
        InstallableApp(
            name: "WeChat", aliases: ["微信", "weixin"], isInstalled: true, isBuiltIn: false,
            iosURL: "weixin://", androidPackage: "com.tencent.mm"),
        InstallableApp(
            name: "Douyin", aliases: ["抖音"], isInstalled: false, isBuiltIn: false,
            iosURL: "snssdk1128://", androidPackage: "com.ss.android.ugc.aweme"),
    ]
}
