import Capture
import Wire

/// A file that a person wrote and a command line names.
enum JSON5Input {
    /// Reads and parses it; what is wrong is told with its place in the file.
    ///
    /// - Parameters:
    ///   - flag: what named it.
    ///   - hint: where it stands what may be in it.
    static func load<Value>(
        _ path: String, for flag: String, hint: String,
        _ parse: (Bytes) throws(JSON5FieldError) -> Value
    ) throws -> Value {
        let bytes: Bytes
        do throws(SourceError) {
            bytes = try WrittenFile.read(path)
        } catch {
            throw Failure(
                .badInput,
                "\(flag): cannot read \(path): \(SystemError(error.errno, call: error.call))")
        }
        do throws(JSON5FieldError) {
            return try parse(bytes)
        } catch {
            throw Failure(.badInput, "\(path), \(error)", hint: hint)
        }
    }
}
