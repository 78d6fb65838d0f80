import Capture
import Glibc
import PhoneBridge
import Simulator
import Wire

/// Measures what happens to a message away from the network, and prints a line of JSON for each.
///
///     bridgetap-bench FOLDER [NAME] [SECONDS]
///     bridgetap-bench FOLDER traffic MEGABYTES
///     bridgetap-bench FOLDER hour
///     bridgetap-bench FOLDER cases [COUNT]
///     bridgetap-bench SCRIPTS score DEFECT|board|app METHOD SEED SECONDS
///
/// The second form only writes `traffic.pcap` of that size, for measurements of whole programs.
/// `FOLDER` is where files are written; `NAME` runs one benchmark (`all`: every one). The script
/// `Benchmarks/files` runs it beside other programs and holds the results to their aims.
@main
enum Main {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else {
            print("usage: bridgetap-bench FOLDER [NAME] [SECONDS]")
            exit(2)
        }
        if arguments.count > 3, arguments[2] == "traffic", let size = Int(arguments[3]) {
            do {
                _ = try PacketTraffic(
                    path: arguments[1] + "/traffic.pcap", size: size * 1_000_000)
            } catch {
                print("bridgetap-bench: \(error)")
                exit(1)
            }
            return
        }
        if arguments.count > 2, arguments[2] == "hour" {
            do {
                try HourReplay(folder: arguments[1]).run()
            } catch {
                print("bridgetap-bench: \(error)")
                exit(1)
            }
            return
        }
        if arguments.count > 2, arguments[2] == "cases" {
            do {
                try CaseBenchmarks(count: arguments.dropFirst(3).first.flatMap { Int($0) }).run()
            } catch {
                print("bridgetap-bench: \(error)")
                exit(1)
            }
            return
        }
        if arguments.count > 2, arguments[2] == "score" {
            guard let score = FuzzScore(scripts: arguments[1], Array(arguments.dropFirst(3))) else {
                print("usage: bridgetap-bench SCRIPTS score DEFECT|board|app METHOD SEED SECONDS")
                exit(2)
            }
            score.run()
            return
        }
        let suite = Suite(
            folder: arguments[1],
            only: arguments.count > 2 && arguments[2] != "all" ? arguments[2] : nil,
            seconds: arguments.count > 3 ? Double(arguments[3]) ?? 1 : 1)
        do {
            try suite.run()
        } catch {
            print("bridgetap-bench: \(error)")
            exit(1)
        }
    }
}

/// The benchmarks.
struct Suite {
    /// The messages of one pass.
    private static let count = 40_000

    let folder: String
    private let only: String?
    private let seconds: Double
    private let traffic = Traffic(count: count)

    init(folder: String, only: String?, seconds: Double) {
        self.folder = folder
        self.only = only
        self.seconds = seconds
    }

    func run() throws {
        decodeFrames()
        scanJSON()
        readMeaning()
        encodeLines()
        try writeFile()
        try readFile()
        try recordConnection("record", traffic)
        try recordConnection("record load", Traffic(load: Self.count))
        try readPackets()
    }

    // MARK: Wire

    private func decodeFrames() {
        guard isWanted("frames") else { return }
        let wire = traffic.wire(from: .app)
        measure("frames", bytes: wire.count, messages: traffic.messages.count / 2) {
            var decoder = FrameDecoder()
            var payload = 0
            // As it arrives: a read brings some frames, and the last of them is cut.
            for start in stride(from: 0, to: wire.count, by: 16 << 10) {
                let chunk = wire.span.extracting(start..<min(start + 16 << 10, wire.count))
                var position = 0
                while case .frame(let frame)? = decoder.next(chunk, at: &position) {
                    payload &+= frame.payload.count
                }
            }
            return payload
        }
    }

    private func scanJSON() {
        let bytes = traffic.messages.reduce(0) { $0 + $1.payload.count }
        measure("json", bytes: bytes, messages: traffic.messages.count) {
            var scanner = JSONScanner()
            var tokens = 0
            for message in traffic.messages {
                do {
                    try scanner.scan(message.payload.span)
                    tokens &+= scanner.tape.count
                } catch {
                    print("json: \(error)")
                }
            }
            return tokens
        }
    }

    // MARK: PhoneBridge

    private func readMeaning() {
        guard isWanted("meaning") else { return }
        let events = traffic.events
        let bytes = traffic.messages.reduce(0) { $0 + $1.payload.count }
        measure("meaning", bytes: bytes, messages: events.count) {
            var reader = MeaningReader()
            var meant = 0
            for event in events {
                var event = event
                reader.annotate(&event)
                meant &+= event.bridge.count
            }
            return meant
        }
    }

    // MARK: Capture

    private func encodeLines() {
        guard isWanted("encode") else { return }
        let events = annotated()
        let encoder = EventEncoder()
        var lines = Bytes()
        for event in events { encoder.encode(event, into: &lines) }
        measure("encode", bytes: lines.count, messages: events.count) {
            lines.removeAll(keepingCapacity: true)
            for event in events { encoder.encode(event, into: &lines) }
            return lines.count
        }
    }

    /// Batches, as a recorder and `convert` have them, and events one by one.
    private func writeFile() throws {
        guard isWanted("write") || isWanted("write events") else { return }
        let events = annotated()
        let path = folder + "/write.ndjson"
        let write = { (body: (SessionWriter) -> Void) throws -> Int in
            let file = try SessionFile(path: path, overwrites: true)
            let writer = try SessionWriter(session: Self.session) {
                (_: Int) throws(OutputError) in file
            }
            body(writer)
            let status = writer.close(now: events.last?.time ?? 0)
            if let error = status.pausedBy { throw error }
            return Int(status.size)
        }
        let each = { (writer: SessionWriter) in
            for (index, event) in events.enumerated() {
                writer.receive(event)
                // A turn of the loop under load brings about as many.
                if index % 64 == 63 { writer.flush(now: event.time) }
            }
        }
        let size = try write(each)
        var batches: [EventBatch] = []
        try read(path) { batches.append($0) }
        try measure("write events", bytes: size, messages: events.count) { try write(each) }
        try measure("write", bytes: size, messages: events.count) {
            try write { writer in
                for batch in batches {
                    writer.receive(batch)
                    writer.flush(now: 0)
                }
            }
        }
    }

    /// Reads all of a session file; gives the number of its events.
    @discardableResult
    private func read(
        _ path: String, readsBridge: Bool = true, _ body: (EventBatch) -> Void = { _ in }
    ) throws -> Int {
        var reader = SessionReader(
            try SessionFileSource(path: path), readsBridge: readsBridge)
        var batch = EventBatch(gathersFrames: true)
        var events = 0
        while try reader.next(into: &batch) != nil {
            events += batch.count
            body(batch)
        }
        return events
    }

    /// Reads what `writeFile` left.
    private func readFile() throws {
        let path = folder + "/write.ndjson"
        let names = ["read", "read without bridge", "read events"]
        guard names.contains(where: isWanted) else { return }
        if only != nil { try Suite(folder: folder, only: "write", seconds: 0).writeFile() }
        let events = try read(path)
        let size = SessionFileInput(path: path).size.map { Int(clamping: $0) } ?? 0
        try measure("read", bytes: size, messages: events) { try read(path) }
        try measure("read without bridge", bytes: size, messages: events) {
            try read(path, readsBridge: false)
        }
        try measure("read events", bytes: size, messages: events) {
            var reader = SessionReader(try SessionFileSource(path: path))
            var events = 0
            while let item = try reader.next() {
                if case .event = item { events += 1 }
            }
            return events
        }
    }

    /// All that a message goes through in `bridgetap record`, but for the sockets.
    private func recordConnection(_ name: String, _ traffic: Traffic) throws {
        guard isWanted(name) else { return }
        let app = traffic.wire(from: .app)
        let board = traffic.wire(from: .board)
        let path = folder + "/record.ndjson"
        try measure(name, bytes: app.count + board.count, messages: traffic.messages.count) {
            let file = try SessionFile(path: path, overwrites: true)
            let writer: any SessionOutput = try SessionWriter(session: Self.session) {
                (_: Int) throws(OutputError) in file
            }
            let decoder = ConnectionDecoder(
                conn: 1, continued: Event.Continued(upgraded: true))
            var batch = EventBatch(gathersFrames: true)
            var meaning = MeaningReader()
            var time: Int64 = 0
            let step = 4 << 10
            for start in stride(from: 0, to: max(app.count, board.count), by: step) {
                time += 100_000
                for (side, wire) in [(Side.app, app), (.board, board)] where start < wire.count {
                    decoder.receive(
                        wire.span.extracting(start..<min(start + step, wire.count)), from: side,
                        at: time, into: &batch)
                }
                batch.update(
                    event: { meaning.annotate(&$0) },
                    frame: { meaning.annotate($0, payload: $1, into: &$2) })
                writer.receive(batch)
                batch.removeAll()
                writer.flush(now: time)
            }
            return writer.close(now: time).written
        }
    }

    // MARK: Measuring

    static let session = SessionInfo(
        id: "0123456789abcdef", startedAt: "2026-05-03T22:14:09.123456789Z",
        tool: "bridgetap-bench", source: "simulation")

    private func annotated() -> [Event] {
        var reader = MeaningReader()
        return traffic.events.map { event in
            var event = event
            reader.annotate(&event)
            return event
        }
    }

    func isWanted(_ name: String) -> Bool { only == nil || only == name }

    /// Repeats `body` for about the time asked for; prints the best pass and the median one.
    ///
    /// Processor time is measured as well: on a busy machine it says more than the clock.
    func measure(
        _ name: String, bytes: Int, messages: Int, _ body: () throws -> Int
    ) rethrows {
        guard isWanted(name) else { return }
        var passes: [Double] = []
        var processor: [Double] = []
        var checksum = 0
        let deadline = Self.now + seconds
        repeat {
            let (start, used) = (Self.now, Self.seconds(of: CLOCK_PROCESS_CPUTIME_ID))
            checksum = try body()
            passes.append(Self.now - start)
            processor.append(Self.seconds(of: CLOCK_PROCESS_CPUTIME_ID) - used)
        } while Self.now < deadline
        passes.sort()
        processor.sort()
        let median = passes[passes.count / 2]
        print(
            "{\"name\":\"\(name)\",\"mb_per_s\":\(Double(bytes) / median / 1e6),"
                + "\"best_mb_per_s\":\(Double(bytes) / passes[0] / 1e6),"
                + "\"ns_per_message\":\(median * 1e9 / Double(messages)),"
                + "\"cpu_ns_per_message\":\(processor[0] * 1e9 / Double(messages)),"
                + "\"passes\":\(passes.count),\"checksum\":\(checksum)}")
    }

    private static var now: Double { seconds(of: CLOCK_MONOTONIC) }

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
