/// Bytes from the parts of HTTP messages: what a decoder read comes out as it crossed.
///
/// For any input, the encodings of a decoder's steps, one after another, are the input.
package enum HTTPEncoder {
    /// Appends the bytes that a step stands for.
    package static func encode(_ step: HTTPDecoder.Step, into bytes: inout Bytes) {
        switch step {
        case .head(let head, _): head.encode(into: &bytes)
        case .body(let part): bytes.append(contentsOf: part)
        case .chunk(_, let line): bytes.append(contentsOf: line)
        case .trailers(let lines, let raw): encodeTrailers(lines, raw: raw, into: &bytes)
        case .end: break
        case .undecodable(let part, _): bytes.append(contentsOf: part)
        }
    }

    /// Appends a trailer section: `raw` where given, else the field lines and an empty line.
    package static func encodeTrailers(
        _ lines: [FieldLine], raw: Bytes? = nil, into bytes: inout Bytes
    ) {
        if let raw {
            bytes.append(contentsOf: raw)
        } else {
            encodeFieldLines(lines, into: &bytes)
            appendLineEnd(to: &bytes)
        }
    }

    /// Appends each line as `Name: value` with one space and CRLF.
    package static func encodeFieldLines(_ lines: [FieldLine], into bytes: inout Bytes) {
        for line in lines {
            bytes.append(contentsOf: line.name.utf8)
            bytes.append(HTTPByte.colon)
            bytes.append(HTTPByte.space)
            bytes.append(contentsOf: line.value.utf8)
            appendLineEnd(to: &bytes)
        }
    }

    /// Appends the canonical line before a chunk: the end of the data before it, unless it is
    /// the first, the size in small hexadecimal digits without leading zeros, CRLF.
    package static func encodeChunkLine(
        size: UInt64, isFirst: Bool, into bytes: inout Bytes
    ) {
        if !isFirst { appendLineEnd(to: &bytes) }
        var shift = (63 - (size | 1).leadingZeroBitCount) / 4 * 4
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: size >> UInt64(shift)) & 0xf
            bytes.append(digit < 10 ? 0x30 + digit : 0x61 + digit - 10)
            shift -= 4
        }
        appendLineEnd(to: &bytes)
    }

    /// Whether `line` is the canonical one for a chunk of this size.
    package static func isCanonical(chunkLine line: Bytes, size: UInt64, isFirst: Bool) -> Bool {
        // No canonical line is longer: two line ends and sixteen digits.
        guard line.count <= 20 else { return false }
        var canonical = Bytes()
        encodeChunkLine(size: size, isFirst: isFirst, into: &canonical)
        return canonical == line
    }

    /// Appends a whole body as one chunk, with the last one and an empty trailer section.
    package static func encodeChunked(
        _ body: Bytes, trailers: [FieldLine] = [], into bytes: inout Bytes
    ) {
        if !body.isEmpty {
            encodeChunkLine(size: UInt64(body.count), isFirst: true, into: &bytes)
            bytes.append(contentsOf: body)
        }
        encodeChunkLine(size: 0, isFirst: body.isEmpty, into: &bytes)
        encodeTrailers(trailers, into: &bytes)
    }

    fileprivate static func appendLineEnd(to bytes: inout Bytes) {
        bytes.append(HTTPByte.carriageReturn)
        bytes.append(HTTPByte.lineFeed)
    }
}

extension HTTPHead {
    /// Appends the head as it crossed: `raw` where there is one, else the canonical encoding.
    package func encode(into bytes: inout Bytes) {
        if let raw {
            bytes.append(contentsOf: raw)
        } else {
            encodeCanonical(into: &bytes)
        }
    }

    /// Appends the canonical encoding, whatever `raw` says: single spaces, three digits of
    /// status, `Name: value`, CRLF, and the empty line.
    package func encodeCanonical(into bytes: inout Bytes) {
        switch startLine {
        case .request(let method, let target):
            bytes.append(contentsOf: method.utf8)
            bytes.append(HTTPByte.space)
            bytes.append(contentsOf: target.utf8)
            bytes.append(HTTPByte.space)
            bytes.append(contentsOf: "HTTP/".utf8)
            bytes.append(contentsOf: version.utf8)
        case .status(let code, let reason):
            bytes.append(contentsOf: "HTTP/".utf8)
            bytes.append(contentsOf: version.utf8)
            bytes.append(HTTPByte.space)
            if code >= 0, code < 100 { bytes.append(contentsOf: (code < 10 ? "00" : "0").utf8) }
            bytes.append(contentsOf: String(code).utf8)
            bytes.append(HTTPByte.space)
            bytes.append(contentsOf: reason.utf8)
        }
        HTTPEncoder.appendLineEnd(to: &bytes)
        HTTPEncoder.encodeTrailers(fieldLines, into: &bytes)
    }
}
