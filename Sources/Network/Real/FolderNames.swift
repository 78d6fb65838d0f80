import Glibc

/// What a folder holds.
package enum FolderNames {
    /// The names in a folder, in no order, without `.` and `..`.
    ///
    /// The corresponding C functions are `opendir` and `readdir`.
    package static func read(_ path: String) throws(FileError) -> [String] {
        guard let folder = unsafe opendir(path) else {
            throw FileError(errno: errno, call: "opendir", path: path)
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) {
                    unsafe String(cString: $0)
                }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }
}
