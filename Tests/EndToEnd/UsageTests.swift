import GoldenFiles
import Testing

@Suite struct UsageTests {
    @Test(arguments: [
        (["--version"], "bridgetap 0.1.0\n")
    ])
    func `what is asked for goes to standard output`(arguments: [String], output: String) throws {
        let outcome = try BuiltProgram.run(arguments)
        #expect(outcome.exitCode == 0)
        #expect(outcome.output == output)
        #expect(outcome.errors == "")
    }

    @Test(arguments: [
        ([], "no command is given", "see \"bridgetap --help\""),
        (["shwo"], "unknown command \"shwo\"; did you mean \"show\"?", "see \"bridgetap --help\""),
        (
            ["--vresion"], "unknown flag --vresion; did you mean \"--version\"?",
            "see \"bridgetap --help\""
        ),
        (["show"], "FILE is missing", "see \"bridgetap show --help\""),
        (
            ["show", "--folow", "x"], "unknown flag --folow; did you mean \"--follow\"?",
            "see \"bridgetap show --help\""
        ),
        (
            ["show", "--conn", "zero", "x"], "--conn: \"zero\" is not a whole number",
            "see \"bridgetap show --help\""
        ),
        (
            ["show", "--raw", "--json", "x"], "--raw and --json exclude each other",
            "see \"bridgetap show --help\""
        ),
        (
            ["show", "--follow", "a", "b"], "--follow: only one file can grow",
            "give the last part of the session alone"
        ),
        (
            ["verify", "--repair", "a"], "--repair needs --output",
            "see \"bridgetap verify --help\""
        ),
        (
            ["verify", "--repair", "-o", "b", "a", "c"], "--repair: it takes one file at a time",
            "run it once for each"
        ),
        (
            ["rules", "learn", "a"], "one session says nothing of what varies",
            "record the same scenario again"
        ),
        (
            ["fuzz", "--to", "simulated"], "--as SIDE is missing",
            "--as app plays the app against a board, --as board the board against an app"
        ),
        (
            ["fuzz", "--as", "app", "--to", "simulated", "--only", "jsn"],
            "--only: \"jsn\" is no level; did you mean \"json\"?",
            "see \"bridgetap fuzz --help\""
        ),
        (
            ["fuzz", "--as", "app", "--to", "simulated", "--defect", "A1"],
            "A1 is no defect of the side under test, the board",
            "bridgetap board --list-defects"
        ),
        (
            ["findings", "waive", "f"], "a waiver needs --reason",
            "say why, for who reads it later"
        ),
        (
            ["findings", "merge", "f"], "merge takes two folders at least",
            "the last one is where the others go"
        ),
        (["convert", "a"], "--output FILE is missing", "see \"bridgetap convert --help\""),
        (
            ["show", "--filter", "typ=x", "a"],
            "--filter: character 1: unknown field \"typ\"; did you mean \"type\"?",
            "see \"bridgetap show --help\""
        ),
    ])
    func `a wrong line is told in two lines, and ends with 2`(
        arguments: [String], message: String, hint: String
    ) throws {
        let outcome = try BuiltProgram.run(arguments)
        #expect(outcome.exitCode == 2)
        #expect(outcome.output == "")
        #expect(outcome.errors == "bridgetap: error: \(message)\nbridgetap: hint: \(hint)\n")
    }

    @Test(arguments: [
        "", "record", "sniff", "show", "stats", "check", "diff", "rules", "verify", "convert",
        "redact", "bundle", "fuzz", "findings", "board", "app", "view", "demo",
    ])
    func `every page of help is as it was read last`(command: String) throws {
        let outcome = try BuiltProgram.run(command.isEmpty ? ["--help"] : [command, "--help"])
        #expect(outcome.exitCode == 0)
        #expect(outcome.errors == "")
        let name = command.isEmpty ? "help.txt" : "help-\(command).txt"
        #expect(GoldenFile(name).difference(from: outcome.output) == nil)
        for line in outcome.output.split(separator: "\n") { #expect(line.count <= 100) }
    }
}
