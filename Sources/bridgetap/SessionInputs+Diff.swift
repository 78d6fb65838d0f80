import Capture
import Report

extension SessionInputs {
    /// Reads a session into what is compared.
    static func diffSession(_ file: String) throws -> DiffSession {
        var rows: SessionRows?
        return try diffSession(file, rows: &rows)
    }

    /// Reads a session into what is compared, and into the lines of its timeline if they are
    /// wanted.
    static func diffSession(_ file: String, rows: inout SessionRows?) throws -> DiffSession {
        var reader = try open([file], showsProgress: true)
        var diff = DiffReader(name: file == "-" ? "standard input" : file)
        do throws(SessionError) {
            while let item = try reader.next() {
                switch item {
                case .event(let event):
                    do {
                        try diff.receive(event)
                        try rows?.receive(event)
                    } catch {
                        throw .cannotSpool(error)
                    }
                case .remark(let remark):
                    warn(remark, name: reader.name)
                    diff.lost()
                }
            }
            do { try rows?.finish() } catch { throw .cannotSpool(error) }
        } catch {
            throw failure(error)
        }
        return diff.session
    }
}
