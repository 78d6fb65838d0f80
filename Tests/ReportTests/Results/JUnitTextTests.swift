import Foundation
import GoldenFiles
import Report
import Testing

@Suite struct JUnitTextTests {
    @Test func `a report is as it was read last`() {
        let text = JUnitText(SampleResults.all).text
        #expect(GoldenFile("sample.xml").difference(from: text) == nil)
    }

    @Test func `a report has the form that CI servers read`() throws {
        let text = JUnitText(SampleResults.all).text
        #expect(try JUnitSchema.complaints(about: text) == "")
    }

    @Test func `what is no JUnit report is told from one`() throws {
        let text = JUnitText(SampleResults.all).text
        for (good, bad) in [
            ("tests=\"6\"", "tests=\"7\""), ("</testsuites>", ""),
            ("classname=", "class="), ("<testcase", "<case"),
        ] {
            let spoilt = text.replacingOccurrences(of: good, with: bad)
            #expect(spoilt != text)
            #expect(try JUnitSchema.complaints(about: spoilt) != "")
        }
    }

    @Test func `the text of a case has an end`() throws {
        var results = SampleResults.all
        results.suites = [SampleResults.broken]
        let finding = try #require(results.suites[0].cases[0].findings.first)
        results.suites[0].cases[0].findings = Array(repeating: finding, count: 10_000)
        results.suites[0].cases[0].tally.counted = 10_000
        let text = JUnitText(results).text
        #expect(text.utf8.count < 2 * JUnitText.maximumText)
        #expect(text.contains(" more\n</failure>"))
    }

    @Test func `two sessions never have a case of the same name`() {
        let text = JUnitText(SampleResults.all).text
        let names = text.matches(of: #/classname="([^"]*)" name="([^"]*)"/#)
            .map { "\($0.output.1) \($0.output.2)" }
        #expect(names.count == 6)
        #expect(Set(names).count == names.count)
        #expect(names.contains("bridgetap.check.clean_ndjson app-frames-masked"))
    }

    @Test(arguments: [
        ("a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;"), ("\u{0}\u{1b}[m\u{7f}\u{9b}", "��[m��"),
        ("\t\n", "\t\n"), ("\r", "�"), ("\u{fffe}\u{ffff}é😀", "��é😀"), ("]]>", "]]&gt;"),
    ])
    func `no text can leave its place in a document`(text: String, expected: String) {
        #expect(xmlText(text) == expected)
    }
}

/// The common JUnit schema, held against a document by Python's own XML parser.
enum JUnitSchema {
    private static let script = #"""
        import sys, xml.etree.ElementTree as tree
        allowed = {
            'testsuites': ({'name', 'tests', 'failures', 'errors', 'skipped', 'time'}, {'testsuite'}),
            'testsuite': ({'name', 'tests', 'failures', 'errors', 'skipped', 'time', 'timestamp'},
                          {'properties', 'testcase', 'system-out', 'system-err'}),
            'properties': (set(), {'property'}),
            'property': ({'name', 'value'}, set()),
            'testcase': ({'classname', 'name', 'time'},
                         {'skipped', 'error', 'failure', 'system-out', 'system-err'}),
            'failure': ({'message', 'type'}, set()), 'error': ({'message', 'type'}, set()),
            'skipped': ({'message'}, set()), 'system-out': (set(), set()),
        }
        required = {'testsuite': {'name', 'tests'}, 'testcase': {'classname', 'name'}}
        def check(node):
            if node.tag not in allowed: return print('unknown element', node.tag)
            attributes, children = allowed[node.tag]
            for name in set(node.attrib) - attributes: print(node.tag, 'has', name)
            for name in required.get(node.tag, set()) - set(node.attrib): print(node.tag, 'lacks', name)
            for name in ('tests', 'failures', 'errors', 'skipped'):
                if name in node.attrib:
                    cases = list(node.iter('testcase'))
                    tags = {'failures': 'failure', 'errors': 'error', 'skipped': 'skipped'}
                    count = len(cases) if name == 'tests' else sum(
                        1 for case in cases if case.find(tags[name]) is not None)
                    if int(node.attrib[name]) != count: print(node.tag, name, 'is not', count)
            if 'time' in node.attrib: float(node.attrib['time'])
            if node.tag == 'testcase' and len([c for c in node if c.tag != 'system-out']) > 1:
                print('a case with two outcomes')
            for child in node:
                if child.tag not in children: print(node.tag, 'has a', child.tag)
                check(child)
        try: root = tree.fromstring(sys.stdin.buffer.read())
        except tree.ParseError as error: print(error)
        else:
            if root.tag != 'testsuites': print('root is', root.tag)
            check(root)
        """#

    /// What is wrong with the document, a line each.
    static func complaints(about text: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["timeout", "60", "python3", "-c", script]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // A document that fits a pipe's buffer, or python reads it as it comes.
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let complaints = String(decoding: data, as: UTF8.self)
        return process.terminationStatus == 0 ? complaints : complaints + "python failed"
    }
}
