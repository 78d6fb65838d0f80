import Replay
import Simulator
import Testing

@Suite struct TargetTemplateTests {
    private static let values: TargetValues = {
        var values = TargetValues(port: 8080, job: 2, control: 9000, folder: "/tmp/x")
        values.state = "background pip"
        values.command = #"{"id":"c1"}"#
        values.platform = .android
        return values
    }()

    private static let filled: [(text: String, result: String)] = [
        ("./board --port {port}", "./board --port 8080"),
        ("{port}{job}{control}", "808029000"),
        ("./app --on {platform}", "./app --on android"),
        ("run --dir={dir} --state '{state}'", "run --dir=/tmp/x --state 'background pip'"),
        // Braces that are none of ours.
        (#"{"a":1,"command":{command}}"#, #"{"a":1,"command":{"id":"c1"}}"#),
        ("{ port } {Port} {} { {port", "{ port } {Port} {} { {port"),
        ("${port} ${PORT} $port", "${port} ${PORT} $port"),
        ("{{port}}", "{8080}"),
        ("{a1} {a_b}", "{a1} {a_b}"),
        ("", ""),
    ]

    @Test(arguments: filled)
    func `places are filled in, and nothing else is`(text: String, result: String) throws {
        let template = try TargetTemplate(parsing: text, known: Set(TargetPlace.allCases))
        #expect(template.filled(with: Self.values) == result)
        #expect(template.source == text)
    }

    @Test func `a place that is not known is refused, with those that are`() {
        let error = #expect(throws: TargetTextError.self) {
            try TargetTemplate(parsing: "./board -p {prot}")
        }
        #expect(
            error?.description
                == "{prot} is no place that is filled in here; "
                + "there are {port}, {job}, {control}, {dir}")
    }

    @Test func `a command has no place for what only a request has`() {
        #expect(
            throws: TargetTextError.unknownPlace("state", known: [.port, .job, .control, .dir])
        ) {
            try TargetTemplate(parsing: "do {state}")
        }
    }

    @Test func `values can be encoded on the way`() throws {
        let template = try TargetTemplate(parsing: "/{state}/", known: [.state])
        #expect(template.places == [.state])
        #expect(template.filled(with: Self.values) { "<\($0)>" } == "/<background pip>/")
    }

    @Test func `the environment names port, job, control and platform`() {
        #expect(
            Self.values.environment == [
                "PORT": "8080", "JOB": "2", "CONTROL": "9000", "PLATFORM": "android",
            ])
    }
}
