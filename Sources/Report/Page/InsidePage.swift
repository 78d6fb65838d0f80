package import Wire

/// A whole page that lies packed within another one, and that a button of that one opens: a report
/// has the sessions in it that it tells of, and the two sessions of a page their comparison.
///
/// What a page makes of its own text is held to its own policy as well as to that of the page
/// within (Content Security Policy, level 3), so the outer one has to name the inner one's texts.
package struct InsidePage: Sendable {
    /// Texts that the page within runs.
    let style: String
    let script: String

    /// - Parameters:
    ///   - style: the style sheet of the page within.
    ///   - script: its script.
    package init(style: String, script: String) {
        self.style = style
        self.script = script
    }

    /// Unpacks a block, and opens a page within by its block's id: functions, and what calls the
    /// second one for any element with `data-inside`.
    package static let script = #"""

        // What lies packed in a block (RFC 1951, in Base64), as a response to be read.
        function unpacked(node) {
          const text = atob(node.textContent.trim());
          const packed = new Uint8Array(text.length);
          for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
          return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
        }

        async function openInside(id) {
          const page = await unpacked(document.getElementById(id)).blob();
          location.assign(URL.createObjectURL(new Blob([page], { type: "text/html" })));
        }

        document.addEventListener("click", (event) => {
          const door = event.target.closest("[data-inside]");
          if (door) openInside(door.dataset.inside);
        });

        """#

    /// A text packed by itself (RFC 1951), in Base64.
    package static func packed(_ text: Bytes) -> Bytes {
        var packer = PagePacker()
        return packer.pack(text) + packer.end()
    }

    /// Writes a page into a block of the outer one.
    ///
    /// - Parameters:
    ///   - id: of the block.
    ///   - page: gives the page, part by part.
    ///   - output: takes the block, part by part.
    package static func write(
        id: String, page: @escaping ((Bytes) throws -> Void) throws -> Void,
        to output: (Bytes) throws -> Void
    ) throws {
        try output(Bytes("<script type=\"text/plain\" id=\"\(xmlText(id))\">".utf8))
        var packer = PagePacker()
        try page { try output(packer.pack($0)) }
        try output(packer.end())
        try output(Bytes("</script>\n".utf8))
    }
}

/// Packs a text part by part (RFC 1951), in Base64.
private struct PagePacker {
    private let deflater = Deflater(contextTakeover: true, level: 6)
    /// Bytes that make no whole group of four letters yet.
    private var rest = Bytes()

    mutating func pack(_ part: Bytes) -> Bytes {
        guard !part.isEmpty else { return [] }
        guard let deflater else { return encoded(Self.stored(part)) }
        // The end of the flush, which messages of a WebSocket go without.
        return encoded(deflater.compress(part.span) + [0x00, 0x00, 0xff, 0xff])
    }

    mutating func end() -> Bytes {
        // An empty last block (RFC 1951 §3.2.6).
        let last = rest + [0x03, 0x00]
        rest = []
        var text = Bytes()
        appendBase64(last.span, to: &text)
        return text
    }

    private mutating func encoded(_ bytes: Bytes) -> Bytes {
        rest += bytes
        let count = rest.count / 3 * 3
        var text = Bytes()
        appendBase64(rest.span.extracting(0..<count), to: &text)
        rest.removeFirst(count)
        return text
    }

    /// Blocks of text as it is, where there is no memory to pack it (RFC 1951 §3.2.4).
    private static func stored(_ part: Bytes) -> Bytes {
        var output = Bytes()
        var position = 0
        while position < part.count {
            let count = min(part.count - position, 0xffff)
            let low = UInt8(truncatingIfNeeded: count)
            let high = UInt8(truncatingIfNeeded: count >> 8)
            output += [0, low, high, ~low, ~high]
            output += part[position..<position + count]
            position += count
        }
        return output
    }
}
