import Wire

/// The contacts of the phone (contract, commands 7 to 9).
package struct PhoneContacts: Sendable {
    package struct Entry: Sendable, Equatable {
        package var contactID: String
        package var name: String
        package var phoneNumbers: [String] = []
        package var emails: [String] = []
        package var organization: String?
        /// Kept on Android only.
        package var notes: String?
    }

    /// In the order of creation.
    package private(set) var entries: [Entry]

    /// Contacts that the phone holds.
    static let maximumCount = 10_000
    /// How many a query returns unless it says otherwise.
    private static let defaultLimit = 20

    /// Makes a book with two invented people.
    package init() {
        entries = [
            Entry(
                contactID: "contact_41", name: "Wei Testmann",
                phoneNumbers: ["+1 202 555 0123"], emails: ["wei@example.com"]),
            Entry(
                contactID: "contact_42", name: "张测试", phoneNumbers: ["+86 100 0000 0001"],
                emails: ["ceshi@example.cn"]),
        ]
    }

    /// Makes a book with these people.
    package init(_ entries: [Entry]) {
        self.entries = entries
    }

    /// The contacts whose name or number has a command's text in it.
    func query(_ payload: CommandPayload) throws(CommandResponse.Failure) -> JSON {
        let query = try payload.text("query") ?? ""
        let limit = try payload.integer("limit") ?? Self.defaultLimit
        guard limit >= 1 else { throw .invalidArguments("limit must be at least 1") }
        let found = entries.lazy.filter { $0.matches(query) }.prefix(limit).map(\.json)
        return .object([JSON.Member("contacts", .array(Array(found)))])
    }

    /// Adds the contact of a command's payload, and returns its id.
    mutating func create(
        _ payload: CommandPayload, id: String, platform: Platform
    ) throws(CommandResponse.Failure) -> String {
        var entry = Entry(contactID: "", name: try payload.requiredText("name"))
        try entry.overwrite(with: payload, platform: platform)
        guard entries.count < Self.maximumCount else {
            throw .init("internal", "native_module_failed", "The contacts are full")
        }
        entry.contactID = id
        entries.append(entry)
        return entry.contactID
    }

    /// Overwrites what a command's payload has of a contact.
    mutating func update(
        _ payload: CommandPayload, platform: Platform
    ) throws(CommandResponse.Failure) {
        let id = CommandID(try payload.requiredText("contact_id"))
        let index = entries.firstIndex { CommandID($0.contactID) == id }
        var entry = index.map { entries[$0] } ?? Entry(contactID: "", name: "")
        try entry.overwrite(with: payload, platform: platform)
        guard let index else { throw .notFound("Contact", nativeCode: "contact_not_found") }
        entries[index] = entry
    }
}

extension PhoneContacts.Entry {
    /// Takes the fields that are there; none when one is of the wrong type.
    fileprivate mutating func overwrite(
        with payload: CommandPayload, platform: Platform
    ) throws(CommandResponse.Failure) {
        let name = try payload.text("name")
        if let name, name.isEmpty { throw .invalidArguments("name must not be empty") }
        let phoneNumbers = try payload.texts("phone_numbers")
        let emails = try payload.texts("emails")
        let organization = try payload.text("organization")
        let notes = try payload.text("notes")
        if let name { self.name = name }
        if let phoneNumbers { self.phoneNumbers = phoneNumbers }
        if let emails { self.emails = emails }
        if let organization { self.organization = organization }
        // iOS ignores notes: reading them needs an entitlement (contract, "contacts_create").
        if let notes, platform == .android { self.notes = notes }
    }

    /// Whether the name has the query in it, in any case, or a number has its digits.
    fileprivate func matches(_ query: String) -> Bool {
        guard !query.isEmpty else { return true }
        if Bytes(name.lowercased().utf8).contains(run: Bytes(query.lowercased().utf8)) {
            return true
        }
        let isNumber = query.utf8.allSatisfy {
            (0x30...0x39).contains($0) || "+-() ".utf8.contains($0)
        }
        let digits = Self.digits(of: query)
        return isNumber && !digits.isEmpty
            && phoneNumbers.contains { Self.digits(of: $0).contains(run: digits) }
    }

    private static func digits(of text: String) -> Bytes {
        text.utf8.filter { (0x30...0x39).contains($0) }
    }

    /// The contact as a query shows it.
    fileprivate var json: JSON {
        .object([
            JSON.Member("contact_id", .string(contactID)), JSON.Member("name", .string(name)),
            JSON.Member("phone_numbers", .array(phoneNumbers.map { .string($0) })),
            JSON.Member("emails", .array(emails.map { .string($0) })),
        ])
    }
}

extension Bytes {
    /// Whether `run` stands somewhere in these bytes.
    fileprivate func contains(run: Bytes) -> Bool {
        guard let first = run.first else { return true }
        guard count >= run.count else { return false }
        return (0...(count - run.count)).contains { start in
            self[start] == first && self[start..<start + run.count].elementsEqual(run)
        }
    }
}
