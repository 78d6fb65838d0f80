import Capture
import Wire

/// A file of JSON5 that somebody wrote by hand.
enum WrittenFile {
    /// Reads it, as far as the parser takes it: it refuses what is longer.
    static func read(_ path: String) throws(SourceError) -> Bytes {
        var bytes: Bytes = []
        let source = try SessionFileSource(path: path)
        while true {
            let before = bytes.count
            try source.read(into: &bytes, maximum: 64 * 1024)
            guard bytes.count > before, bytes.count <= JSON5.maximumSize else { return bytes }
        }
    }
}
