import Capture
import Testing
import Wire

@Suite struct RebuildCheckTests {
    private func check(_ kinds: [Event.Kind]) -> [String] {
        var check = RebuildCheck()
        return kinds.enumerated().compactMap { index, kind in
            check.rebuild(
                Event(
                    seq: index + 1, time: 0, conn: 1, from: .app, kind: kind))
        }
    }

    @Test func `what a decoder made can be rebuilt`() {
        var check = RebuildCheck()
        for event in SampleSession.everyday().events {
            let why = check.rebuild(event)
            #expect(why == nil)
        }
    }

    @Test func `a length that is not the content's is found`() {
        let header = FrameHeader(opcode: .text, payloadLength: 3)
        #expect(
            check([.frame(Event.FrameRecord(header: header, content: .whole([1, 2])))])
                == ["the frame's length is 3, its payload has 2 bytes"])
        #expect(
            check([
                .frame(
                    Event.FrameRecord(header: header, content: .whole([1, 2]), incomplete: true))
            ]).isEmpty)
        let body = Event.Body(content: .whole([1]), framing: .length(2))
        #expect(
            check([.request(Event.Request(exchange: 1, method: "PUT", target: "/", body: body))])
                == ["the body's length is 2, it has 1 bytes"])
    }

    @Test func `a head whose raw bytes are another head is found`() {
        var request = Event.Request(exchange: 1, method: "GET", target: "/")
        request.raw = Bytes("GET /other HTTP/1.1\r\n\r\n".utf8)
        #expect(
            check([.request(request)]) == ["the head's bytes read otherwise than its fields"])
        request.raw = Bytes("GET / HTTP/1.1\r\n".utf8)
        #expect(check([.request(request)]) == ["the head's bytes are no head"])
        request.raw = nil
        request.target = "/a b\r\nX: y"
        #expect(check([.request(request)]).count == 1)
    }

    @Test func `pieces that do not follow each other are found`() {
        let header = FrameHeader(opcode: .binary, payloadLength: 8)
        let head = Event.Kind.frame(Event.FrameRecord(header: header, content: .pieces))
        let first = Event.Piece(of: 1, offset: 0, content: [1, 2, 3, 4], last: false)
        let last = Event.Piece(of: 1, offset: 4, content: [5, 6, 7, 8], last: true)
        #expect(check([head, .piece(first), .piece(last)]).isEmpty)
        #expect(check([head, .piece(last)]).count == 1)
        let gap = Event.Kind.gap(Event.Gap(length: 4, why: "disk_full"))
        #expect(check([head, gap, .piece(last)]).isEmpty)
        #expect(check([.piece(first)]).count == 1)
    }
}
