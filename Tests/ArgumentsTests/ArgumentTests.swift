import Arguments
import Testing

private struct Options: Sendable, Equatable {
    var limit = 10
    var name: String?
    var isLoud = false
}

private let arguments: [Argument<Options>] = [
    .option("limit", \.limit, .integer(in: 0...99), help: "how many"),
    .option("name", short: "n", \.name, .text("NAME"), help: "whose"),
    .flag("loud", \.isLoud, help: "so that all can hear"),
]

private let program = Program<Options>(
    "sample", summary: "tries arguments",
    commands: [
        Command("run", summary: "runs", options: Options(), arguments: arguments, action: { $0 })
    ])

@Suite struct ArgumentTests {
    @Test(arguments: [
        ("run", Options()), ("run --limit 3", Options(limit: 3)),
        ("run -n Ada --loud", Options(name: "Ada", isLoud: true)),
        ("run --limit=0 --name=-", Options(limit: 0, name: "-")),
    ])
    fileprivate func `what is not given keeps its default`(line: String, expected: Options) throws {
        let words = line.split(separator: " ").map(String.init)
        guard case .run(let options) = try program.parse(words) else {
            Issue.record("it was not run")
            return
        }
        #expect(options == expected)
    }
}
