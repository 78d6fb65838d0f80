import Capture
import Testing
import Wire

/// Two programs that read the same packets have to say the same; tshark has to be installed.
@Suite struct TsharkAgreementTests {
    private typealias Items = [SampleSession.Key: [WireItem]]

    private func events(_ path: String) throws -> [Event] {
        try readEvents(SessionFileSource(path: path))
    }

    /// Says where the two differ; nothing if they do not.
    ///
    /// tshark puts fragments together unless the last one is empty: what it has of messages is
    /// among ours, in their order.
    private func differences(_ ours: Items, _ theirs: Items) -> [String] {
        var found: [String] = []
        for key in Set(ours.keys).union(theirs.keys) {
            let left = (ours[key] ?? []).filter { !isMessage($0) }
            let right = (theirs[key] ?? []).filter { !isMessage($0) }
            if left.count != right.count {
                found.append("\(key): \(left.count) things, tshark has \(right.count)")
            }
            for (index, pair) in zip(left, right).enumerated() where !agree(pair.0, pair.1) {
                found.append("\(key), \(index): \(pair.0), tshark has \(pair.1)")
            }
            var messages = (ours[key] ?? []).filter(isMessage)[...]
            for message in (theirs[key] ?? []).filter(isMessage) {
                guard let index = messages.firstIndex(of: message) else {
                    found.append("\(key): tshark alone has \(message)")
                    break
                }
                messages = messages[(index + 1)...]
            }
        }
        return found
    }

    private func isMessage(_ item: WireItem) -> Bool {
        if case .message = item { true } else { false }
    }

    private func agree(_ ours: WireItem, _ theirs: WireItem) -> Bool {
        if case .frame(let fin, let rsv, let opcode, let length, let mine) = ours,
            case .frame(fin, rsv, opcode, length, let other) = theirs, mine == nil || other == nil
        {
            return true
        }
        return ours == theirs
    }

    @Test(arguments: PacketCapture.complete)
    func `a real capture is read as tshark reads it`(_ capture: PacketCapture) throws {
        let ours = Items(try events(capture.path))
        let theirs = try TsharkReading.read(capture.path, port: 18080)
        #expect(!ours.isEmpty)
        #expect(differences(ours, theirs) == [])
    }

    @Test(arguments: [
        "all-commands", "compressed-android", "errors", "fgs-queue", "pip-queue", "reconnect",
    ])
    func `a session that was written as pcap is read as tshark reads it`(_ name: String) throws {
        let before = try exampleSession("\(name).ndjson")
        let folder = try TemporaryFolder()
        let path = try folder.write(try pcap(before), to: "lab.pcap")
        let board = before.compactMap { event -> Int? in
            guard case .open(let open) = event.kind else { return nil }
            return IPEndpoint(parsing: open.board).map { Int($0.port) }
        }
        let theirs = try TsharkReading.read(path, port: try #require(board.first))
        let after = try events(path)
        #expect(differences(Items(before), theirs) == [])
        #expect(differences(Items(after), theirs) == [])
    }

    @Test func `sessions made by chance are read as tshark reads them`() throws {
        for seed in 0..<12 {
            let session = RandomSession(seed: UInt64(seed), isLegal: true).session
            let folder = try TemporaryFolder()
            let path = try folder.write(try pcap(session.events), to: "lab.pcap")
            let theirs = try TsharkReading.read(path, port: 8080)
            let ours = try events(path)
            #expect(differences(Items(ours), theirs) == [], "seed \(seed)")
        }
    }

    @Test func `where tshark cuts a masked text at 256 KiB the session has all of it`() throws {
        var session = SampleSession()
        session.open(1)
        session.upgrade(1)
        let text = String(repeating: "0123456789abcdef", count: 20_000)
        for side in Side.allCases {
            session.text(1, side, text)
            session.text(1, side, "behind it")
            session.end(1, side)
        }
        let folder = try TemporaryFolder()
        let path = try folder.write(try pcap(session.events), to: "lab.pcap")
        let ours = Items(try events(path))
        let theirs = try TsharkReading.read(path, port: 8080)
        for side in Side.allCases {
            let key = SampleSession.Key(conn: 1, from: side)
            let mine = try #require(ours[key])
            let other = try #require(theirs[key])
            #expect(mine.count == 3 && other.count == 3)
            #expect(mine[2] == other[2])
            guard case .frame(true, 0, 1, 320_000, let whole?) = mine[1],
                case .frame(true, 0, 1, 320_000, let cut?) = other[1]
            else {
                Issue.record("\(mine[1]), tshark has \(other[1])")
                return
            }
            #expect(whole == Bytes(text.utf8))
            // It takes the mask off the first 256 KiB only.
            #expect(cut == (side == .app ? Bytes(whole[..<262_144]) : whole))
        }
    }
}
