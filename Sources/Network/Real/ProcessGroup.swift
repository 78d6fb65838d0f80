import Glibc

/// What is left of a process group whose leader has ended.
enum ProcessGroup {
    /// Whether any member still runs; one that has ended and waits for its parent does not.
    static func isAlive(_ group: Int32) -> Bool {
        // The system counts those that wait too, and where nobody adopts orphans they wait for
        // ever: in a container, say. So /proc is asked when kill(2) finds members.
        if Glibc.kill(-group, 0) != 0 && errno == ESRCH { return false }
        guard let states = states(in: group) else { return true }
        return states.contains { !"ZX".contains($0) }
    }

    /// The states of the members as proc(5) writes them; nil without a /proc.
    private static func states(in group: Int32) -> [Character]? {
        guard let names = try? FolderNames.read("/proc") else { return nil }
        return names.compactMap { name in
            guard let pid = Int32(name), let member = member(pid), member.group == group
            else { return nil }
            return member.state
        }
    }

    /// `pid (name) state parent group …`; the name may have brackets and spaces in it.
    private static func member(_ pid: Int32) -> (state: Character, group: Int32)? {
        guard let file = unsafe fopen("/proc/\(pid)/stat", "r") else { return nil }
        defer { unsafe fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = unsafe fread(&buffer, 1, buffer.count, file)
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        guard let bracket = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: bracket)...].split(separator: " ")
        guard fields.count > 2, let state = fields[0].first, let group = Int32(fields[2])
        else { return nil }
        return (state, group)
    }
}
