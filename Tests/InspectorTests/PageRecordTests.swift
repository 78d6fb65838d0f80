import Capture
import Inspector
import PhoneBridge
import Report
import Testing
import Wire

@Suite struct PageRecordTests {
    private func text(_ record: PageRecord) -> String { record.json.description }

    @Test func `each record is an array that begins with what it is`() throws {
        let rule = try #require(RuleChecker.rules.first)
        let breach = Breach(
            rule: rule, side: .board, conn: 1, time: 5, events: [3, 4], text: "a < b")
        let rows: [(PageRecord, String)] = [
            (.upgraded(conn: 1, time: 2), #"["u",1,2]"#),
            (.queued(conn: 1, time: 2), #"["k",1,2]"#),
            (.closed(conn: 1, time: 2, .reset, side: .board), #"["x",1,2,"reset","board"]"#),
            (.appState("active", phone: "p1", time: 2), #"["a",2,"p1","active"]"#),
            (.heartbeat(conn: 1, time: 2), #"["h",1,2]"#),
            (.block(number: 0, first: 1, last: 9), #"["d",0,1,9]"#),
            (.time(7), #"["e",7]"#),
            (
                .opened(conn: 1, time: 2, Event.Open(app: "a", board: "b")),
                #"["c",1,2,"a","b",null,false]"#
            ),
            (.about(nil, name: "n", replay: "r"), #"["i",{"name":"n","replay":"r"}]"#),
        ]
        for (record, expected) in rows { #expect(text(record) == expected) }
        let told = PageRecord.breach(breach, .excused("known")).json
        #expect(told[0] == "b" && told[8] == "a < b" && told[9] == "excused" && told[10] == "known")
        #expect(told[11] == [3, 4])
    }

    @Test func `a row says what the timeline's line says`() {
        let line = TimelineLine(
            isBroken: true, time: 5, conn: 2, direction: .from(.app), label: Styled("result"),
            text: [Styled("#1 ", .strong), Styled("", .bad), Styled("x\u{7}", isValue: true)],
            seq: 9,
            command: .init(
                number: 1, type: "open_app",
                step: .answered(code: "denied", isLate: true, isDuplicate: false)))
        #expect(
            text(.row(line, .late))
                == ##"["r",9,5,2,1,"result","p",true,"late",["s","#1 ","p","x\\u{7}"],"##
                + #"[1,"open_app","answered","denied",true,false]]"#)
        let fold = TimelineLine(time: 1, direction: .both, label: "alive", counted: 3...8)
        #expect(text(.row(fold, nil)).hasSuffix(",null,[],null,3,8]"))
        let sent = TimelineLine(
            time: 1, label: "command",
            command: .init(number: 2, type: "t", step: .sent(deadline: nil, isAgain: true)))
        #expect(text(.row(sent, nil)).hasSuffix(#"[2,"t","sent",null,true]]"#))
    }
}
