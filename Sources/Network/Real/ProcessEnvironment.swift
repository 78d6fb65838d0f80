import Glibc

/// The environment of this process.
enum ProcessEnvironment {
    /// All variables by name; of a name that stands twice the first counts, as for getenv(3).
    static var current: [String: String] {
        var variables: [String: String] = [:]
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            let text = unsafe String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                let name = String(text[..<equals])
                if variables[name] == nil {
                    variables[name] = String(text[text.index(after: equals)...])
                }
            }
            unsafe next += 1
        }
        return variables
    }
}
