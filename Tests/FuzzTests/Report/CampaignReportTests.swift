import Capture
import Fuzz
import GoldenFiles
import Network
import PhoneBridge
import Report
import Testing
import Wire

/// A campaign's end in every form: all say the same.
@Suite struct CampaignReportTests {
    static func script(_ text: String) -> FuzzScript {
        (try? FuzzScript(parsing: text)) ?? FuzzScript(as: .app)
    }

    static let session = Bytes(
        #"""
        {"event":"session","format":"bridgetap","version":1,"id":"case","t":0,"started_at":"2026-01-01T00:00:00Z","tool":"bridgetap 0.1.0","contract":"1.2","source":"fuzz"}
        {"event":"open","seq":1,"t":0,"conn":1,"app":"127.0.0.1:49152","board":"127.0.0.1:8080"}
        {"event":"request","seq":2,"t":5000000,"conn":1,"from":"app","exchange":1,"method":"GET","target":"/api/phone-bridge/<b>&\u001b[31m","http":"1.1","headers":[["Host","x"]],"framing":"none"}
        {"event":"close","seq":3,"t":9000000,"conn":1,"from":"board","how":"reset"}

        """#.utf8)

    static func finding(
        _ check: String, _ text: String, _ rating: Rule.Rating = .sure
    ) -> FuzzFinding {
        let observation = Observation(
            check: check, rating: rating, section: "contract, \"Heartbeat\"",
            demand: "An echo carries the id that the app's heartbeat had", text: text,
            events: [2], isUniversal: false)
        let script = script("bridgetap-fuzz 1 as app\nconnect a\n!F3 frame a ping \"<x>\"\n")
        var finding = FuzzFinding(
            bucket: Bucket(script, Signal(observation)), observation: observation,
            verdict: .confirmed, script)
        finding.rate = Investigation.Rate(3, of: 3)
        finding.isMinimised = true
        finding.isFresh = true
        finding.questions = 21
        finding.count = 4
        finding.firstCase = 7
        finding.lastCase = 99
        finding.evidence = Investigation.Evidence(session: session, output: ["panic: <nil>"])
        finding.control = session
        return finding
    }

    static func record(_ finding: FuzzFinding) -> FindingRecord {
        var about = FindingRecord.Circumstances()
        about.tool = "bridgetap 0.1.0"
        about.profile = "contract"
        about.seeds = [18_446_744_073_709_551_615]
        about.flags = "--as app --to simulated --defect B16"
        about.firstSeen = "2026-06-10"
        about.lastSeen = "2026-06-11"
        return FindingRecord(finding, about)
    }

    static var summary: CampaignSummary {
        var profile = Profile.contract
        profile.waivers = [.init(rule: "board-times", reason: "known to be local")]
        var summary = CampaignSummary(
            command: "fuzz", tool: "bridgetap 0.1.0", played: .app,
            judge: Judge(profile: profile, today: "2026-06-11"), folder: "findings")
        let echo = finding("heartbeat-echo-id", "the echo has the id \"<script>alert(1)</script>\"")
        let known = finding("queue-limit", "12 commands came, 10 were due")
        let fixed = finding("one-effect", "\"c1\" made 2 events")
        let there = finding("alive", "a new connection was not served")
        summary.findings = [
            .init(record: record(known), excuse: "known: issue of the board"),
            .init(record: record(echo), excuse: nil),
        ]
        summary.known = [
            .init(record: record(fixed), fate: .fixed, excuse: nil),
            .init(
                record: record(there), fate: .stillThere(Investigation.Rate(2, of: 3)), excuse: nil),
        ]
        let flaky = finding("heartbeat-echoed", "the heartbeat got no echo within 15000 ms")
        summary.apart = [
            ApartSignal(
                signal: flaky.bucket.signal, verdict: .flaky, observation: flaky.observation,
                script: flaky.script, rate: Investigation.Rate(1, of: 3), firstCase: 12)
        ]
        var figures = CampaignFigures()
        figures.cases = 12_345
        figures.runs = 12_400
        figures.protocolTime = 7_200_000_000_000
        figures.reached = [.expiry: 3, .redelivery: 1]
        figures.edges = 77
        figures.lastEdge = 60_000_000_000
        figures.troubles = 1
        figures.mutations = ["C1": 300, "F3": 12]
        summary.status.figures = figures
        summary.status.findings = 1
        summary.status.excused = 1
        summary.status.flaky = 1
        summary.status.stillThere = 1
        summary.status.fixed = 1
        summary.status.elapsed = 90_000_000_000
        summary.status.limit = 600_000_000_000
        summary.status.current = "case 12345"
        summary.end = .time
        return summary
    }

    private func check(_ name: String, _ text: String) {
        #expect(GoldenFile(name).difference(from: text) == nil)
    }

    @Test func `what a person reads`() {
        let text = CampaignText(isColoured: false)
        var all = ""
        for entry in Self.summary.ranked {
            all += text.text(entry.record.finding, excuse: entry.excuse, in: "findings")
        }
        for known in Self.summary.known {
            all += text.text(known.record.finding.name, known.fate, excuse: known.excuse)
        }
        check("campaign.txt", all + text.text(Self.summary))
    }

    @Test func `a finding in words`() {
        let record = Self.record(Self.finding("heartbeat-echo-id", "the echo has another id"))
        check("verdict.txt", VerdictText().text(record, again: "bridgetap fuzz …"))
    }

    /// The results about a few checks: the others come and go with the rules.
    private var fewResults: Results {
        let few: Set<String> = [
            "alive", "board-times", "harness", "heartbeat-echo-id", "heartbeat-echoed",
            "http-incomplete", "one-effect", "process", "queue-limit",
        ]
        var results = Self.summary.results
        results.rules = results.rules.filter { few.contains($0.id) }
        for index in results.suites.indices {
            results.suites[index].cases = results.suites[index].cases.filter {
                few.contains($0.name)
            }
        }
        return results
    }

    @Test func `JUnit has a case for each check`() throws {
        let results = Self.summary.results
        let cases = try #require(results.suites.first).cases
        #expect(cases.count { $0.outcome == .failed } == 2)
        #expect(cases.first { $0.name == "queue-limit" }?.outcome == .skipped)
        #expect(cases.first { $0.name == "heartbeat-echoed" }?.message?.contains("1/3") ?? false)
        #expect(cases.first { $0.name == "command-answered" } == nil)
        #expect(cases.first { $0.name == "status-environment" }?.outcome == .passed)
        #expect(cases.first { $0.name == "harness" }?.outcome == .passed)
        check("campaign.xml", JUnitText(fewResults).text)
    }

    @Test func `SARIF has the bucket as fingerprint and the section as place`() throws {
        let text = SARIFText(fewResults).text
        let json = try JSON(parsing: text)
        let results = json["runs"]?[0]?["results"]?.elements ?? []
        #expect(results.count == 3)
        let echo = try #require(
            results.first { $0["ruleId"] == "heartbeat-echo-id" })
        #expect(
            echo["partialFingerprints"]?["bridgetap/v1"]?.stringValue
                == Self.summary.findings[1].record.finding.name + ":1")
        #expect(
            echo["locations"]?[0]?["logicalLocations"]?[0]?["name"] == "contract, \"Heartbeat\"")
        check("campaign.sarif", text)
    }

    private static func page(_ summary: CampaignSummary, hasSessions: Bool = false) throws -> Bytes
    {
        var bytes = Bytes()
        let inside = InsidePage(style: "p {}", script: "let a = 1;")
        try CampaignPage(
            summary, inside: hasSessions ? inside : nil,
            sessionPage: { try $1(Bytes("the page of \($0.name)".utf8)) }
        ).write { bytes += $0 }
        return bytes
    }

    @Test func `a page has the sessions of its findings, unless it hides what they say`() throws {
        let page = String(decoding: try Self.page(Self.summary, hasSessions: true), as: UTF8.self)
        let count = Self.summary.ranked.count
        #expect(page.matches(of: /data-inside="session-[0-9]+"/).count == count)
        #expect(page.matches(of: /<script type="text\/plain" id="session-[0-9]+">/).count == count)
        // Those, and the one that opens them, which the policy names.
        #expect(page.matches(of: /<script/).count == count + 1)
        let script = try #require(page.firstMatch(of: /<script>((?s).*?)<\/script>/)?.output.1)
        #expect(page.contains("'\(PagePolicy.source(String(script)))'"))
        var summary = Self.summary
        summary.showsValues = false
        let hidden = String(decoding: try Self.page(summary, hasSessions: true), as: UTF8.self)
        #expect(!hidden.contains("<script") && !hidden.contains("data-inside"))
    }

    @Test func `a page is safe to open`() throws {
        let page = String(decoding: try Self.page(Self.summary), as: UTF8.self)
        #expect(!page.contains("<script"))
        #expect(!page.contains("<b>&"))
        #expect(!page.contains("\u{1b}"))
        #expect(page.contains("panic: &lt;nil&gt;"))
        // What `printf "" | openssl dgst -sha256 -binary | base64` says.
        #expect(
            PagePolicy.source("") == "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        let parts = page.split(separator: "<section><details>")
        #expect(parts.count == 2)
        check("campaign.html", String(parts[0]))
        var summary = Self.summary
        summary.showsValues = false
        let hidden = String(decoding: try Self.page(summary), as: UTF8.self)
        #expect(!hidden.contains("panic"))
    }

    @Test func `a page shows the first twenty, and the rest below`() throws {
        var summary = Self.summary
        summary.findings = (0..<30).map { number in
            .init(
                record: Self.record(Self.finding("check-\(number)", "it is not so")), excuse: nil)
        }
        let page = String(decoding: try Self.page(summary), as: UTF8.self)
        #expect(page.contains("<summary>10 more</summary>"))
    }

    @Test func `what is for programs is NDJSON`() {
        var all: Bytes = []
        for entry in Self.summary.ranked {
            all += CampaignLines.line(entry.record.finding, excuse: entry.excuse, in: "findings")
        }
        for known in Self.summary.known {
            all += CampaignLines.line(known.record.finding.name, known.fate, excuse: nil)
        }
        for signal in Self.summary.apart { all += CampaignLines.line(signal) }
        all += CampaignLines.line(Self.summary.status, isLast: true)
        check("campaign.ndjson", String(decoding: all, as: UTF8.self))
    }

    @Test func `how it stands, for a terminal and for a log`() {
        var status = Self.summary.status
        #expect(status.health == .good)
        #expect(CampaignStatus().rate == 0)
        var text = status.line + "\n" + status.page(isColoured: false) + "\n"
        status.elapsed = 7_200_000_000_000
        #expect(status.health == .plateau)
        text += status.line + "\n"
        status.figures.lost = 9000
        #expect(status.health == .broken)
        text += status.page(isColoured: true) + "\n"
        check("status.txt", text)
    }

    @Test func `a night that has not reached what it has to is a failed one`() throws {
        var summary = Self.summary
        #expect(summary.missed.isEmpty)
        summary.status.figures.mutations["C5"] = 700
        #expect(summary.missed == [.lateAnswer, .overlap, .filteredPoll])
        let text = CampaignText(isColoured: false).text(summary)
        #expect(
            text.contains(
                "a failed night: it has never reached late answer, overlap of links, filtered poll\n"
            ))
        let cases = try #require(summary.results.suites.first).cases
        #expect(cases.first { $0.name == "reached late answer" }?.outcome == .error)
        #expect(cases.first { $0.name == "reached expiry" }?.outcome == .passed)
        // An hour is a night too, and what was cut short is none.
        summary.status.figures.mutations = ["C5": 1]
        #expect(summary.missed.isEmpty)
        summary.status.elapsed = 3600 * nanosecondsPerSecond
        #expect(summary.missed.count == 3)
        summary.end = .interrupted
        #expect(summary.missed.isEmpty)
        // An app has no queue whose filter could hold something back.
        #expect(!Sometimes.reachable(judging: .app).contains(.filteredPoll))
    }

    @Test func `a summary for others hides what was said, in all forms`() throws {
        var summary = Self.summary
        let seen = Self.finding("clipboard-text", "it gave \"my secret\"")
        summary.findings.append(.init(record: Self.record(seen), excuse: nil))
        summary.known.append(
            .init(record: Self.record(seen), fate: .changed(seen.observation), excuse: nil))
        summary.apart.append(
            ApartSignal(
                signal: seen.bucket.signal, verdict: .flaky, observation: seen.observation,
                script: seen.script, rate: Investigation.Rate(1, of: 3), firstCase: nil))
        func all(_ summary: CampaignSummary) throws -> [String] {
            [
                CampaignText(isColoured: false).text(summary), JUnitText(summary.results).text,
                SARIFText(summary.results).text,
                String(decoding: try Self.page(summary), as: UTF8.self),
            ]
        }
        for text in try all(summary.masked()) { #expect(!text.contains("secret")) }
        #expect(try all(summary).count { $0.contains("secret") } == 4)
    }

    @Test func `a red campaign is one with something new`() {
        var summary = Self.summary
        #expect(summary.isRed)
        summary.findings.removeAll { $0.excuse == nil }
        #expect(summary.isRed)
        summary.known.removeLast()
        #expect(!summary.isRed)
        summary.apart[0].verdict = .withoutMutation
        #expect(summary.isRed)
    }
}
