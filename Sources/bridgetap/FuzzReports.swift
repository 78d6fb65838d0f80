import Capture
import Fuzz
import Glibc
import Inspector
import PhoneBridge
import Report
import Wire

/// The reports of a campaign, on the terminal and in files.
struct FuzzReports {
    private let options: FuzzCommandOptions
    private let junit: ReportFile?
    private let sarif: ReportFile?
    private let html: ReportFile?

    init(_ options: FuzzCommandOptions) throws {
        self.options = options
        func file(_ path: String?, _ flag: String) throws -> ReportFile? {
            try path.map { try ReportFile($0, flag: flag, inputs: []) }
        }
        junit = try file(options.junit, "--junit")
        sarif = try file(options.sarif, "--sarif")
        html = try file(options.html, "--html")
    }

    /// Writes those of a session in which both sides were under test: a suite for each.
    func finish(_ sides: [CampaignSummary], status: CampaignStatus) throws {
        guard let first = sides.first else { return }
        var results = first.results
        for other in sides.dropFirst().map(\.results) {
            results.suites += other.suites
            results.rules += other.rules.filter { rule in
                !results.rules.contains { $0.id == rule.id }
            }
        }
        if options.isJSON {
            try ProcessStreams.output(CampaignLines.line(status, isLast: true))
        } else if options.junit != "-", options.sarif != "-" {
            let layout = CampaignText(isColoured: ProcessStreams.isColoured(STDOUT_FILENO))
            for side in sides {
                try ProcessStreams.output(
                    "\nthe \(side.judged.rawValue):\n" + layout.text(side))
            }
        }
        try junit?.finish(Bytes(JUnitText(results).text.utf8))
        try sarif?.finish(Bytes(SARIFText(results).text.utf8))
    }

    /// Writes all of them.
    func finish(_ summary: CampaignSummary) throws {
        let results = summary.results
        if options.isJSON {
            try ProcessStreams.output(CampaignLines.line(summary.status, isLast: true))
        } else if options.junit != "-", options.sarif != "-" {
            try ProcessStreams.output(
                CampaignText(isColoured: ProcessStreams.isColoured(STDOUT_FILENO)).text(summary))
        }
        try junit?.finish(Bytes(JUnitText(results).text.utf8))
        try sarif?.finish(Bytes(SARIFText(results).text.utf8))
        guard let html else { return }
        let page = CampaignPage(summary, inside: InspectorPage.asInside) { finding, output in
            let folder = "\(summary.folder)/\(finding.name)/"
            let session = try SessionPages.log(
                finding.name, MemorySource(finding.evidence.session, name: finding.name),
                file: folder + "failing.ndjson", profile: summary.judge.profile)
            try OfflinePage([(finding.name, session)]).write(to: output)
        }
        try page.write { try html.write($0) }
        try html.finish([])
    }
}

/// How a campaign stands, on standard error while it goes on: a page that is written over on a
/// terminal, and a line now and then elsewhere.
struct FuzzScreen {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let isColoured = ProcessStreams.isColoured(STDERR_FILENO)
    private let isJSON: Bool
    private var lastShown: Int64 = 0
    private var lastLine: Int64 = 0

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    /// Nanoseconds between two pages, and between two lines of a log.
    private static let pagePause: Int64 = 500_000_000
    private static let linePause: Int64 = 30_000_000_000
    private static let jsonPause: Int64 = 1_000_000_000

    /// Whether it is time to show something.
    func isDue(_ now: Int64) -> Bool {
        (isTerminal && now - lastShown >= Self.pagePause)
            || (!isTerminal && now - lastShown >= Self.linePause)
            || (isJSON && now - lastLine >= Self.jsonPause)
    }

    mutating func show(_ status: CampaignStatus) throws {
        let now = status.elapsed
        if isJSON, now - lastLine >= Self.jsonPause {
            lastLine = now
            try ProcessStreams.output(CampaignLines.line(status, isLast: false))
        }
        if isTerminal, now - lastShown >= Self.pagePause {
            lastShown = now
            ProcessStreams.showStatus(status.page(isColoured: isColoured))
        } else if !isTerminal, now - lastShown >= Self.linePause {
            lastShown = now
            ProcessStreams.remark(.note, status.line)
        }
    }
}
