package import Capture
import Network
import Report
package import Wire

/// How a campaign stands: a page for a terminal, a line for a log, and the same figures as JSON
/// (fuzzing plan, 3.2).
package struct CampaignStatus: Sendable {
    package var figures = CampaignFigures()
    /// Buckets that count, and those that the baseline knows.
    package var findings = 0
    package var excused = 0
    package var flaky = 0
    package var unconfirmed = 0
    package var withoutMutation = 0
    /// Known findings that are still there, and those that are fixed.
    package var stillThere = 0
    package var fixed = 0
    /// Nanoseconds since the beginning.
    package var elapsed: Int64 = 0
    /// Nanoseconds at most; nil for no limit.
    package var limit: Int64?
    /// Cases at most; nil for no limit.
    package var cases: Int?
    /// What the latest job is.
    package var current = ""
    /// Cases that the run began with, since an earlier one had done them.
    package var resumed = 0
    /// How it ended; nil while it goes on.
    package var end: CampaignEnd?
    /// The side under test.
    package var judged = Side.board

    package init() {}

    /// How it goes, in a word.
    package enum Health: String, Sendable {
        case good
        /// Nothing new was seen for long.
        case plateau
        /// The harness itself fails.
        case broken
    }

    /// So long without anything new is a plateau, in nanoseconds.
    package static let plateau = 600 * nanosecondsPerSecond

    package var health: Health {
        if figures.runs > 10, figures.troubles + figures.lost > figures.runs / 10 { return .broken }
        let latest = max(figures.lastEdge ?? 0, figures.lastFinding ?? 0)
        return elapsed - latest > max(Self.plateau, elapsed / 4) ? .plateau : .good
    }

    /// Cases a second of this run.
    package var rate: Double {
        elapsed > 0 ? Double(figures.cases - resumed) / (Double(elapsed) / 1e9) : 0
    }

    private var rateText: String {
        rate < 10 ? "\(Double(Int(rate * 10)) / 10)" : grouped(Int(min(rate, 1e12)))
    }

    private func ago(_ time: Int64?) -> String {
        time.map { "\(timeSpan(max(0, elapsed - $0))) ago" } ?? "none yet"
    }

    private var left: String {
        if let limit { return ", \(timeSpan(max(0, limit - elapsed))) left" }
        if let cases { return " of \(grouped(cases)) cases" }
        return ""
    }

    /// One line for a log.
    package var line: String {
        var parts = [
            "\(timeSpan(elapsed)): \(counted(figures.cases, "case")), \(rateText)/s",
            counted(figures.edges, "edge"), counted(findings, "finding"),
        ]
        if excused > 0 { parts.append("\(grouped(excused)) known") }
        if flaky > 0 { parts.append("\(grouped(flaky)) flaky") }
        if unconfirmed > 0 { parts.append("\(grouped(unconfirmed)) unconfirmed") }
        if withoutMutation > 0 { parts.append("\(grouped(withoutMutation)) without a mutation") }
        if figures.deaths > 0 { parts.append(counted(figures.deaths, "death")) }
        if figures.troubles > 0 {
            parts.append(counted(figures.troubles, "fault of the harness", "faults of the harness"))
        }
        if health != .good { parts.append(health.rawValue) }
        return parts.joined(separator: ", ")
    }

    /// A page for a terminal, a few lines.
    package func page(isColoured: Bool) -> String {
        func painted(_ text: String, _ code: String) -> String {
            isColoured ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
        }
        let word =
            switch health {
            case .good: painted("keeps going", "32")
            case .plateau: painted("plateau: nothing new for long", "33")
            case .broken: painted("the harness is broken: the target is not there", "31")
            }
        let found = "\(counted(findings, "finding")), latest \(ago(figures.lastFinding))"
        var apart = "known \(grouped(excused + stillThere)), flaky \(grouped(flaky)), "
        apart +=
            "unconfirmed \(grouped(unconfirmed)), without a mutation \(grouped(withoutMutation))"
        let unreached = figures.unreached(judging: judged).map(\.rawValue)
        return [
            "fuzzing for \(timeSpan(elapsed))\(left)  \(word)",
            "  cases     \(grouped(figures.cases)) (\(rateText)/s), runs \(grouped(figures.runs))",
            "  edges     \(grouped(figures.edges)), latest \(ago(figures.lastEdge))",
            "  findings  " + painted(found, findings > 0 ? "31" : "0"),
            "  apart     \(apart)",
            "  target    died \(grouped(figures.deaths)), lost \(grouped(figures.lost)); "
                + "harness failed \(grouped(figures.troubles))",
            "  reached   "
                + (unreached.isEmpty ? "all" : "not yet: " + unreached.joined(separator: ", ")),
            "  now       \(visible(current))",
        ].joined(separator: "\n")
    }

    /// The figures as an object.
    package func json(_ kind: String) -> JSON {
        func seconds(_ time: Int64?) -> JSON {
            time.map { .number("\(Double($0 / 1_000_000) / 1000)") } ?? .null
        }
        var members: [JSON.Member] = [
            .init("kind", .string(kind)), .init("elapsed", seconds(elapsed)),
            .init("left", seconds(limit.map { max(0, $0 - elapsed) })),
            .init("cases", .integer(figures.cases)),
            .init("cases_per_second", .number("\(Double(Int(min(rate, 1e12) * 10)) / 10)")),
            .init("runs", .integer(figures.runs)),
            .init("protocol_time", seconds(figures.protocolTime)),
            .init("edges", .integer(figures.edges)), .init("last_edge", seconds(figures.lastEdge)),
            .init("last_finding", seconds(figures.lastFinding)),
            .init("findings", .integer(findings)), .init("excused", .integer(excused)),
            .init("still_there", .integer(stillThere)), .init("fixed", .integer(fixed)),
            .init("flaky", .integer(flaky)), .init("unconfirmed", .integer(unconfirmed)),
            .init("without_mutation", .integer(withoutMutation)),
            .init("alike", .integer(figures.alike)), .init("deaths", .integer(figures.deaths)),
            .init("lost", .integer(figures.lost)), .init("troubles", .integer(figures.troubles)),
            .init(
                "reached",
                .object(
                    Sometimes.allCases.map {
                        .init($0.rawValue, .integer(figures.reached[$0] ?? 0))
                    })),
            .init(
                "mutations",
                .object(
                    figures.mutations.sorted { $0.key < $1.key }
                        .map { .init($0.key, .integer($0.value)) })),
            .init("health", .string(health.rawValue)), .init("current", .string(current)),
        ]
        if let end { members.append(.init("end", .string(end.word))) }
        return .object(members)
    }
}
