import Capture
import Glibc
import Report

/// How far the reading of files has come, as a line on the terminal that is written over.
///
///     lab.ndjson  1.2 of 4.7 GB  26 %  310 MB/s  11 s left
///
/// Nothing is shown where standard error is no terminal, in the first second, and of a stream.
/// It costs a look at the clock a read.
final class Progress {
    private let total: UInt64
    private var taken: [String: UInt64] = [:]
    private let start = Progress.now()
    private var lastDrawn: Int64 = 0
    private let isShown: Bool

    /// Expects to read `inputs`; shows nothing where `isWanted` is false.
    init(_ inputs: [SessionFileInput], isWanted: Bool = true) {
        let sizes = inputs.map(\.size)
        total = sizes.reduce(0) { $0 &+ ($1 ?? 0) }
        isShown = isWanted && isatty(STDERR_FILENO) == 1 && !sizes.contains(nil)
    }

    /// The input, which tells of its progress and ends early where the user wants to.
    func watched(_ input: SessionFileInput) -> any SessionInput {
        WatchedInput(input: input, progress: self)
    }

    fileprivate func begin(_ name: String) { taken[name] = 0 }

    fileprivate func took(_ count: Int, of name: String) {
        taken[name, default: 0] &+= UInt64(clamping: count)
        guard isShown else { return }
        let now = Self.now()
        guard now - start > 1_000_000_000, now - lastDrawn > 200_000_000 else { return }
        lastDrawn = now
        draw(name, elapsed: now - start)
    }

    /// Takes the line away.
    func clear() { ProcessStreams.showStatus(nil) }

    private func draw(_ name: String, elapsed: Int64) {
        let done = min(taken.values.reduce(0, &+), total)
        guard total > 0 else { return }
        let seconds = Double(elapsed) / 1e9
        let rate = Double(done) / seconds
        var parts = [
            visible(name), "\(byteCount(done)) of \(byteCount(total))",
            "\(Int(Double(done) / Double(total) * 100)) %", "\(byteCount(UInt64(rate)))/s",
        ]
        if rate > 0 {
            let rest = Double(total - done) / rate
            parts.append("\(timeLeft(rest)) left")
        }
        ProcessStreams.showStatus(parts.joined(separator: "  "))
    }

    private func timeLeft(_ seconds: Double) -> String {
        seconds < 120
            ? "\(Int(seconds.rounded(.up))) s" : "\(grouped(Int(min(seconds / 60, 1e9)))) min"
    }

    private static func now() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

private struct WatchedInput: SessionInput {
    let input: SessionFileInput
    let progress: Progress

    var name: String { input.name }
    var isStream: Bool { input.isStream }

    func open() throws(SourceError) -> any ByteSource {
        progress.begin(name)
        let source = try SessionFileSource(path: input.path)
        return WatchedSource(source, progress: progress, isStream: input.isStream)
    }
}

/// A source that counts what it gives, and gives no more once a signal asked for the end.
private final class WatchedSource: ByteSource {
    private let source: SessionFileSource
    private let progress: Progress
    private let isStream: Bool

    init(_ source: SessionFileSource, progress: Progress, isStream: Bool) {
        self.source = source
        self.progress = progress
        self.isStream = isStream
    }

    var name: String { source.name }
    var mayWait: Bool { isStream }

    func read(into bytes: inout [UInt8], maximum: Int) throws(SourceError) {
        // A read would not notice the signal.
        while isStream, !Interruption.isRequested, !source.isReady(withinMilliseconds: 200) {}
        guard !Interruption.isRequested else { return }
        let before = bytes.count
        try source.read(into: &bytes, maximum: maximum)
        progress.took(bytes.count - before, of: name)
    }
}
