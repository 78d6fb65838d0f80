/// The inputs of one command, put together by session: rotated parts of one are read as one.
package struct MergeInputs {
    /// The inputs of one session.
    package struct Group {
        /// In the order in which they were given.
        package private(set) var inputs: [any SessionInput]
        /// The session's first line; of rotated parts, that of the first one given.
        package let session: SessionInfo
        /// What was opened to look at it.
        private var opened: SessionReader?

        fileprivate init(_ input: any SessionInput, _ session: SessionInfo, _ opened: SessionReader)
        {
            inputs = [input]
            self.session = session
            self.opened = opened
        }

        fileprivate mutating func append(_ input: any SessionInput) {
            inputs.append(input)
            opened = nil
        }

        /// What people call it: the name of the first of its files.
        package var name: String { inputs.first?.name ?? "" }

        /// Reads it from its first line on; a stream can be read once.
        package mutating func reader(
            readsBridge: Bool = true, ports: Set<UInt16> = []
        ) throws(SessionError) -> SessionReader {
            guard let reader = opened else {
                return try SessionReader(inputs, readsBridge: readsBridge, ports: ports)
            }
            opened = nil
            return reader
        }
    }

    /// The sessions, in the order in which the first of their files was given.
    package var groups: [Group] = []

    /// Looks at the first line of each input, which stays open for its reader.
    package init(
        _ inputs: [any SessionInput], readsBridge: Bool = true, ports: Set<UInt16> = []
    ) throws(SessionError) {
        for input in inputs {
            let source: any ByteSource
            do { source = try input.open() } catch { throw .unreadable(error) }
            var reader = SessionReader(source, readsBridge: readsBridge, ports: ports)
            guard let session = try reader.peekSession() else {
                throw .notASession(name: input.name, what: "without its first line")
            }
            // Packets and HARs have no parts: one that is given twice is two sessions.
            let isPart = session.source != "pcap" && session.source != "har"
            if isPart, let index = groups.firstIndex(where: { $0.session.id == session.id }) {
                groups[index].append(input)
            } else {
                groups.append(Group(input, session, reader))
            }
        }
    }
}
