import Arguments
import GoldenFiles
import Testing

struct SampleOptions: Sendable, Equatable {
    var follow = false
    var json = false
    var raw = false
    var connection: Int?
    var outputs: [String] = []
    var limit = 10
    var file = ""
    var more: [String] = []
}

let sampleProgram = Program<SampleOptions>(
    "sample", summary: "tries the parser",
    details: "Exit codes: 0 done, 2 wrong usage.",
    commands: [
        Command(
            "show", summary: "one file and more",
            details: """
                Details may be long, and are then broken at the width of a page, while lines that \
                are indented stay as they are:

                    a = b   and   c
                """,
            options: SampleOptions(),
            arguments: [
                .operand(\.file, .file, help: "the first file"),
                .operands(\.more, .text("MORE"), required: false, help: "more of them"),
                .flag("follow", short: "f", \.follow, help: "go on as the file grows"),
                .flag("json", short: "j", \.json, help: "one JSON object a line"),
                .flag("raw", \.raw, help: "everything as it crossed, with nothing left out"),
                .option(
                    "connection-number", \.connection, .integer(in: 1...100),
                    help: "one connection only"),
                .option("limit", short: "n", \.limit, .integer(in: 1 ... .max), help: "how many"),
                .options("output", short: "o", \.outputs, .file, required: true, help: "where to"),
            ],
            exclusive: [["--json", "--raw"]],
            companions: [(name: "--limit", needs: "--follow")],
            examples: [
                Example("sample show -o out.txt in.txt", "one in, one out"),
                Example("sample show -fj -o - -- -odd-name", "a file whose name begins with -"),
            ],
            check: { (options) throws(UsageError) in
                if options.outputs.contains(options.file) {
                    throw .rule(
                        message: "--output: \(options.file) is the input as well",
                        hint: "choose another name")
                }
            },
            action: { $0 }),
        Command(
            "version-of-a-long-name", summary: "nothing", options: SampleOptions(), arguments: [],
            action: { $0 }),
    ])

private func parsed(_ line: String) throws(UsageFailure) -> SampleOptions? {
    let words = line.split(separator: " ").map(String.init)
    guard case .run(let options) = try sampleProgram.parse(words) else { return nil }
    return options
}

@Suite struct ProgramTests {
    @Test(arguments: [
        ("show -o a b", SampleOptions(outputs: ["a"], file: "b")),
        ("show b -o=a", SampleOptions(outputs: ["a"], file: "b")),
        ("show --output=a=c b --output d", SampleOptions(outputs: ["a=c", "d"], file: "b")),
        ("show --output= b -o a", nil),
        (
            "show -fj -o a - x y",
            SampleOptions(
                follow: true, json: true, outputs: ["a"], file: "-", more: ["x", "y"])
        ),
        ("show -o a -- --json -f", SampleOptions(outputs: ["a"], file: "--json", more: ["-f"])),
        (
            "show -f -f -n 7 -o a b",
            SampleOptions(
                follow: true, outputs: ["a"], limit: 7, file: "b")
        ),
        ("show -fn 7 -o a b", nil),
        (
            "show --connection-number 3 -o a b",
            SampleOptions(
                connection: 3, outputs: ["a"], file: "b")
        ),
    ])
    func `a good line gives its options`(line: String, expected: SampleOptions?) {
        #expect((try? parsed(line)) == expected)
    }

    @Test(arguments: [
        ("", "no command is given", "see \"sample --help\""),
        ("shw", "unknown command \"shw\"; did you mean \"show\"?", "see \"sample --help\""),
        ("frobnicate", "unknown command \"frobnicate\"", "see \"sample --help\""),
        ("--verson", "unknown flag --verson; did you mean \"--version\"?", "see \"sample --help\""),
        ("help nothing", "unknown command \"nothing\"", "see \"sample --help\""),
        ("show", "FILE is missing", "see \"sample show --help\""),
        ("show b", "--output FILE is missing", "see \"sample show --help\""),
        (
            "show --folow b", "unknown flag --folow; did you mean \"--follow\"?",
            "see \"sample show --help\""
        ),
        (
            "show -follow b", "unknown flag -follow; did you mean \"--follow\"?",
            "see \"sample show --help\""
        ),
        ("show -z b", "unknown flag -z", "see \"sample show --help\""),
        ("show -fn7 b", "unknown flag -fn7", "see \"sample show --help\""),
        ("show b -o", "--output: its value FILE is missing", "see \"sample show --help\""),
        (
            "show -o --json b", "--output: its value FILE is missing before --json",
            "if it is meant as the value, write --output=--json"
        ),
        (
            "show --json=yes b", "--json takes no value, but \"yes\" was given",
            "see \"sample show --help\""
        ),
        (
            "show -n -3 b", "--limit: -3 is out of range; 1 is the least",
            "see \"sample show --help\""
        ),
        (
            "show --connection-number x b", "--connection-number: \"x\" is not a whole number",
            "see \"sample show --help\""
        ),
        ("show --output= b", "--output: the value is empty", "see \"sample show --help\""),
        (
            "show -n 1 -n 2 -f -o a b", "--limit is given more than once",
            "see \"sample show --help\""
        ),
        (
            "show --raw --json -o a b", "--json and --raw exclude each other",
            "see \"sample show --help\""
        ),
        ("show -n 1 -o a b", "--limit needs --follow", "see \"sample show --help\""),
        ("show -o a a", "--output: a is the input as well", "choose another name"),
        (
            "version-of-a-long-name x", "\"x\" is one argument too many",
            "see \"sample version-of-a-long-name --help\""
        ),
    ])
    func `a wrong line says what is wrong and what to try`(
        line: String, message: String, hint: String
    ) {
        do {
            _ = try parsed(line)
            Issue.record("it was taken: \(line)")
        } catch {
            #expect(error.error.message == message)
            #expect(error.hint == hint)
        }
    }

    @Test(arguments: [
        ("--help", "sample.txt"), ("-h", "sample.txt"), ("help", "sample.txt"),
        ("help show", "sample-show.txt"), ("show --help", "sample-show.txt"),
        ("show --nonsense -o -h", "sample-show.txt"),
    ])
    func `help is answered whatever else stands there`(line: String, file: String) throws {
        let words = line.split(separator: " ").map(String.init)
        guard case .help(let page) = try sampleProgram.parse(words) else {
            Issue.record("no help for \(line)")
            return
        }
        #expect(GoldenFile(file).difference(from: page) == nil)
    }

    @Test func `behind two dashes help is a file name`() throws {
        let request = try sampleProgram.parse(["show", "-o", "a", "--", "--help"])
        guard case .run(let options) = request else {
            Issue.record("it was not run")
            return
        }
        #expect(options.file == "--help")
    }
}
