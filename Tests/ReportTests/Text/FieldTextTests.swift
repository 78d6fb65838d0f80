import Report
import Testing
import Wire

@Suite struct FieldTextTests {
    @Test(arguments: [
        (#"{"a":1,"b":"x y","c":null,"d":[1,2]}"#, #"a=1 b="x y" c=null d=[1,2]"#),
        (#"{"z":"1","title":"T"}"#, #"title=T z="1""#),
        (#"{"at":"2026-06-02T15:00:00+08:00","n":"张三"}"#, "at=2026-06-02T15:00:00+08:00 n=张三"),
        (#"{"s":"","t":"true","u":"a\"b\n"}"#, #"s="" t="true" u="a\"b\n""#),
        (#"{"w":"C:\\dir x"}"#, #"w="C:\\dir x""#), ("[1,2]", "[1,2]"), (#""x y""#, #""x y""#),
        ("{}", ""),
    ])
    func `an object reads as names and values`(text: String, expected: String) throws {
        #expect(fieldText(try JSON(parsing: text)) == expected)
    }

    @Test func `a long object is cut`() throws {
        let members = (0..<1000).map { JSON.Member("member\($0)", .integer($0)) }
        #expect(columns(fieldText(.object(members), maximumColumns: 50)) <= 50)
    }
}
