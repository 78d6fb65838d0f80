import Foundation

/// An expected text that stands in a file of its own, in `Golden/` beside the test.
///
/// `UPDATE_GOLDEN=1` rewrites the files from what the program does now; the change is then
/// read in the diff before it is committed.
package struct GoldenFile: Sendable {
    private let url: URL

    /// The file `Golden/NAME` in the folder of the test source that makes it.
    package init(_ name: String, beside source: String = #filePath) {
        url = URL(fileURLWithPath: source).deletingLastPathComponent()
            .appendingPathComponent("Golden").appendingPathComponent(name)
    }

    /// A file anywhere, such as a page of documentation.
    package init(path: String) {
        url = URL(fileURLWithPath: path)
    }

    /// What differs between the file and `actual`; nil where they are equal.
    ///
    /// The text names the first line that differs, as it is and as it should be.
    package func difference(from actual: String) -> String? {
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            do {
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(actual.utf8).write(to: url)
                return nil
            } catch {
                return "cannot write \(url.path): \(error)"
            }
        }
        guard let data = try? Data(contentsOf: url) else {
            return "\(url.path) is missing; UPDATE_GOLDEN=1 writes it. It would be:\n\(actual)"
        }
        let expected = String(decoding: data, as: UTF8.self)
        guard expected != actual else { return nil }
        let old = expected.split(separator: "\n", omittingEmptySubsequences: false)
        let new = actual.split(separator: "\n", omittingEmptySubsequences: false)
        let same = zip(old, new).prefix { $0 == $1 }.count
        return """
            \(url.lastPathComponent), line \(same + 1):
              expected: \(same < old.count ? String(old[same]) : "(the end)")
              but is:   \(same < new.count ? String(new[same]) : "(the end)")
            all of it:
            \(actual)
            """
    }
}
