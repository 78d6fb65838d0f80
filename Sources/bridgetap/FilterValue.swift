import Arguments
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
