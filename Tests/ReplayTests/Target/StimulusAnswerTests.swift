import Replay
import Testing
import Wire

@Suite struct StimulusAnswerTests {
    private static let outcomes = [
        #"{"id":"c1","data":{"text":"x"}}"#,
        #"{"id":"c1","error":{"category":"timeout","code":"bridge_timeout","message":"m"}}"#,
        #"{"id":"c1"}"#,
        #"{"id":"c1","method":"clipboard"}"#,
        #" {"id":"c1","data":null,"took_ms":3}"# + "\n",
    ]

    @Test(arguments: outcomes)
    func `an object with the contract's response fields is what the board made of it`(
        text: String
    ) throws {
        #expect(StimulusAnswer.read(Bytes(text.utf8)) == (try JSON(parsing: text)))
    }

    private static let others = [
        "", "ok", "[]", "null", #""c1""#, "{}",
        #"{"data":{}}"#,
        #"{"id":7,"data":{}}"#,
        // Some other interface's word that it has begun.
        #"{"id":"job-7","status":"started"}"#,
        #"{"id":"c1","error":"no such phone"}"#,
        #"{"id":"c1","error":null,"data":{}}"#,
        #"{"id":"c1"} {"id":"c2"}"#,
        #"{"id":"c1""#,
    ]

    @Test(arguments: others)
    func `anything else tells nothing`(text: String) {
        #expect(StimulusAnswer.read(Bytes(text.utf8)) == nil)
    }
}
