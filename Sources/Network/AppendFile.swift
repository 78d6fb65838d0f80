package import Wire

/// A file that grows at its end, written synchronously.
package protocol AppendFile: AnyObject {
    var path: String { get }

    /// The file's length in bytes, as far as this object wrote or found it.
    var size: Int64 { get }

    /// Appends all of `bytes`.
    ///
    /// - Throws: with the error of the system and how many bytes got into the file (a full disk
    ///   takes a part of them). Cut them off with `truncate` if a torn end is unwelcome.
    func append(_ bytes: borrowing Span<UInt8>) throws(FileError)

    /// Cuts the file to `size` bytes; later appends go behind that.
    func truncate(to size: Int64) throws(FileError)

    /// Asks the system to put what was written on the disk (fdatasync), on a helper thread.
    ///
    /// `completion` runs on the loop with nil, or with what went wrong. A second request while one
    /// is under way is carried out after it.
    func sync(_ completion: @escaping (FileError?) -> Void)

    /// Closes the file; a sync under way ends first. Later appends fail with EBADF.
    func close()
}

/// What to do with a file that is there already.
package enum AppendDisposition: Sendable {
    /// Go on behind its end.
    case append
    /// Begin with nothing.
    case truncate
    /// Fail with EEXIST; a device or a pipe, which keeps nothing, is opened as it is.
    case createNew
}

extension AppendFile {
    /// Appends all of `bytes`; see `append(_: Span)`.
    package func append(_ bytes: Bytes) throws(FileError) {
        try append(bytes.span)
    }
}
