import PhoneBridge
import Simulator
import Testing
import Wire

/// Each planted defect has a script that shows it, and that finds nothing on the clean peer.
@Suite struct DefectTests {
    /// Returns whether the misbehaviour was seen.
    typealias BoardScript = @Sendable (inout BoardBench) -> Bool
    typealias AppScript = @Sendable (inout AppBench) -> Bool

    private static let read = #"{"id":"q","type":"clipboard_read"}"#
    private static let other = #"{"id":"q","type":"calendar_query"}"#

    static let boardScripts: [Defect: BoardScript] = [
        .b1: { bench in
            _ = bench.enqueue(read)
            let second = bench.enqueue(read)
            return second.status == 202 && bench.poll() == ["q", "q"]
        },
        .b2: { bench in
            _ = bench.enqueue(read)
            _ = bench.post("/api/phone-bridge/results", #"{"id":"q","data":"old"}"#)
            guard bench.enqueue(other).status == 202 else { return false }
            return bench.get("/api/phone-bridge/results/q").json["result"]?["data"] == "old"
        },
        .b3: { bench in
            _ = bench.enqueue(#"{"id":"abc"}"#)
            return bench.enqueue(#"{"id":" ABC\ufffd"}"#).status != 202
        },
        .b5: { bench in
            let link = bench.connect()
            _ = bench.command(#"{"id":"a","type":"clipboard_read"}"#)
            bench.end(link, cleanly: false)
            return bench.poll("platform=ios&app_state=active&phone_id=phone-a1") == ["a"]
        },
        .b6: { bench in
            let link = bench.connect()
            let exchange = bench.command(#"{"id":"a","type":"clipboard_read"}"#)
            bench.say(#"{"id":"late","data":{"text":"x"}}"#, on: link)
            return bench.outcome(exchange) != nil
        },
        .b7: { bench in
            let link = bench.connect()
            let ten = bench.command(#"{"id":"x_10","type":"clipboard_read"}"#)
            let one = bench.command(#"{"id":"x_1","type":"clipboard_read"}"#)
            bench.say(#"{"id":"x_1","data":{"text":"for x_1"}}"#, on: link)
            return bench.outcome(ten) != nil && bench.outcome(one) == nil
        },
        .b8: { bench in
            _ = bench.enqueue(read)
            _ = bench.post("/api/phone-bridge/results", #"{"id":"q","data":1}"#)
            _ = bench.post("/api/phone-bridge/results", #"{"id":"q","data":2}"#)
            return bench.get("/api/phone-bridge/results/q").json["result"]?["data"] == 2
        },
        .b9: { bench in
            let link = bench.connect()
            let exchange = bench.command(#"{"id":"a","type":"clipboard_read"}"#)
            bench.say(#"{"id":"phone_app_state","data":{"app_state":"active"}}"#, on: link)
            return bench.outcome(exchange)?["data"]?["app_state"] == "active"
        },
        .b12: { bench in
            bench.connect()
            let exchange = bench.command(#"{"id":"a","type":"clipboard_read"}"#)
            bench.wait(6)
            return bench.outcome(exchange) == nil
        },
        .b14: { bench in
            let link = bench.connect()
            let exchange = bench.command(
                #"{"id":"a","type":"clipboard_read","timeout_ms":8000}"#)
            for _ in 0..<3 {
                bench.wait(5)
                bench.say(#"{"id":"heartbeat"}"#, on: link)
            }
            return bench.outcome(exchange) == nil
        },
        .b16: { bench in
            let link = bench.connect()
            return bench.say(#"{"id":"ping"}"#, on: link) != [#"{"id":"ping"}"#]
        },
        .b17: { bench in
            let link = bench.connect()
            bench.say(
                #"{"id":"phone_app_state","data":{"app_state":"active","#
                    + #""reported_at":"1999-01-01T00:00:00Z"}}"#, on: link)
            return bench.statusDocument["last_heartbeat_at"] == "1999-01-01T00:00:00Z"
        },
        .b18: { bench in
            bench.connect()
            bench.wait(200)
            return bench.closes.isEmpty && bench.statusDocument["connected"] == true
        },
        .b19: { bench in
            bench.connect()
            bench.wait(50)
            return !bench.closes.isEmpty
        },
        .b20: { bench in
            let link = bench.connect()
            bench.say(#"{"id":"phone_environment","data":{"system_name":"iOS"}}"#, on: link)
            bench.end(link, cleanly: false)
            return bench.statusDocument["environment"] != nil
        },
        .b21: { bench in
            let old = bench.connect()
            let new = bench.connect()
            bench.say(#"{"id":"phone_environment","data":{"system_name":"iOS"}}"#, on: new)
            let exchange = bench.command(#"{"id":"a","type":"clipboard_read"}"#)
            bench.end(old)
            return bench.statusDocument["environment"] == nil && bench.outcome(exchange) != nil
        },
        .b22: { bench in
            let old = bench.connect()
            bench.connect()
            bench.say(#"{"id":"phone_environment","data":{"system_name":"iOS"}}"#, on: old)
            return bench.statusDocument["environment"]?["system_name"] == "iOS"
        },
        .b23: { bench in
            let link = bench.connect()
            bench.say(#"{"id":"phone_environment","data":{"system_name":5}}"#, on: link)
            return bench.say(#"{"id":"heartbeat"}"#, on: link).isEmpty && bench.closes.isEmpty
        },
        .b24: { bench in
            _ = bench.enqueue(read)
            _ = bench.poll()
            bench.wait(200)
            return bench.poll().isEmpty && bench.status(of: "q") == "in_flight"
        },
        .b25: { bench in
            _ = bench.enqueue(read)
            _ = bench.poll()
            bench.wait(70)
            return bench.poll() == ["q-1"]
        },
        .b26: { bench in
            _ = bench.enqueue(read)
            _ = bench.poll()
            _ = bench.post("/api/phone-bridge/results", #"{"id":"q","data":1}"#)
            let status = bench.status(of: "q")
            bench.wait(70)
            return bench.poll() == ["q"] && status == "completed"
        },
        .b27: { bench in
            for index in 0..<5 { _ = bench.enqueue("{\"id\":\"c\(index)\"}") }
            let first = bench.poll("platform=ios&limit=2")
            return first.count == 2 && bench.poll("platform=ios&limit=50").count < 3
        },
        .b28: { bench in
            for index in 0..<5 { _ = bench.enqueue("{\"id\":\"c\(index)\"}") }
            return bench.poll("platform=ios&limit=2").count > 2
        },
        .b30: { bench in
            _ = bench.enqueue(#"{"id":"o","type":"open_app"}"#)
            return bench.poll("platform=android&app_state=background&fgs_bridge_enabled=true")
                == ["o"]
        },
        .b31: { bench in
            _ = bench.enqueue(#"{"id":"o","type":"open_app"}"#)
            _ = bench.poll("platform=ios&app_state=background&pip_bridge_enabled=true")
            return bench.poll("platform=ios&app_state=active") != ["o"]
        },
        .b32: { bench in
            _ = bench.enqueue(#"{"id":"a\"b"}"#)
            return bench.enqueue(#"{"id":"a\"b"}"#).json == .null
        },
        .b33: { bench in
            bench.cut("POST", "/api/phone-bridge/commands", #"{"command":{"id":"c"}}"#)
            return bench.status(of: "c") == "queued"
        },
    ]

    private static func create(_ id: String) -> String {
        """
        {"id":"\(id)","type":"calendar_create","payload":{"title":"t","start_at":\
        "2026-06-02T15:00:00+08:00","end_at":"2026-06-02T16:00:00+08:00"}}
        """
    }

    private static func events(_ bench: inout AppBench, on link: LinkID) -> [JSON]? {
        bench.ask(
            #"{"id":"query","type":"calendar_query","payload":{"from":"2026-06-01T00:00:00Z","#
                + #""to":"2026-06-04T00:00:00Z"}}"#, on: link)?["data"]?["events"]?.elements
    }

    static let appScripts: [Defect: AppScript] = [
        .a1: { bench in
            let link = bench.connect()
            _ = bench.ask(create("c"), on: link)
            _ = bench.ask(create("c"), on: link)
            return events(&bench, on: link)?.count == 2
        },
        .a2: { bench in
            let link = bench.connect()
            _ = bench.ask(create("c"), on: link)
            bench.end(link)
            bench.wait(5)
            let second = bench.open()
            _ = bench.ask(create("c"), on: second)
            return events(&bench, on: second)?.count == 2
        },
        .a3: { bench in
            let link = bench.connect()
            _ = bench.ask(create("c"), on: link)
            bench.perform(.background(.pip))
            bench.wait(0.1)
            bench.deliver("[\(create("c"))]")
            return events(&bench, on: link)?.count == 2
        },
        .a4: { bench in
            let link = bench.connect()
            _ = bench.ask(create("c1"), on: link)
            _ = bench.ask(create("c2"), on: link)
            return events(&bench, on: link)?.count == 1
        },
        .a6: { bench in
            let link = bench.connect()
            bench.say(#"{"id":"1","type":"clipboard_read"}"#, on: link, working: 0)
            let answers = bench.say(#"{"id":"2","type":"contacts_query"}"#, on: link)
            return json(answers.first ?? "")["id"] == "2"
        },
        .a7: { bench in
            let link = bench.connect()
            return bench.say(
                #"{"id":"c","type":"calendar_create","payload":{}}"#, on: link, working: 5
            ).isEmpty
        },
        .a9: { bench in
            let link = bench.connect()
            let answer = bench.ask(
                #"{"id":"c","type":"calendar_delete","payload":{"event_id":"x"}}"#, on: link)
            return answer?["error"]?["details"]?["native_code"] == nil
        },
        .a10: { bench in
            let link = bench.connect()
            bench.perform(.decide(.calendar, .pending))
            bench.say(create("c"), on: link, working: 6)
            bench.perform(.decide(.calendar, .granted))
            return bench.say(#"{"id":"d","type":"clipboard_read"}"#, on: link).isEmpty
        },
        .a11: { bench in
            let link = bench.connect()
            _ = bench.ask(create("c"), on: link)
            let start = events(&bench, on: link)?.first?["start_at"]?.stringValue ?? ""
            return Timestamp(start) != Timestamp("2026-06-02T15:00:00+08:00")
        },
        .a18: { bench in
            let link = bench.connect()
            return bench.say(
                #"{"id":"c","type":"clipboard_read"}"#, on: link, firstFragmentCount: 9
            ).isEmpty
        },
        .a20: { bench in
            let link = bench.connect()
            bench.perform(.decide(.calendar, .pending))
            let count = bench.log.count
            bench.say(create("c"), on: link, working: 40)
            let isSilent = bench.sent(from: count).isEmpty
            bench.perform(.decide(.calendar, .granted))
            bench.wait(6)
            // It is the beats that are missing, not the connection.
            return isSilent && bench.sent(from: count).count == 2 && bench.links.count == 1
        },
        .a22: { bench in
            let link = bench.connect()
            bench.end(link)
            bench.wait(1)
            return bench.links.count == 2
        },
        .a24: { bench in
            let link = bench.connect()
            bench.perform(.background(.pip))
            bench.wait(60)
            bench.perform(.foreground)
            bench.perform(.background(.pip))
            bench.wait(60)
            let beats = bench.sent().count { $0.contains("heartbeat") }
            return bench.polls.count == 1 && beats > 20 && bench.links == [link]
        },
    ]

    @Test(arguments: Defect.allCases)
    func `a defect shows itself, and the clean peer does not show it`(defect: Defect) throws {
        switch defect.side {
        case .board:
            let script = try #require(Self.boardScripts[defect])
            var planted = BoardBench(defect)
            var clean = BoardBench()
            #expect(script(&planted))
            #expect(!script(&clean))
        case .app:
            let script = try #require(Self.appScripts[defect])
            var planted = AppBench(defect)
            var clean = AppBench()
            #expect(script(&planted))
            #expect(!script(&clean))
        }
    }

    @Test func `each defect is found by its id and has a line of its own`() {
        for defect in Defect.allCases {
            #expect(Defect(id: defect.rawValue) == defect)
            #expect(Defect(id: defect.rawValue.lowercased()) == defect)
            #expect(!defect.summary.contains("\n") && !defect.summary.isEmpty)
        }
        #expect(Set(Defect.allCases.map(\.summary)).count == Defect.allCases.count)
        #expect(Defect(id: "B99") == nil)
    }
}
