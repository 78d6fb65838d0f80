internal import CCrypto

/// The SHA-1 of some bytes, 20 of them; nil where libcrypto refuses.
///
/// The handshake demands SHA-1, as a check of understanding and not of secrecy
/// (RFC 6455 §10.8).
func sha1(_ bytes: Bytes) -> Bytes? {
    unsafe digest(bytes, count: 20, sha1Kind)
}

/// Fetched once and never let go: `EVP_sha1` has it looked up anew for each digest.
///
/// The corresponding C function is `EVP_MD_fetch`.
nonisolated(unsafe) private let sha1Kind = unsafe EVP_MD_fetch(nil, "SHA1", nil)

/// The SHA-256 of some bytes, 32 of them (FIPS 180-4); nil where libcrypto refuses.
package func sha256(_ bytes: Bytes) -> Bytes? {
    unsafe digest(bytes, count: 32, EVP_sha256())
}

/// The HMAC-SHA256 of some bytes under a key, 32 of them (RFC 2104); nil where libcrypto refuses.
///
/// The corresponding C function is `HMAC`.
package func hmacSHA256(key: Bytes, _ bytes: Bytes) -> Bytes? {
    ERR_clear_error()
    var code = Bytes(repeating: 0, count: 32)
    var count: UInt32 = 0
    let isMade = unsafe key.withUnsafeBufferPointer { key in
        unsafe bytes.withUnsafeBufferPointer { source in
            unsafe code.withUnsafeMutableBufferPointer { target in
                unsafe HMAC(
                    EVP_sha256(), key.baseAddress, Int32(clamping: key.count),
                    source.baseAddress, source.count, target.baseAddress, &count) != nil
            }
        }
    }
    guard isMade, count == 32 else { return nil }
    return code
}

/// The corresponding C function is `EVP_Digest`.
private func digest(_ bytes: Bytes, count expected: Int, _ kind: OpaquePointer?) -> Bytes? {
    ERR_clear_error()
    var digest = Bytes(repeating: 0, count: expected)
    var count: UInt32 = 0
    let result = unsafe bytes.withUnsafeBytes { source in
        unsafe digest.withUnsafeMutableBytes { target in
            unsafe EVP_Digest(
                source.baseAddress, source.count,
                target.baseAddress?.assumingMemoryBound(to: UInt8.self), &count, kind, nil)
        }
    }
    guard result == 1, Int(count) == expected else { return nil }
    return digest
}
