import Foundation

/// The files of the package as text.
struct SourceTree: Sendable {
    let root: URL

    /// The package that this test belongs to.
    static let package = SourceTree(
        root: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent())

    /// A file with its path from the root.
    struct File: Sendable {
        let path: String
        let text: String

        /// `FrameDecoder` for `Sources/Wire/WebSocket/FrameDecoder.swift`.
        var name: String {
            String(path.split(separator: "/").last.map { $0.dropLast(".swift".count) } ?? "")
        }

        /// The folder below `Sources`.
        var module: String {
            let parts = path.split(separator: "/")
            return parts.count > 1 ? String(parts[1]) : ""
        }

        /// The lines, numbered from 1, without what stands behind `//` in them.
        var codeLines: [(number: Int, text: String)] {
            text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map {
                let line = $0.element
                let end = line.range(of: "//")?.lowerBound ?? line.endIndex
                return ($0.offset + 1, String(line[..<end]))
            }
        }
    }

    /// The Swift files below a folder, in the order of their paths.
    func swiftFiles(_ folder: String) -> [File] {
        let base = root.appendingPathComponent(folder)
        let names = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String }
        return (names ?? []).filter { $0.hasSuffix(".swift") }.sorted().compactMap { name in
            text("\(folder)/\(name)").map { File(path: "\(folder)/\(name)", text: $0) }
        }
    }

    /// A file's text; nil where there is none.
    func text(_ path: String) -> String? {
        guard let data = try? Data(contentsOf: root.appendingPathComponent(path)) else {
            return nil
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// The folders in a folder.
    func folders(_ folder: String) -> [String] {
        let base = root.appendingPathComponent(folder)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: base.path)) ?? []
        return names.sorted().filter { name in
            let values = try? base.appendingPathComponent(name)
                .resourceValues(forKeys: [.isDirectoryKey])
            return values?.isDirectory == true
        }
    }
}
