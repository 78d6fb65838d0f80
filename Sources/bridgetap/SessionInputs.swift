import Capture

/// The files of a command line, read as one session.
enum SessionInputs {
    /// Opens one file, or the parts of one session in any order.
    ///
    /// `follows` goes on at the end of a file that still grows; it takes one file only.
    /// Of packets it reads those of the ports only, or all if there are none. How far it has come
    /// is shown on the terminal unless somebody else writes there.
    static func open(
        _ files: [String], follows: Bool = false, ports: Set<UInt16> = [],
        showsProgress: Bool = false
    ) throws -> SessionReader {
        do throws(SessionError) {
            if follows, let file = files.first {
                return SessionReader(try source(file), follows: true, ports: ports)
            }
            let inputs = files.map { SessionFileInput(path: $0) }
            let progress = Progress(inputs, isWanted: showsProgress)
            return try SessionReader(inputs.map { progress.watched($0) }, ports: ports)
        } catch {
            throw failure(error)
        }
    }

    /// Puts files together by session, for what takes several: parts of one are read as one.
    static func sessions(
        _ files: [String], ports: Set<UInt16> = [], showsProgress: Bool = false
    ) throws -> MergeInputs {
        do throws(SessionError) {
            let inputs = files.map { SessionFileInput(path: $0) }
            let progress = Progress(inputs, isWanted: showsProgress)
            return try MergeInputs(inputs.map { progress.watched($0) }, ports: ports)
        } catch {
            throw failure(error)
        }
    }

    /// Opens one file.
    static func source(_ file: String) throws(SessionError) -> SessionFileSource {
        do {
            return try SessionFileSource(path: file)
        } catch {
            throw .unreadable(error)
        }
    }

    /// What ends a job whose input is no session.
    static func failure(_ error: SessionError) -> Failure {
        Failure(.badInput, error.sentence, hint: error.hint)
    }

    /// Tells of something that a reader noticed and went on after.
    static func warn(_ remark: SessionRemark, name: String) {
        ProcessStreams.remark(.warning, "\(name), \(remark.position.text): \(remark.text)")
        if let hint = remark.hint { ProcessStreams.remark(.hint, hint) }
    }
}
