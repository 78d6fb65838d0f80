import Dispatch
import Foundation
import Glibc
import Network
import Testing

/// Time, turns, mailboxes, files and signals, on every driver.
@Suite struct EventLoopTests {
    @Test(arguments: Driver.allCases)
    func `timers run in the order of their deadlines, and never early`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let loop = bench.client
        let start = loop.now
        var log: [(name: Int, late: Int64)] = []
        // In ascending order of deadline: 1, 2, 3 (equal ones keep their order), 4, 5.
        let deadlines: [(Int, Int64)] = [
            (4, 2_500_001), (1, -5), (2, 1_000_000), (3, 1_000_000), (5, 7_300_000),
        ]
        for (name, offset) in deadlines {
            loop.schedule(at: start + offset) { log.append((name, loop.now - start - offset)) }
        }
        let cancelled = loop.schedule(at: start + 2_000_000) { log.append((0, 0)) }
        cancelled.cancel()
        cancelled.cancel()
        #expect(!cancelled.isPending)
        bench.expect("all have run") { log.count == 5 }
        #expect(log.map(\.name) == [1, 2, 3, 4, 5])
        #expect(log.allSatisfy { $0.late >= 0 })
        bench.finish()
    }

    @Test func `what is due now does not wait for the next millisecond`() throws {
        let bench = try Driver.real.makeBench()
        let loop = bench.client
        var rounds = 0
        var isOver = false
        func again() {
            rounds += 1
            if !isOver { loop.schedule(at: loop.now) { again() } }
        }
        again()
        loop.schedule(after: 200 * nanosecondsPerMillisecond) { isOver = true }
        bench.expect("the time is over") { isOver }
        // At most one each millisecond, if each had waited for the clock's next tick.
        #expect(rounds > 250)
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a timer that schedules itself at once does not stop the world`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench)
        var rounds = 0
        func again() {
            rounds += 1
            if rounds < 1_000_000, pair.server.received.isEmpty {
                // On the simulated driver time stands still while it is given nothing to do.
                bench.client.schedule(at: bench.client.now + 1000) { again() }
            }
        }
        again()
        pair.client.stream.write([1])
        bench.expect("the byte gets through") { pair.server.received == [1] }
        pair.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `the end of a turn comes after its reads and before the next one's`(
        driver: Driver
    ) throws {
        let bench = try driver.makeBench()
        let pairs = try (0..<10).map { _ in try Pair(bench) }
        var turns: [[Int]] = [[]]
        var isPlanned = false
        for (index, pair) in pairs.enumerated() {
            pair.server.stream.onRead = { chunk in
                pair.server.received += chunk.bytes
                turns[turns.count - 1].append(index)
                if !isPlanned {
                    isPlanned = true
                    bench.server.atEndOfTurn {
                        isPlanned = false
                        turns.append([])
                    }
                }
            }
        }
        for pair in pairs { pair.client.stream.write(noise(300_000)) }
        bench.expect("all is read") { pairs.allSatisfy { $0.server.received.count == 300_000 } }
        bench.expect("the last turn has ended") { turns.last?.isEmpty == true }
        #expect(turns.count > 3)
        for turn in turns {
            #expect(Set(turn).count == turn.count, "once from each connection a turn")
        }
        for pair in pairs { pair.close() }
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a turn that only had a timer ends too, with what its end adds`(driver: Driver) throws {
        let bench = try driver.makeBench()
        var log: [String] = []
        bench.client.schedule(after: 1_000_000) {
            bench.client.atEndOfTurn {
                log.append("first")
                bench.client.atEndOfTurn { log.append("added") }
            }
            bench.client.atEndOfTurn { log.append("second") }
            log.append("timer")
        }
        bench.expect("the turn has ended") { log.count == 4 }
        #expect(log == ["timer", "first", "second", "added"])
        bench.finish()
    }

    @Test(arguments: [Driver.real, .simulated])
    func `run returns when nothing is left to wait for`(driver: Driver) throws {
        let bench = try driver.makeBench()
        var log: [Int] = []
        bench.client.atEndOfTurn { log.append(1) }
        bench.client.schedule(after: 1000) {
            log.append(2)
            bench.client.atEndOfTurn { log.append(3) }
        }
        bench.client.run()
        #expect(log.sorted() == [1, 2, 3])
        bench.client.run()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `other threads post through a bounded mailbox`(driver: Driver) throws {
        let bench = try driver.makeBench()
        var received: [Int] = []
        let mailbox = bench.client.mailbox(limit: 1000) { (number: Int) in
            received.append(number)
        }
        let isPosted = DispatchSemaphore(value: 0)
        let thread = Thread {
            for number in 0..<1000 { mailbox.post(number) }
            isPosted.signal()
        }
        thread.start()
        if driver == .real {
            bench.expect("all arrive") { received.count == 1000 }
        } else {
            // The virtual clock does not wait for a thread; the test does.
            isPosted.wait()
            bench.settle()
        }
        #expect(received == Array(0..<1000))
        for number in 0..<1001 { #expect(mailbox.post(number) == (number < 1000)) }
        #expect(mailbox.refused == 1)
        mailbox.close()
        #expect(!mailbox.post(1))
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `random bytes come in any number and differ`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let first = bench.client.randomBytes(1000)
        #expect(first.count == 1000)
        #expect(bench.client.randomBytes(0).isEmpty)
        #expect(bench.client.randomBytes(16) != bench.client.randomBytes(16))
        #expect(Set(first).count > 100)
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `signals reach those who wait for them`(driver: Driver) throws {
        let bench = try driver.makeBench()
        var count = 0
        let registration = try bench.client.onSignal(.user2) { count += 1 }
        let send = {
            if let host = bench.client as? SimulatedLoop {
                host.raise(.user2)
            } else {
                kill(getpid(), SIGUSR2)
            }
        }
        send()
        bench.expect("it arrives") { count == 1 }
        // A second watcher keeps the process safe from the default action.
        let other = try bench.client.onSignal(.user2) {}
        registration.cancel()
        send()
        bench.settle()
        #expect(count == 1)
        other.cancel()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `files grow at their end and can be cut`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "bridgetap-network-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "a.ndjson").path
        let file = try bench.client.openAppend(path, .createNew)
        try file.append(Array("one\ntwo\nthr".utf8))
        #expect(file.size == 11)
        try file.truncate(to: 8)
        try file.append(Array("three\n".utf8))
        #expect(file.size == 14)
        var syncs = 0
        for _ in 0..<3 {
            file.sync { error in
                #expect(error == nil)
                syncs += 1
            }
        }
        bench.expect("all syncs are answered") { syncs == 3 }
        file.close()
        #expect(throws: FileError(errno: EBADF, call: "write", path: path)) {
            try file.append([1])
        }
        #expect(throws: FileError(errno: EEXIST, call: "open", path: path)) {
            _ = try bench.client.openAppend(path, .createNew)
        }
        let again = try bench.client.openAppend(path, .append)
        #expect(again.size == 14)
        again.close()
        if let host = bench.client as? SimulatedLoop {
            #expect(host.disk.files[path] == Array("one\ntwo\nthree\n".utf8))
        } else {
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "one\ntwo\nthree\n")
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
        bench.finish()
    }

    @Test func `a device is opened as it is, where a file would have to be new`() throws {
        let bench = try Driver.real.makeBench()
        let file = try bench.client.openAppend("/dev/null", .createNew)
        try file.append([1, 2, 3])
        file.close()
        bench.finish()
    }

    @Test func `a full disk says how much of an append it took`() throws {
        let bench = try SimulatedBench(seed: 1, isChoppy: false)
        let disk = bench.clientHost.disk
        disk.capacity = 10
        let file = try bench.client.openAppend("a", .append)
        try file.append(Array("12345678".utf8))
        #expect(throws: FileError(errno: ENOSPC, call: "write", path: "a", written: 2)) {
            try file.append(Array("abcd".utf8))
        }
        #expect(file.size == 10)
        try file.truncate(to: 8)
        disk.capacity = nil
        try file.append(Array("abcd".utf8))
        #expect(disk.files["a"] == Array("12345678abcd".utf8))
        disk.writeError = EIO
        #expect(throws: FileError(errno: EIO, call: "write", path: "a")) { try file.append([1]) }
    }

    @Test func `the system's full device fails as a full disk does`() throws {
        let bench = try RealBench()
        let file = try bench.client.openAppend("/dev/full", .append)
        let error = #expect(throws: FileError.self) { try file.append([1, 2, 3]) }
        #expect(error?.description == "no space left on device (write, ENOSPC)")
        #expect(error?.written == 0)
        file.close()
        #expect(throws: FileError(errno: ENOENT, call: "open", path: "/nowhere/x")) {
            _ = try bench.client.openAppend("/nowhere/x", .append)
        }
        bench.finish()
    }

    @Test func `closing a loop with everything open leaves nothing behind`() throws {
        let bench = try RealBench()
        let pairs = try (0..<5).map { _ in try Pair(bench) }
        let listener = try bench.server.listen(
            on: bench.serverAddress, options: ListenOptions()
        ) { _ in }
        bench.client.connect(to: listener.localAddress, options: ConnectOptions()) { _ in
            Issue.record("the loop is closed")
        }
        _ = try bench.client.onSignal(.windowChange) {}
        bench.client.schedule(after: 1) { Issue.record("the loop is closed") }
        pairs[0].client.stream.write(noise(10_000_000))
        bench.finish()
        for pair in pairs {
            #expect(pair.client.stream.write([1]) == .refused)
            #expect(pair.client.ends.isEmpty)
            pair.client.stream.resume()
            pair.close()
        }
        listener.close()
        bench.finish()
    }
}
