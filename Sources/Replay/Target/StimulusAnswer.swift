package import Wire

/// What a stimulus gave back, read as what the board made of the phone's answer.
package enum StimulusAnswer {
    /// The answer's object; nil where the text is no JSON object with the contract's response
    /// fields.
    ///
    /// The fields are a string `id`, and `data`, or an `error` that is an object (contract,
    /// "BridgeCommandResponse"). A success without data has neither: then nothing may stand there
    /// that the contract does not know, so that the `{"id":"job-7","status":"started"}` of some
    /// other interface is not taken for one.
    package static func read(_ text: Bytes) -> JSON? {
        guard let value = try? JSON(parsing: text), let members = value.members,
            value["id"]?.stringValue != nil
        else { return nil }
        if let error = value["error"] {
            guard error.kind == .object else { return nil }
            return value
        }
        if value["data"] != nil { return value }
        guard members.allSatisfy({ $0.name == "id" || $0.name == "method" }) else { return nil }
        return value
    }
}
