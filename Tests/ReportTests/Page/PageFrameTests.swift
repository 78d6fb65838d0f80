import Report
import Testing

/// What all pages have around what they say.
@Suite struct PageFrameTests {
    @Test func `a page may load nothing, and run its own script only`() {
        let head = PageFrame.head(title: "<b>", style: "p {}", script: "f()")
        #expect(head.contains("default-src 'none'; "))
        #expect(head.contains("script-src '\(PagePolicy.source("f()"))'; "))
        #expect(head.contains("style-src '\(PagePolicy.source("p {}"))'; "))
        #expect(head.contains("<title>&lt;b&gt;</title>\n<style>p {}</style>"))
        #expect(!PageFrame.head(title: "", style: "").contains("script-src"))
    }
}
