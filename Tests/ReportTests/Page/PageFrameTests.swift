import Report
import Testing
import Wire

/// What all pages have around what they say.
@Suite struct PageFrameTests {
    @Test func `a page may load nothing, and run its own script only`() {
        let head = PageFrame.head(title: "<b>", style: "p {}", script: "f()")
        #expect(head.contains("default-src 'none'; "))
        #expect(head.contains("script-src '\(PagePolicy.source("f()"))'; "))
        #expect(head.contains("style-src '\(PagePolicy.source("p {}"))'; "))
        #expect(head.contains("<title>&lt;b&gt;</title>\n<style>p {}</style>"))
        #expect(!PageFrame.head(title: "", style: "").contains("script-src"))
        #expect(!head.contains("connect-src"))
        let live = PageFrame.head(title: "", style: "", script: "f()", connects: true)
        #expect(live.contains("connect-src 'self'; "))
    }

    @Test func `data ends no script and begins no markup`() throws {
        let data = JSON.object([.init("</script>", "<!-- & 你好")])
        var bytes = Bytes()
        PageFrame.append(data: data, to: &bytes)
        #expect(!bytes.contains(UInt8(ascii: "<")) && !bytes.contains(UInt8(ascii: "&")))
        #expect(try JSON(parsing: bytes) == data)
    }
}
