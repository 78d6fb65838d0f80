/// The value of a JSON number that is an integer of 64 bits, however it is spelt; nil otherwise.
///
/// `5000`, `5000.0`, `5e3` and `50000e-1` are all 5000, `-0` is 0; `0.5`, `1e400` and 2⁶³ are nil.
/// The work is bounded by the text's length, whatever the exponent says.
package func exactInteger(ofJSONNumber text: Span<UInt8>) -> Int64? {
    var position = 0
    let negative = text.count > 0 && text[0] == UInt8(ascii: "-")
    if negative { position = 1 }

    // All digits before the exponent form `digits`; the point moves by `scale`.
    let digitsStart = position
    var point: Int?
    while position < text.count {
        let byte = text[position]
        if byte == UInt8(ascii: "."), point == nil {
            point = position
        } else if byte &- UInt8(ascii: "0") >= 10 {
            break
        }
        position += 1
    }
    let digitsEnd = position
    var exponent = 0
    if position < text.count {
        guard text[position] | 0x20 == UInt8(ascii: "e") else { return nil }
        guard let value = exponentValue(text.extracting(position + 1..<text.count)) else {
            return nil
        }
        exponent = value
    }
    let fractionDigits = point.map { digitsEnd - $0 - 1 } ?? 0
    // Digits that stand before the point once the exponent has moved it.
    var remaining = digitsEnd - digitsStart - (point == nil ? 0 : 1) - fractionDigits + exponent

    var magnitude: UInt64 = 0
    for index in digitsStart..<digitsEnd where index != point {
        let digit = UInt64(text[index] - UInt8(ascii: "0"))
        if remaining <= 0 {
            guard digit == 0 else { return nil }
            continue
        }
        remaining -= 1
        guard let next = magnitude.appending(digit) else { return nil }
        magnitude = next
    }
    while remaining > 0, magnitude != 0 {
        guard let next = magnitude.appending(0) else { return nil }
        magnitude = next
        remaining -= 1
    }
    if negative {
        return magnitude <= UInt64(Int64.max) + 1 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
    return Int64(exactly: magnitude)
}

/// The value of an exponent, held to a range in which sums with lengths cannot overflow.
private func exponentValue(_ text: Span<UInt8>) -> Int? {
    var position = 0
    var negative = false
    if text.count > 0, text[0] == UInt8(ascii: "-") || text[0] == UInt8(ascii: "+") {
        negative = text[0] == UInt8(ascii: "-")
        position = 1
    }
    guard position < text.count else { return nil }
    var value = 0
    while position < text.count {
        let digit = text[position] &- UInt8(ascii: "0")
        guard digit < 10 else { return nil }
        value = min(value * 10 + Int(digit), 1 << 40)
        position += 1
    }
    return negative ? -value : value
}

extension UInt64 {
    fileprivate func appending(_ digit: UInt64) -> UInt64? {
        let (product, overflow) = multipliedReportingOverflow(by: 10)
        guard !overflow else { return nil }
        let (sum, carry) = product.addingReportingOverflow(digit)
        return carry ? nil : sum
    }
}
