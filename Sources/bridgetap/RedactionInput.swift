import Arguments
import Capture
import Glibc
import PhoneBridge
import Wire

/// The key and the policy that a command line names.
enum RedactionInput {
    /// Reads a key file, or makes one with mode 0600 where there is none; a key for this run alone
    /// where no file is named.
    static func key(_ path: String?) throws -> RedactionKey {
        guard let path else { return try fresh() }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw failure("read", path, "open") }
            return try make(path)
        }
        defer { close(descriptor) }
        var information = stat()
        guard unsafe fstat(descriptor, &information) == 0 else {
            throw failure("read", path, "fstat")
        }
        if information.st_mode & S_IFMT == S_IFREG, information.st_mode & 0o077 != 0 {
            ProcessStreams.remark(
                .warning, "--key: others may read \(path); who has the key can undo a redaction")
            ProcessStreams.remark(.hint, "chmod 600 \(path)")
        }
        // A key file has 65 bytes; what is longer is none.
        var text = Bytes(repeating: 0, count: 256)
        let count = unsafe text.withUnsafeMutableBytes { buffer in
            unsafe read(descriptor, buffer.baseAddress, buffer.count)
        }
        guard count >= 0 else { throw failure("read", path, "read") }
        guard let key = RedactionKey(text: Bytes(text.prefix(count))) else {
            throw Failure(
                .badInput, "--key: \(path) is no key file",
                hint:
                    "it holds 64 hexadecimal digits; name a file that is not there to have one made"
            )
        }
        return key
    }

    private static func fresh() throws -> RedactionKey {
        // The system's own source, which is fit for keys.
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<RedactionKey.size).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
        guard let key = RedactionKey(bytes) else {
            throw Failure(.internalFault, "cannot make a key: libcrypto refuses")
        }
        return key
    }

    private static func make(_ path: String) throws -> RedactionKey {
        let key = try fresh()
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("make", path, "open") }
        let number = ProcessStreams.write(key.text, to: descriptor)
        guard close(descriptor) == 0, number == 0 else {
            // Half a key is none.
            _ = unsafe unlink(path)
            throw failure("make", path, "write", number)
        }
        ProcessStreams.remark(
            .note, "\(path) holds a new key, \(key.id); keep it where the sessions do not go")
        return key
    }

    private static func failure(
        _ what: String, _ path: String, _ call: String, _ number: Int32 = errno
    ) -> Failure {
        Failure(.badInput, "--key: cannot \(what) \(path): \(SystemError(number, call: call))")
    }

    /// Reads a policy file; the contract's tables alone where none is named.
    static func policy(_ path: String?) throws -> RedactionPolicy {
        guard let path else { return RedactionPolicy() }
        return try JSON5Input.load(
            path, for: "--policy", hint: "docs/redaction.md lists what a policy says"
        ) { (bytes) throws(JSON5FieldError) in try RedactionPolicy(parsing: bytes) }
    }
}

extension Argument {
    /// The key of a redaction.
    static func redactionKey(
        _ field: any WritableKeyPath<Options, String?> & Sendable
    ) -> Argument {
        .option(
            "key", field, .file,
            help: "the key by which stand-ins are chosen; made where it is not there. Without one "
                + "a new key is used and forgotten")
    }

    /// The policy of a redaction.
    static func redactionPolicy(
        _ field: any WritableKeyPath<Options, String?> & Sendable
    ) -> Argument {
        .option(
            "policy", field, .file,
            help: "what is to be kept, or replaced as what (docs/redaction.md)")
    }
}
