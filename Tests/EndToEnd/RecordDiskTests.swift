import Capture
import Foundation
import Glibc
import Testing

/// A disk that fills up stops the recording and not the traffic (capture format, "Disk full").
@Suite(.enabled(if: geteuid() == 0, "mounting needs root"))
struct RecordDiskTests {
    /// A small file system in memory, with something on it that can be removed.
    private final class SmallDisk {
        let folder: TestFolder
        private let path: String
        private let ballast: String

        init(mebibytes: Int, ballast size: Int) throws {
            folder = try TestFolder()
            path = folder.file("disk")
            ballast = "\(path)/ballast"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
            guard unsafe mount("tmpfs", path, "tmpfs", 0, "size=\(mebibytes)m") == 0 else {
                throw Trouble("mount: errno \(errno)")
            }
            try Data(repeating: 0, count: size << 20).write(to: URL(filePath: ballast))
        }

        deinit { unsafe umount2(path, Int32(MNT_DETACH)) }

        func file(_ name: String) -> String { "\(path)/\(name)" }

        func size(of name: String) throws -> UInt64 {
            let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
            return attributes[.size] as? UInt64 ?? 0
        }

        func makeRoom() throws { try FileManager.default.removeItem(atPath: ballast) }
    }

    private func start(
        _ disk: SmallDisk, _ load: EchoLoad, file: String, flags: [String] = []
    ) throws -> RunningRecorder {
        load.fill = { _ in 6000 }
        let recorder = try RunningRecorder(
            to: load.port, in: disk.folder, files: [disk.file(file)], flags: flags)
        try load.connect(2, through: recorder.port)
        return recorder
    }

    /// Lets so many more messages cross on each connection.
    private func talk(_ load: EchoLoad, _ count: Int) throws {
        load.limit = load.apps[0].sent + count
        try load.run { load.apps.allSatisfy { $0.received == load.limit } }
    }

    @Test(arguments: ["lab.ndjson", "lab.ndjson.gz", "lab.ndjson.zst"])
    func `traffic flows on, and the recording too once there is room`(file: String) throws {
        let load = try EchoLoad()
        let disk = try SmallDisk(mebibytes: 4, ballast: 3)
        let recorder = try start(disk, load, file: file)
        // Over twice what there is room for, both directions of both connections together.
        try talk(load, 240)
        let isPaused = "traffic flows on, and is not recorded"
        try load.run { recorder.child.errors.contains(isPaused) }
        try talk(load, 10)
        #expect(recorder.child.errors.contains("no space left on device (write, ENOSPC)"))
        try disk.makeRoom()
        // What was cut off may have left room for a little, so that it went on once before.
        try load.run {
            let told = recorder.child.errors
            let pause = told.range(of: isPaused, options: .backwards)
            let goesOn = told.range(of: "goes on; ", options: .backwards)
            guard let pause, let goesOn else { return false }
            return goesOn.lowerBound > pause.lowerBound
        }
        // It may have paused once more behind that, and not told yet.
        let deadline = Deadline(30)
        var grown: UInt64 = 0
        while grown < 6000, !deadline.isOver {
            let size = try disk.size(of: file)
            try talk(load, 1)
            grown = try disk.size(of: file) - size
        }
        try talk(load, 20)
        let last = load.apps[0].sent - 1
        try load.finish()
        #expect(load.faults == [])
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 6)
        #expect(outcome.errors.contains("is incomplete: "))

        let session = try recorder.session()
        #expect(session.flaws == [])
        let end = try #require(session.end)
        #expect(end.dropped > 0)
        let gaps = session.notes.filter { $0.code == "recording_gap" }
        #expect(gaps.count >= 1)
        for number in 1...2 {
            let connection = try #require(session.connections[number])
            for side in Side.allCases {
                let whys = connection.events.compactMap {
                    if $0.from == side, case .gap(let gap) = $0.kind { gap.why } else { nil }
                }
                #expect(!whys.isEmpty && whys.allSatisfy { $0 == "disk_full" })
                // What is there is right at both ends of the gap.
                let pair = number - 1
                let frames = connection.frames(from: side)
                #expect(frames.count >= 20 && frames.count <= last)
                #expect(frames.last == EchoEnd.message(pair: pair, last, fill: 6000))
                if whys.count == 1 {
                    #expect(frames.first == EchoEnd.message(pair: pair, 0, fill: 6000))
                }
            }
            #expect(connection.closes == [.app: .fin, .board: .fin])
        }
        // `flaws` has added up what is there and what is missing: together it is all that crossed.
        #expect(end.bytesApp > 2 * 270 * 6000 && end.bytesBoard > 2 * 270 * 6000)
    }

    @Test func `a disk that stays full leaves a file that is whole so far, and exit code 6`() throws
    {
        let load = try EchoLoad()
        let disk = try SmallDisk(mebibytes: 1, ballast: 0)
        let recorder = try start(disk, load, file: "lab.ndjson")
        try talk(load, 240)
        try load.finish()
        #expect(load.faults == [])
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 6)
        #expect(outcome.errors.contains(" events could not be written"))
        // What was cut off may have left just enough room for the last lines.
        let session = try recorder.session()
        #expect(session.faults == [] && session.remarks == [])
        #expect(session.events > 20)
    }

    @Test func `a strict recorder closes the link instead`() throws {
        let load = try EchoLoad()
        let disk = try SmallDisk(mebibytes: 1, ballast: 0)
        let recorder = try start(disk, load, file: "lab.ndjson", flags: ["--strict"])
        load.limit = 1000
        try load.run { (load.apps + load.boards).allSatisfy { $0.end == .reset } }
        #expect(load.faults == [])
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 6)
        #expect(outcome.errors.contains("the link was closed, since it cannot be recorded"))
        let session = try recorder.session()
        #expect(session.faults == [] && session.remarks == [])
        // Nothing crossed that is not in the file.
        for board in load.boards {
            let app = load.apps[board.number]
            let connection = try #require(session.connections[board.number + 1])
            #expect(connection.frames(from: .app).count >= board.received)
            #expect(connection.frames(from: .board).count >= app.received)
        }
    }
}
