internal import CCrypto

/// The SHA-1 of some bytes through libcrypto's `EVP_Digest`; nil where it refuses.
///
/// The handshake demands SHA-1, as a check of understanding and not of secrecy
/// (RFC 6455 §10.8).
func sha1(_ bytes: Bytes) -> Bytes? {
    ERR_clear_error()
    var digest = Bytes(repeating: 0, count: 20)
    var count: UInt32 = 0
    let result = unsafe bytes.withUnsafeBytes { source in
        unsafe digest.withUnsafeMutableBytes { target in
            unsafe EVP_Digest(
                source.baseAddress, source.count,
                target.baseAddress?.assumingMemoryBound(to: UInt8.self), &count, EVP_sha1(), nil)
        }
    }
    guard result == 1, count == 20 else { return nil }
    return digest
}
