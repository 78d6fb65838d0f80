extension Contract {
    /// Version 1.2 of 2026-08-13.
    package static let v1_2: Contract = {
        var contract = Contract(
            version: "1.2", commands: V1_2.commands, events: V1_2.events, errors: V1_2.errors)
        contract.bodies = V1_2.bodies
        return contract
    }()
}

/// The tables of version 1.2.
enum V1_2 {}
