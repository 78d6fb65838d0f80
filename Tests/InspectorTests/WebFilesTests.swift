import Foundation
import Testing

/// The page's files are held in the program as Swift, for the one static binary has no files beside
/// it; a list of bytes, as the package manager would embed it, takes the compiler half a minute.
@Suite struct WebFilesTests {
    private let module = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Sources/Inspector")

    private let scripts = [
        "text", "filter", "source", "model", "list", "lanes", "detail", "charts", "main",
    ]

    private func file(_ name: String) throws -> String {
        try String(contentsOf: module.appending(path: "Web/\(name)"), encoding: .utf8)
    }

    private func source() throws -> String {
        let names = scripts.map { $0 + "Script" }.joined(separator: ", ")
        var text = """
            // swift-format-ignore-file
            // Made of the files in Sources/Inspector/Web by `UPDATE_GOLDEN=1 swift test --filter InspectorTests`;
            // they are what is changed by hand.

            /// The files of the page, as they stand in `Web/`.
            enum WebFiles {
                /// The scripts, in the order in which they are read.
                static let scripts = [\(names)]
                /// The style sheet.
                static let style = pageStyle
                /// What stands in the body.
                static let body = pageBody
            }

            """
        func add(_ name: String, _ content: String) {
            text += "\nprivate let \(name) = ##\"\"\"\n\(content)\n\"\"\"##\n"
        }
        for name in scripts { add(name + "Script", try file(name + ".js")) }
        add("pageStyle", try file("page.css"))
        add("pageBody", try file("page.html"))
        return text
    }

    @Test func `the program holds the page's files as they are`() throws {
        let target = module.appending(path: "Page/WebFiles.swift")
        let expected = try source()
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try Data(expected.utf8).write(to: target)
        }
        let held = try String(contentsOf: target, encoding: .utf8)
        #expect(held == expected, "UPDATE_GOLDEN=1 makes Page/WebFiles.swift anew")
    }

    @Test func `no file of the page makes markup of text, or runs text`() throws {
        let banned = [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
            "new Function", "setTimeout(\"", "srcdoc", "javascript:", "createContextualFragment",
            "DOMParser",
        ]
        for name in scripts {
            let text = try file(name + ".js")
            for word in banned { #expect(!text.contains(word), "\(name).js has \(word)") }
        }
        // The policy would not let these run either.
        let markup = try file("page.html")
        #expect(markup.firstMatch(of: /\son[a-z]+=/) == nil)
        #expect(!markup.contains("style=") && !markup.contains("<script"))
    }

    @Test func `the page names no other place`() throws {
        for name in scripts.map({ $0 + ".js" }) + ["page.css", "page.html"] {
            let text = try file(name).replacing("http://www.w3.org/2000/svg", with: "")
            #expect(text.firstMatch(of: /(https?:)?\/\/[a-z0-9.-]+\.[a-z]{2,}/) == nil, "\(name)")
            #expect(!text.contains("url(") && !text.contains("@import"), "\(name)")
        }
    }
}
