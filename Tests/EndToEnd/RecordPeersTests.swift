import Capture
import Foundation
import Testing
import Wire

/// Peers that stand on other implementations talk through the recorder as they do without it.
@Suite struct RecordPeersTests {
    private static let clients = ["ws_client", "aiohttp_ws_client"]
    private static let servers = ["ws_echo_server", "aiohttp_ws_echo_server"]

    private struct Talk {
        let client: PeerReport
        let server: PeerReport

        var connection: JSON? { server["connections"]?[0] }
    }

    private func talk(
        _ client: String, _ server: String, _ arguments: [String], compress: Bool,
        in folder: TestFolder, through: (UInt16) throws -> UInt16
    ) throws -> Talk {
        let flags = compress ? ["--compress"] : []
        let board = try Peer(listening: server, flags, in: folder)
        let app = try Peer(client, to: try through(board.port), arguments + flags, in: folder)
        return Talk(client: try app.finish(), server: try board.finish())
    }

    @Test(arguments: clients.flatMap { client in servers.map { (client, $0) } }, [false, true])
    func `clients and servers say the same through the recorder`(
        peers: (client: String, server: String), compress: Bool
    ) throws {
        let folder = try TestFolder()
        let arguments = ["--messages", "120", "--size", "600", "--close-reason", "done"]
        let direct = try talk(
            peers.client, peers.server, arguments, compress: compress, in: folder
        ) { $0 }
        var recorder: RunningRecorder?
        let talk = try talk(
            peers.client, peers.server, arguments, compress: compress, in: folder
        ) {
            let running = try RunningRecorder(to: $0, in: folder)
            recorder = running
            return running.port
        }
        let running = try #require(recorder)
        let outcome = try running.stop()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")

        #expect(talk.client.isGood && talk.server.isGood)
        #expect(talk.client.json == direct.client.json)
        #expect(talk.server.json == direct.server.json)
        let extensions = talk.client["extensions"]?.stringValue
        #expect((extensions?.contains("permessage-deflate") == true) == compress)

        let session = try running.session()
        #expect(session.flaws == [])
        let connection = try #require(session.onlyConnection)
        #expect(connection.messages(of: .app) == talk.client.sent)
        #expect(connection.messages(of: .app) == talk.connection?["received"].flatMap(Tally.init))
        #expect(connection.messages(of: .board) == talk.client.received)
        let compressed = connection.events.contains {
            if case .message(let message) = $0.kind { message.compressed } else { false }
        }
        #expect(compressed == compress)
        #expect(connection.closes == [.app: .fin, .board: .fin])
        #expect(try RunningRecorder.verify(running.files) == "")
    }

    @Test func `fragmented and compressed messages are put together in the file`() throws {
        let folder = try TestFolder()
        let board = try Peer(listening: "ws_echo_server", ["--compress"], in: folder)
        let recorder = try RunningRecorder(to: board.port, in: folder)
        let app = try Peer(
            "ws_client", to: recorder.port,
            ["--compress", "--fragments", "4", "--messages", "60", "--size", "3000"], in: folder)
        let client = try app.finish()
        let server = try board.finish()
        #expect(client.isGood && server.isGood)
        #expect(try recorder.stop().exitCode == 0)

        let session = try recorder.session()
        #expect(session.flaws == [])
        let connection = try #require(session.onlyConnection)
        #expect(connection.messages(of: .app) == client.sent)
        #expect(connection.messages(of: .board) == client.received)
        let counts = connection.events.compactMap {
            if $0.from == .app, case .message(let message) = $0.kind { message.frames } else { nil }
        }
        // Four with content and an empty last one.
        #expect(counts.contains(5))
    }

    @Test func `messages of over a mebibyte are recorded in pieces`() throws {
        let folder = try TestFolder()
        let board = try Peer(listening: "aiohttp_ws_echo_server", in: folder)
        let recorder = try RunningRecorder(to: board.port, in: folder)
        let app = try Peer(
            "ws_client", to: recorder.port,
            ["--messages", "6", "--size", "1500000", "--kind", "binary", "--seed", "3"],
            in: folder)
        let client = try app.finish()
        #expect(client.isGood)
        #expect(try board.finish().isGood)
        #expect(try recorder.stop().exitCode == 0)

        let session = try recorder.session()
        #expect(session.flaws == [])
        let connection = try #require(session.onlyConnection)
        #expect(connection.messages(of: .app) == client.sent)
        #expect(connection.messages(of: .board) == client.received)
        let pieces = connection.events.filter { if case .piece = $0.kind { true } else { false } }
        #expect(pieces.count > 4)
        #expect(try RunningRecorder.verify(recorder.files) == "")
    }

    // MARK: curl

    private func curl(_ arguments: [String], in folder: TestFolder) throws -> String {
        let curl = try Child(
            "curl", ["--silent", "--show-error", "--max-time", "30", "--noproxy", "*"] + arguments,
            in: folder)
        let outcome = try curl.finish()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return outcome.output
    }

    @Test func `curl and a queue speak HTTP of every kind through the recorder`() throws {
        let folder = try TestFolder()
        let board = try Peer(listening: "aiohttp_board", in: folder)
        let recorder = try RunningRecorder(to: board.port, in: folder)
        let base = "http://127.0.0.1:\(recorder.port)/api/phone-bridge"
        let commands = "\(base)/commands"
        func command(_ id: String) -> String {
            #"{"command":{"id":"\#(id)","type":"clipboard_read","params":{},"timeout_ms":5000}}"#
        }
        let code = ["--write-out", "%{http_code}"]
        let long =
            #"{"id":"c2","ok":true,"data":{"text":"\#(String(repeating: "ä", count: 5000))"}}"#

        let status = try curl(["\(base)/status"], in: folder)
        #expect(status == "{\"connected\":false}\n")
        #expect(try curl(["--head", "\(base)/status"], in: folder).hasPrefix("HTTP/1.1 200 OK"))
        #expect(
            try curl(["--data", command("c1"), commands] + code, in: folder).hasSuffix("202"))
        #expect(
            try curl(
                ["--header", "Transfer-Encoding: chunked", "--data", command("c2"), commands]
                    + code, in: folder
            ).hasSuffix("202"))
        #expect(
            try curl(
                ["--header", "Expect: 100-continue", "--data", command("c3"), commands] + code,
                in: folder
            ).hasSuffix("202"))
        #expect(
            try curl(["--data", command("c1"), commands] + code, in: folder).hasSuffix("409"))
        // Two requests on one connection.
        let polls = try curl(
            [
                "\(commands)?platform=ios&phone_id=p", "\(commands)?platform=ios&phone_id=p",
                "--write-out", "<%{num_connects}>",
            ], in: folder)
        #expect(polls.contains("\"id\":\"c3\"") && polls.contains("<1>"))
        #expect(polls.contains("\"commands\":null") && polls.hasSuffix("<0>"))
        #expect(
            try curl(["--data", long, "\(base)/results"] + code, in: folder).hasSuffix("200"))
        #expect(try curl(["\(base)/results/c2"], in: folder).contains("\"status\":\"completed\""))
        #expect(
            try curl(["--data", "{\"id\":\"none\"}", "\(base)/results"] + code, in: folder)
                .hasSuffix("404"))
        #expect(try curl(["http://127.0.0.1:\(recorder.port)/stop"], in: folder) == "{}\n")
        let report = try board.finish()
        let outcome = try recorder.stop()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")

        let session = try recorder.session()
        #expect(session.flaws == [])
        var calls: [String: Int64] = [:]
        var framings: Set<String> = []
        var interim = 0
        var mostExchanges = 0
        for connection in session.connections.values {
            var requests: [Int: Event.Request] = [:]
            for request in connection.requests {
                requests[request.exchange] = request
                framings.insert("\("\(request.body.framing)".prefix { $0 != "(" })")
            }
            mostExchanges = max(mostExchanges, requests.count)
            for response in connection.responses {
                guard response.status >= 200 else {
                    interim += 1
                    continue
                }
                let request = try #require(requests[response.exchange])
                let path = request.target.prefix { $0 != "?" }
                calls["\(request.method) \(path) \(response.status)", default: 0] += 1
                if request.method == "HEAD" {
                    #expect(response.body.content == .whole([]))
                } else if path == "/api/phone-bridge/status" {
                    #expect(response.body.content == .whole(Bytes(status.utf8)))
                }
                if path == "/api/phone-bridge/results", response.status == 200 {
                    #expect(request.body.content == .whole(Bytes(long.utf8)))
                }
            }
        }
        let told = Dictionary(
            uniqueKeysWithValues: (report["calls"]?.members ?? []).map {
                ($0.name, $0.value.integerValue ?? 0)
            })
        #expect(calls == told)
        #expect(interim == 1)
        #expect(framings == ["none", "length", "chunked"])
        #expect(mostExchanges == 2)
        let kinds = Set(
            session.connections.values.flatMap(\.events).flatMap(\.bridge).compactMap {
                $0["kind"]?.stringValue
            })
        #expect(try RunningRecorder.verify(recorder.files) == "")
        #expect(kinds.isSuperset(of: ["enqueue", "poll", "command", "result", "query", "status"]))
    }
}
