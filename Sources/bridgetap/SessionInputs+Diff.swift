import Capture
import Report

extension SessionInputs {
    /// Reads a session into what is compared.
    static func diffSession(_ file: String) throws -> DiffSession {
        var reader = try open([file], showsProgress: true)
        var diff = DiffReader(name: file == "-" ? "standard input" : file)
        do throws(SessionError) {
            while let item = try reader.next() {
                switch item {
                case .event(let event):
                    do { try diff.receive(event) } catch { throw .cannotSpool(error) }
                case .remark(let remark):
                    warn(remark, name: reader.name)
                    diff.lost()
                }
            }
        } catch {
            throw failure(error)
        }
        return diff.session
    }
}
