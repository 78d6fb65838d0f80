import Arguments
import BridgeProxy
import Capture

extension ArgumentValue where Value == String {
    /// The text of a filter, which is one that can be parsed.
    static var filter: ArgumentValue {
        ArgumentValue("EXPR") { (text) throws(ValueError) in
            do {
                _ = try Filter(parsing: text)
                return text
            } catch {
                throw ValueError("\(error)")
            }
        }
    }
}

extension ArgumentValue where Value == String {
    /// The text of faults, which is one that can be parsed.
    static var faults: ArgumentValue {
        ArgumentValue("SPEC") { (text) throws(ValueError) in
            do {
                _ = try FaultSpec(parsing: text)
                return text
            } catch {
                throw ValueError("\(error)")
            }
        }
    }
}
