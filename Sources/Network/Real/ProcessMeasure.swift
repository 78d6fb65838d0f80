import Glibc

/// How much a running program takes of the machine.
package struct ProcessMeasure: Sendable, Hashable {
    /// Resident memory in bytes; nil where nobody told.
    package var memory: Int64?
    /// Open file descriptors; nil where nobody told.
    package var handles: Int64?
    /// The process id; nil where nobody told.
    package var pid: Int32?

    package init(memory: Int64? = nil, handles: Int64? = nil, pid: Int32? = nil) {
        self.memory = memory
        self.handles = handles
        self.pid = pid
    }

    /// Measures all members of a process group together, as /proc has them (proc(5)); nil where
    /// there is no /proc, or no member runs.
    ///
    /// Pages that members share are counted for each of them.
    package static func ofGroup(_ group: Int32) -> ProcessMeasure? {
        guard let names = try? FolderNames.read("/proc") else { return nil }
        let page = Int64(max(1, sysconf(Int32(_SC_PAGESIZE))))
        var memory: Int64 = 0
        var handles: Int64 = 0
        var isThere = false
        for name in names {
            guard let pid = Int32(name), getpgid(pid) == group,
                let pages = residentPages(pid)
            else { continue }
            isThere = true
            memory += pages * page
            handles += Int64((try? FolderNames.read("/proc/\(pid)/fd").count) ?? 0)
        }
        return isThere ? ProcessMeasure(memory: memory, handles: handles, pid: group) : nil
    }

    /// The second number of `statm`.
    private static func residentPages(_ pid: Int32) -> Int64? {
        guard let file = unsafe fopen("/proc/\(pid)/statm", "r") else { return nil }
        defer { unsafe fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe fread(&buffer, 1, buffer.count, file)
        let fields = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? Int64(fields[1]) : nil
    }
}
