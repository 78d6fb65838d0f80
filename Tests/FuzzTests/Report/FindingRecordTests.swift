import Capture
import Fuzz
import PhoneBridge
import Testing
import Wire

/// What is left on the disk, and read back.
@Suite struct FindingRecordTests {
    private let record = CampaignReportTests.record(
        CampaignReportTests.finding("queue-limit", "12 commands came, 10 were due"))

    @Test func `a record is read back as it was`() throws {
        let again = try FindingRecord(
            parsing: JSON(parsing: record.json.prettyPrinted), script: record.finding.script)
        #expect(again.json == record.json)
        #expect(again.circumstances == record.circumstances)
        #expect(again.finding.name == record.finding.name)
        #expect(again.finding.observation == record.finding.observation)
        #expect(again.finding.signals == record.finding.signals)
        #expect(again.finding.original == record.finding.original)
    }

    @Test(arguments: ["check", "rating", "side", "verdict", "seen", "flags", "bucket"])
    func `a record that lacks something is refused`(name: String) throws {
        let members = (record.json.members ?? []).filter { $0.name != name }
        #expect(throws: FindingRecordError.missing(name)) {
            try FindingRecord(parsing: .object(members), script: record.finding.script)
        }
    }

    @Test func `a record of another bucket or version is refused`() {
        func with(_ name: String, _ value: JSON) -> JSON {
            .object(
                (record.json.members ?? []).map { $0.name == name ? .init(name, value) : $0 })
        }
        #expect(throws: FindingRecordError.version(9)) {
            try FindingRecord(parsing: with("version", 9), script: record.finding.script)
        }
        #expect(throws: FindingRecordError.self) {
            try FindingRecord(parsing: with("kinds", []), script: record.finding.script)
        }
    }

    @Test func `a folder has all that is needed to show it again`() throws {
        let files = FindingFolder.files(record, path: "my findings/x")
        #expect(
            files.map(\.name) == [
                "script.fuzz", "verdict.txt", "failing.ndjson", "control.ndjson", "output.txt",
                "finding.json",
            ])
        let text = String(decoding: files[0].content, as: UTF8.self)
        #expect(
            text.hasPrefix(
                "# bridgetap fuzz --reproduce 'my findings/x' --as app --to simulated "
                    + "--defect B16\nbridgetap-fuzz 1"))
        #expect(try FuzzScript(parsing: text) == record.finding.script)
    }

    @Test func `words are quoted for a shell`() {
        #expect(ShellWord.quoted("a/b-c=1") == "a/b-c=1")
        #expect(ShellWord.quoted("") == "''")
        #expect(ShellWord.quoted("it's $HOME") == "'it'\\''s $HOME'")
    }

    @Test func `two records of one bucket become the better one`() {
        var other = record
        other.finding.script.steps.removeFirst()
        other.finding.count = 10
        other.circumstances.seeds = [5]
        other.circumstances.firstSeen = "2026-05-01"
        other.circumstances.lastSeen = "2026-05-02"
        let merged = record.merged(with: other)
        #expect(merged.finding.script == other.finding.script)
        #expect(merged.finding.count == 14)
        #expect(merged.circumstances.seeds == [5, 18_446_744_073_709_551_615])
        #expect(merged.circumstances.firstSeen == "2026-05-01")
        #expect(merged.circumstances.lastSeen == "2026-06-11")
        #expect(other.merged(with: record).finding.script == other.finding.script)
    }

    @Test func `a finding that is given to others tells nothing of people`() throws {
        var finding = CampaignReportTests.finding(
            "clipboard-text", "\"c1\" gave \"my secret\", \"c1\" was written before")
        let script = try FuzzScript(
            parsing: """
                bridgetap-fuzz 1 as app
                connect a platform=ios&phone_id=annas-phone
                stimulate c1 {"id":"c1","type":"clipboard_write","payload":{"text":"my secret"}}
                !C4 text a {"id":"$(c1)","data":{"text":"my secret"}}
                - text a {"id":"$(c1)","data":{"text":"other"}}
                get commands?platform=ios&phone_id=annas-phone

                """)
        finding.script = script
        finding.original = script
        let record = CampaignReportTests.record(finding)
        let masked = record.masked()
        for file in FindingFolder.files(masked, path: "f") {
            let text = String(decoding: file.content, as: UTF8.self)
            #expect(!text.contains("secret"), "\(file.name)")
            #expect(!text.contains("anna"), "\(file.name)")
            #expect(file.name != "output.txt")
        }
        #expect(masked.finding.name == record.finding.name)
        #expect(masked.finding.observation.text.hasPrefix("\"c1\" gave \"xx xxxxx"))
        // It does the same as before, and its control too.
        #expect(StepKind.kinds(of: masked.finding.script) == StepKind.kinds(of: script))
        #expect(masked.finding.script.description.contains("$(c1)"))
        #expect(try FuzzScript(parsing: masked.finding.script.description) == masked.finding.script)
        // An own target's findings are read back as such.
        var own = record
        own.circumstances.isOwnTarget = true
        #expect(
            try FindingRecord(parsing: own.json, script: script).circumstances.isOwnTarget)
        #expect(!record.merged(with: own).circumstances.isOwnTarget)
    }

    @Test func `a baseline is read back, and a bucket has one entry`() throws {
        var baseline = Baseline()
        baseline.set(.init(bucket: "b", check: "alive", standing: .accepted, reason: ""))
        baseline.set(
            .init(
                bucket: "a", check: "alive", standing: .waived(until: "2026-06-30"),
                reason: "fixed in \"1.3\""))
        baseline.set(
            .init(bucket: "b", check: "alive", standing: .duplicate(of: "a"), reason: ""))
        baseline.set(
            .init(bucket: "c", check: "alive", standing: .waived(until: nil), reason: "no"))
        baseline.set(
            .init(bucket: "e", check: "alive", standing: .falseAlarm, reason: "ticket 9"))
        #expect(try Baseline(parsing: baseline.text) == baseline)
        #expect(baseline.entries.map(\.bucket) == ["a", "b", "c", "e"])
        #expect(
            baseline.excuse("a", today: "2026-06-30")
                == "waived until 2026-06-30: fixed in \"1.3\"")
        #expect(baseline.excuse("a", today: "2026-07-01") == nil)
        #expect(baseline.excuse("b", today: "2026-07-01") == "the same as a")
        #expect(baseline.excuse("e", today: "2026-07-01") == "a false alarm: ticket 9")
        #expect(baseline.excuse("d", today: "2026-07-01") == nil)
        #expect(throws: BaselineError(line: 2)) {
            try Baseline(parsing: Bytes("\n{\"bucket\":\"x\"}\n".utf8))
        }
    }

    @Test func `a state is that of one campaign only`() throws {
        var identity = CampaignLog.Identity()
        identity.seed = .max
        identity.profile = "lab 1234"
        let log = CampaignLog(identity)
        let read = try #require(CampaignLog(parsing: log.head))
        #expect(read.identity == identity)
        var other = identity
        other.profile = "lab 9999"
        #expect(
            other.difference(from: identity) == "its profile was lab 1234, and is lab 9999 now")
        #expect(identity.difference(from: identity) == nil)
        #expect(CampaignLog(parsing: Bytes("{}\n".utf8)) == nil)
        #expect(CampaignLog(parsing: []) == nil)
    }

    @Test func `a state that was put together says the same`() throws {
        var log = CampaignLog(CampaignLog.Identity(), shard: (2, 3))
        var file = log.head
        // Cases 1, 4, 10 and 7 of the second of three shards.
        for (index, reached) in [(1, Sometimes.expiry), (4, .redelivery), (10, .expiry)] {
            file += log.take(
                CaseRecord(
                    index: index, mutations: ["C1", "J3"], reached: [reached],
                    newShapes: [UInt64(index), .max]))
        }
        #expect(log.progress.below == 7)
        #expect(log.progress.also == [10])
        let read = try #require(CampaignLog(parsing: file, shard: (2, 3)))
        let compact = try #require(CampaignLog(parsing: log.head, shard: (2, 3)))
        #expect(read.progress == log.progress)
        #expect(compact.progress == log.progress)
        #expect(compact.progress.figures.reached == [.expiry: 2, .redelivery: 1])
        #expect(compact.progress.figures.mutations == ["C1": 3, "J3": 3])
        _ = log.take(CaseRecord(index: 7))
        #expect(log.progress.below == 11)
        #expect(log.progress.also.isEmpty)
    }

    @Test func `the digest of a profile follows what it says`() {
        var profile = Profile.board12
        let before = profile.digest
        #expect(before == Profile.board12.digest)
        profile.waivers = [.init(rule: "alive", reason: "x")]
        #expect(profile.digest != before)
        profile = Profile.board12
        profile.inFlightMilliseconds = nil
        #expect(profile.digest != before)
    }
}
