import CCrypto
import Wire

/// A SHA-256 under way, with the number of bytes that it was given.
@safe
final class Digest {
    private let context: OpaquePointer?
    private(set) var bytes: Int64 = 0

    init() {
        unsafe context = EVP_MD_CTX_new()
        unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil)
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    func add(_ data: Bytes) {
        guard !data.isEmpty else { return }
        bytes += Int64(data.count)
        unsafe EVP_DigestUpdate(context, data, data.count)
    }

    /// What it comes to so far.
    var tally: Tally {
        let copy = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(copy) }
        var result = Bytes(repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        unsafe EVP_MD_CTX_copy_ex(copy, context)
        unsafe EVP_DigestFinal_ex(copy, &result, &count)
        var text = Bytes()
        let digest = Bytes(result[..<Int(count)])
        appendHex(digest.span, to: &text)
        return Tally(bytes: bytes, sha256: String(decoding: text, as: UTF8.self))
    }
}

/// Messages as the peers count them: kind and length are part of the hash.
final class MessageDigest {
    private let digest = Digest()
    private var bytes: Int64 = 0
    private(set) var count = 0

    func add(isText: Bool, _ content: Bytes) {
        var head: Bytes = [isText ? 1 : 0]
        let length = UInt64(content.count)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            head.append(UInt8(truncatingIfNeeded: length >> shift))
        }
        digest.add(head)
        digest.add(content)
        bytes += Int64(content.count)
        count += 1
    }

    var tally: Tally { Tally(bytes: bytes, sha256: digest.tally.sha256) }
}
