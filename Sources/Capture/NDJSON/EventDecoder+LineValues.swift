import Wire

extension LineScanner {
    /// Calls `element` with the cursor at each value of an array.
    mutating func array(
        _ field: EventField, of expected: String,
        _ element: (inout LineScanner) throws(LineFault) -> Void
    ) throws(LineFault) {
        guard current == UInt8(ascii: "[") else {
            throw fault(.badValue(field: field.rawValue, expected: expected))
        }
        position &+= 1
        skipSpace()
        if current == UInt8(ascii: "]") {
            position &+= 1
            return
        }
        while true {
            skipSpace()
            try element(&self)
            skipSpace()
            switch current {
            case UInt8(ascii: ","): position &+= 1
            case UInt8(ascii: "]"):
                position &+= 1
                return
            default: throw unexpected("a comma or the end of the array")
            }
        }
    }

    /// Reads any value; what is deeper than `maximumDepth` is refused.
    mutating func value(depth: Int = 0) throws(LineFault) -> JSON {
        guard depth <= Self.maximumDepth else {
            throw fault(.tooDeep(limit: Self.maximumDepth))
        }
        skipSpace()
        switch current {
        case UInt8(ascii: "\""):
            return .string(try string())
        case UInt8(ascii: "{"):
            position &+= 1
            var members: [JSON.Member] = []
            skipSpace()
            if current == UInt8(ascii: "}") {
                position &+= 1
                return .object(members)
            }
            while true {
                skipSpace()
                let name = try string()
                try expect(UInt8(ascii: ":"), "a colon")
                members.append(JSON.Member(name, try value(depth: depth + 1)))
                skipSpace()
                if current == UInt8(ascii: ",") {
                    position &+= 1
                    continue
                }
                try expect(UInt8(ascii: "}"), "a comma or the end of the object")
                return .object(members)
            }
        case UInt8(ascii: "["):
            position &+= 1
            var elements: [JSON] = []
            skipSpace()
            if current == UInt8(ascii: "]") {
                position &+= 1
                return .array(elements)
            }
            while true {
                elements.append(try value(depth: depth + 1))
                skipSpace()
                if current == UInt8(ascii: ",") {
                    position &+= 1
                    continue
                }
                try expect(UInt8(ascii: "]"), "a comma or the end of the array")
                return .array(elements)
            }
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default:
            return .number(try number())
        }
    }

    /// Steps over a value, which has to be right all the same.
    mutating func skipValue(depth: Int = 0) throws(LineFault) {
        guard depth <= Self.maximumDepth else {
            throw fault(.tooDeep(limit: Self.maximumDepth))
        }
        skipSpace()
        switch current {
        case UInt8(ascii: "\""):
            try skipString()
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = current == UInt8(ascii: "{")
            let end: UInt8 = current &+ 2
            position &+= 1
            skipSpace()
            if current == end {
                position &+= 1
                return
            }
            while true {
                if isObject {
                    skipSpace()
                    try skipString()
                    try expect(UInt8(ascii: ":"), "a colon")
                }
                try skipValue(depth: depth + 1)
                skipSpace()
                if current == UInt8(ascii: ",") {
                    position &+= 1
                    continue
                }
                try expect(end, "a comma or the end of an array or object")
                return
            }
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: try skipNumber()
        }
    }

    mutating func skipString() throws(LineFault) {
        guard current == UInt8(ascii: "\"") else { throw unexpected("a string") }
        position &+= 1
        while true {
            try skipPlainBytes()
            let byte = unsafe bytes[position]
            guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
                throw fault(.controlCharacter(byte))
            }
            position &+= 1
            if byte == UInt8(ascii: "\"") { return }
            isSpelt = false
            if current == UInt8(ascii: "\"") || current == UInt8(ascii: "\\") {
                position &+= 1
            } else {
                _ = try escape()
            }
        }
    }

    /// The text of a number.
    private mutating func number() throws(LineFault) -> String {
        let start = position
        try skipNumber()
        return unsafe String(
            decoding: UnsafeRawBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
    }

    /// Steps over a number (RFC 8259 §6).
    private mutating func skipNumber() throws(LineFault) {
        let start = position
        if current == UInt8(ascii: "-") { position &+= 1 }
        if current == UInt8(ascii: "0") {
            position &+= 1
        } else {
            try digits(orElse: position == start ? "a value" : "a digit")
        }
        if current == UInt8(ascii: ".") {
            position &+= 1
            try digits(orElse: "a digit")
        }
        if current | 0x20 == UInt8(ascii: "e") {
            position &+= 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position &+= 1 }
            try digits(orElse: "a digit")
        }
    }

    private mutating func digits(orElse expected: String) throws(LineFault) {
        let start = position
        while current &- UInt8(ascii: "0") < 10 { position &+= 1 }
        guard position > start else { throw unexpected(expected) }
    }
}
