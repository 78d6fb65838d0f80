import Glibc
import Wire

extension PacketFile {
    /// A byte source as a C stream reads it.
    ///
    /// Of a pcap file whose records are plain the stream gets one record at a time: so it never
    /// holds more than libpcap takes next, and records may be taken from `takeWindow` in between.
    final class Feed {
        /// What was read from the source, of which the first bytes are used up.
        struct Window {
            var bytes: Bytes
            var position = 0

            var rest: Int { bytes.count - position }
        }

        /// Bytes that are asked of the source at a time.
        private static let chunk = 128 << 10

        private let source: any ByteSource
        private var window: Window
        /// The window lies with somebody else.
        private var isWindowTaken = false
        private var isAtEnd = false
        private(set) var error: SourceError?
        /// Bytes that were used of the file.
        private(set) var consumed: UInt64 = 0
        /// The first bytes of the file.
        private var head = Bytes()
        /// How records lie in the file; nil where only libpcap knows.
        private(set) var layout: RecordLayout?
        /// Bytes of the record under way that the stream has not got yet.
        private var due = 0

        init(_ source: any ByteSource, start: Bytes) {
            self.source = source
            window = Window(bytes: start)
        }

        /// The file's header was read: records follow.
        func beginRecords(snapshot: Int32) {
            guard consumed == UInt64(RecordLayout.headSize) else { return }
            layout = RecordLayout(head: head, snapshot: snapshot)
        }

        /// The corresponding C type is `cookie_read_function_t`.
        func read(into target: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
            var limit = max(0, count)
            if head.count < RecordLayout.headSize {
                limit = min(limit, RecordLayout.headSize - head.count)
            } else if layout != nil {
                if due == 0 { beginRecord() }
                limit = min(limit, due)
            }
            if window.rest == 0, limit > 0 { fill(&window) }
            let taken = min(limit, window.rest)
            guard taken > 0 else {
                guard let error, limit > 0 else { return 0 }
                errno = error.errno
                return -1
            }
            let part = window.position..<window.position + taken
            unsafe window.bytes.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                unsafe memcpy(target, base + part.lowerBound, taken)
            }
            if head.count < RecordLayout.headSize { head += window.bytes[part] }
            window.position += taken
            consumed += UInt64(taken)
            due = max(0, due - taken)
            return taken
        }

        /// Looks how long the next record is: the stream gets no byte more.
        private func beginRecord() {
            while window.rest < RecordLayout.recordHeadSize, fill(&window) {}
            due = layout?.size(in: window.bytes.span, at: window.position) ?? max(1, window.rest)
        }

        /// Reads more behind what is not used yet; false at the end, or where that fails.
        @discardableResult
        private func fill(_ window: inout Window) -> Bool {
            guard !isAtEnd, error == nil else { return false }
            window.bytes.removeSubrange(..<window.position)
            window.position = 0
            let before = window.bytes.count
            do {
                try source.read(into: &window.bytes, maximum: Self.chunk)
            } catch {
                self.error = error
                return false
            }
            isAtEnd = window.bytes.count == before
            return !isAtEnd
        }

        /// Hands out what was read, where a record begins there; nil within a record.
        func takeWindow() -> Window? {
            guard due == 0, !isWindowTaken else { return nil }
            isWindowTaken = true
            var taken = Window(bytes: [])
            swap(&taken, &window)
            consumed &-= UInt64(taken.position)
            return taken
        }

        /// Reads more into a window that was handed out; false if there is no more.
        func refill(_ window: inout Window) -> Bool {
            consumed &+= UInt64(window.position)
            let isThere = fill(&window)
            consumed &-= UInt64(window.position)
            return isThere
        }

        /// Takes the window back, with what was used of it.
        func putBack(_ window: Window) {
            self.window = window
            consumed &+= UInt64(window.position)
            isWindowTaken = false
        }
    }

    /// Where the records of a plain pcap file lie: version 2.4, in either byte order, with
    /// microseconds or nanoseconds (the corresponding C type is `struct pcap_file_header`).
    struct RecordLayout {
        static let headSize = 24
        static let recordHeadSize = 16
        /// Longer packets are libpcap's to judge.
        private static let maximumPacket: UInt32 = 262_144

        /// How a walk over records ended.
        enum Walk {
            case hasEnough
            /// The next record is not all there.
            case isCut
            /// The next record is not plain.
            case isOdd
        }

        private let isBigEndian: Bool
        private let nanosecondsPerUnit: Int64
        private let maximum: UInt32

        /// Reads the file's header; nil for a file of another kind.
        ///
        /// `snapshot` is what libpcap takes for the greatest length of a packet.
        init?(head: Bytes, snapshot: Int32) {
            guard head.count >= 8, snapshot > 0 else { return nil }
            switch head[0..<4] {
            case [0xd4, 0xc3, 0xb2, 0xa1]: (isBigEndian, nanosecondsPerUnit) = (false, 1000)
            case [0xa1, 0xb2, 0xc3, 0xd4]: (isBigEndian, nanosecondsPerUnit) = (true, 1000)
            case [0x4d, 0x3c, 0xb2, 0xa1]: (isBigEndian, nanosecondsPerUnit) = (false, 1)
            case [0xa1, 0xb2, 0x3c, 0x4d]: (isBigEndian, nanosecondsPerUnit) = (true, 1)
            default: return nil
            }
            guard head[4..<8] == (isBigEndian ? [0, 2, 0, 4] : [2, 0, 4, 0]) else { return nil }
            maximum = min(UInt32(snapshot), Self.maximumPacket)
        }

        /// Bytes of the record at `offset` as its header says; nil where that is cut.
        func size(in bytes: Span<UInt8>, at offset: Int) -> Int? {
            guard bytes.count - offset >= Self.recordHeadSize else { return nil }
            return Self.recordHeadSize + Int(number(in: bytes, at: offset + 8))
        }

        /// Lends records from `position` on until `body` returns false, and moves it behind them.
        @inline(__always)
        func forEach(
            in bytes: Span<UInt8>, from position: inout Int, count: inout Int,
            _ body: (Span<UInt8>, Record) -> Bool
        ) -> Walk {
            while bytes.count - position >= Self.recordHeadSize {
                let seconds = number(in: bytes, at: position)
                let fraction = number(in: bytes, at: position + 4)
                let captured = number(in: bytes, at: position + 8)
                let length = number(in: bytes, at: position + 12)
                // What is negative for some is large for others.
                guard captured <= maximum, (seconds | fraction) >> 31 == 0 else { return .isOdd }
                let start = position + Self.recordHeadSize
                guard bytes.count - start >= Int(captured) else { return .isCut }
                position = start + Int(captured)
                count += 1
                let time =
                    Int64(seconds) &* 1_000_000_000 &+ Int64(fraction) &* nanosecondsPerUnit
                let record = Record(time: time, cut: max(0, Int(length) - Int(captured)))
                if !body(bytes.extracting(start..<position), record) { return .hasEnough }
            }
            return .isCut
        }

        @inline(__always)
        private func number(in bytes: Span<UInt8>, at offset: Int) -> UInt32 {
            // Any bytes are a number, and the load checks its bounds.
            let value = unsafe bytes.bytes.unsafeLoadUnaligned(
                fromByteOffset: offset, as: UInt32.self)
            return isBigEndian ? value.bigEndian : value.littleEndian
        }
    }
}
