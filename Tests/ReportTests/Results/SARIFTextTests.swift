import Foundation
import GoldenFiles
import PhoneBridge
import Report
import Testing
import Wire

@Suite struct SARIFTextTests {
    private let document: JSON

    init() throws {
        document = try JSON(parsing: SARIFText(SampleResults.all).text)
    }

    @Test func `a report is as it was read last`() {
        let text = SARIFText(SampleResults.all).text
        #expect(GoldenFile("sample.sarif").difference(from: text) == nil)
    }

    /// What SARIF 2.1.0 demands of the parts that are used here (§3.13 to §3.58).
    @Test func `a report has the form of SARIF 2_1_0`() throws {
        #expect(document["version"] == "2.1.0")
        let run = try #require(document["runs"]?[0])
        let rules = try #require(run["tool"]?["driver"]?["rules"]?.elements)
        #expect(run["tool"]?["driver"]?["name"] == "bridgetap")
        #expect(run["tool"]?["driver"]?["version"] == "0.1.0")
        let levels: Set<String> = ["none", "note", "warning", "error"]
        for rule in rules {
            #expect(rule["id"]?.stringValue != nil)
            #expect(rule["shortDescription"]?["text"]?.stringValue?.hasSuffix(".") == true)
            #expect(rule["help"]?["text"]?.stringValue?.contains("See ") == true)
            #expect(levels.contains(rule["defaultConfiguration"]?["level"]?.stringValue ?? ""))
        }
        for result in try #require(run["results"]?.elements) {
            let index = try #require(result["ruleIndex"]?.integerValue)
            #expect(rules[Int(index)]["id"] == result["ruleId"])
            #expect(levels.contains(result["level"]?.stringValue ?? ""))
            #expect(result["message"]?["text"]?.stringValue?.isEmpty == false)
            let location = result["locations"]?[0]?["physicalLocation"]
            #expect(location?["artifactLocation"]?["uri"] == "captures/lab%201.ndjson")
            #expect((location?["region"]?["startLine"]?.integerValue ?? 0) > 0)
            for (name, value) in result["partialFingerprints"]?.members?.map({ ($0.name, $0.value) }
            )
                ?? []
            {
                #expect(name == "bridgetap/v1")
                #expect(value.stringValue?.contains(":") == true)
            }
        }
    }

    @Test func `the level follows the rating and what counts, and what is known is suppressed`() {
        let results = document["runs"]?[0]?["results"]?.elements ?? []
        let levels = results.map { "\($0["ruleId"] ?? .null) \($0["level"] ?? .null)" }
        #expect(
            Set(levels) == [
                #""result-within-timeout" "error""#, #""heartbeat-interval" "note""#,
                #""queue-wait" "note""#,
            ])
        let suppressed = results.filter { $0["suppressions"] != nil }
        #expect(suppressed.map { $0["ruleId"] } == ["queue-wait"])
        #expect(suppressed.first?["suppressions"]?[0]?["justification"] == "waits 10 s at least")
    }

    @Test func `an input that cannot be read is told of the run, not of a file`() {
        let invocation = document["runs"]?[0]?["invocations"]?[0]
        #expect(invocation?["executionSuccessful"] == false)
        #expect(
            invocation?["toolExecutionNotifications"]?[0]?["message"]?["text"]
                == "README.md: README.md is not a session file")
    }

    @Test func `fingerprints are the same in the next run, and no two of a run are`() throws {
        func fingerprints(_ results: Results) throws -> [String] {
            let document = try JSON(parsing: SARIFText(results).text)
            return (document["runs"]?[0]?["results"]?.elements ?? []).compactMap {
                $0["partialFingerprints"]?["bridgetap/v1"]?.stringValue
            }
        }
        let first = try fingerprints(SampleResults.all)
        #expect(Set(first).count == first.count)
        // The next recording of the same scenario: other times, numbers, ids and folder.
        var again = SampleResults.all
        again.suites[0].name = "/tmp/run 2/lab 1.ndjson"
        for index in again.suites[0].cases[0].findings.indices {
            again.suites[0].cases[0].findings[index].time += 12_345_678
            again.suites[0].cases[0].findings[index].events = [1000 + index]
            again.suites[0].cases[0].findings[index].command?.id = "cal_\(index)99"
            again.suites[0].cases[0].findings[index].text = "answered after 1,234.5 s; 5 s were due"
        }
        #expect(try fingerprints(again) == first)
    }

    @Test(arguments: [
        ("answered after 9.21 s; 5 s were due", "a", "answered after # s; # s were due"),
        ("code \"timeout 5\" for id x1 in 1,204 ms", "x1", "code \"\" for id * in # ms"),
        ("a, and what x-a and a2 answered", "a", "*, and what x-a and a# answered"), ("", "", ""),
    ])
    func `a fingerprint knows no ids, numbers and quotations`(
        text: String, id: String, expected: String
    ) {
        let rule = SampleResults.timeout
        func print(_ text: String, id: String) -> String {
            Fingerprint.text(
                rule: rule,
                SampleResults.finding(
                    rule, .counted, at: 0, [1], command: Breach.Command(id: id, type: "t"), text),
                suite: "s")
        }
        #expect(print(text, id: id) == print(expected, id: "other"))
        #expect(print(text + " not", id: id) != print(expected, id: "other"))
    }
}
