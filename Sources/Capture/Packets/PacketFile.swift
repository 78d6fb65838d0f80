import CPcap
import Glibc
package import Wire

/// Reads the packets of a pcap or pcapng file through libpcap, one at a time, as they come.
///
/// The corresponding C functions are `pcap_fopen_offline_with_tstamp_precision` and
/// `pcap_next_ex`. The file is any byte source, so that standard input, of which the first bytes
/// have been looked at, is one too. `forEach` reads the plain records of a pcap file past libpcap,
/// where they lie.
@safe
package struct PacketFile: ~Copyable {
    /// What libpcap says is wrong, and where.
    package struct Fault: Error, Sendable, Equatable {
        package var text: String
        /// Packets that were read before it.
        package var packets: Int
        /// The byte of the file that libpcap stands at, if that is known.
        package var offset: UInt64?

        /// Whether it is that libpcap reads packets of one link type a file.
        package var isOtherLinkType: Bool {
            text.contains("different from the type of the first interface")
        }

        /// What is wrong, for a person.
        package var sentence: String {
            isOtherLinkType
                ? "an interface of another link type than the first one, which libpcap does not read"
                : text
        }

        /// How to read it all the same; nil where nobody knows.
        package var hint: String? {
            guard isOtherLinkType else { return nil }
            return
                "a file for each interface can be read: tshark -r FILE -Y 'frame.interface_id == 0' "
                + "-w part.pcapng, then editcap -F pcap -T ether part.pcapng part.pcap "
                + "(or -T linux-sll2, as capinfos -E says)"
        }
    }

    /// What the record of a packet says of it.
    package struct Record: Sendable, Equatable {
        /// Nanoseconds since 1970.
        package var time: Int64
        /// Bytes of the packet that were not captured.
        package var cut: Int
    }

    private let pcap: OpaquePointer
    private let stream: UnsafeMutablePointer<FILE>
    private let feed: Feed
    /// Packets that were read so far.
    package private(set) var packets = 0
    /// libpcap's number of the link type.
    package let linkNumber: Int32
    /// Its name, such as `EN10MB`.
    package let linkName: String

    /// Whether a file that begins with these four bytes or more is one of packets.
    package static func isPacketFile(_ start: Bytes) -> Bool {
        magics.contains { start.starts(with: $0) }
    }

    /// pcap for microseconds and nanoseconds, in either byte order, and pcapng.
    private static let magics: [Bytes] = [
        [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0xc3, 0xd4],
        [0x4d, 0x3c, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d],
        [0x0a, 0x0d, 0x0d, 0x0a],
    ]

    /// Reads the file's header; `start` is what was read from the source before.
    ///
    /// No initialiser: one of a type without copies that throws releases, as Swift 6.3 optimises
    /// it, what it never held.
    package static func open(
        _ source: any ByteSource, start: Bytes = []
    ) throws(Fault) -> PacketFile {
        let feed = Feed(source, start: start)
        let stream = unsafe try openStream(feed)
        let message = UnsafeMutablePointer<CChar>.allocate(capacity: Int(PCAP_ERRBUF_SIZE))
        unsafe message.initialize(repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
        defer { unsafe message.deallocate() }
        let opened = unsafe pcap_fopen_offline_with_tstamp_precision(
            stream, UInt32(PCAP_TSTAMP_PRECISION_NANO), message)
        guard let pcap = unsafe opened else {
            let offset = unsafe ftello(stream)
            unsafe fclose(stream)
            throw unsafe Fault(
                text: String(cString: message), packets: 0,
                offset: offset >= 0 ? UInt64(offset) : nil)
        }
        let link = unsafe pcap_datalink(pcap)
        let name = unsafe pcap_datalink_val_to_name(link)
        let linkName = unsafe name.map { unsafe String(cString: $0) } ?? "\(link)"
        feed.beginRecords(snapshot: unsafe pcap_snapshot(pcap))
        return unsafe PacketFile(pcap, stream, feed, link, linkName)
    }

    /// Everything at once: optimised, an initialiser that reads fields between others that it sets
    /// releases a text that it has not set yet.
    private init(
        _ pcap: OpaquePointer, _ stream: UnsafeMutablePointer<FILE>, _ feed: Feed,
        _ linkNumber: Int32, _ linkName: String
    ) {
        unsafe self.pcap = pcap
        unsafe self.stream = stream
        self.feed = feed
        self.linkNumber = linkNumber
        self.linkName = linkName
    }

    /// A C stream that reads from `feed`, and holds it until it is closed.
    private static func openStream(_ feed: Feed) throws(Fault) -> UnsafeMutablePointer<FILE> {
        var functions = cpcap_stream_functions()
        unsafe functions.read = { cookie, target, count in
            guard let cookie = unsafe cookie, let target = unsafe target else { return 0 }
            let feed = unsafe Unmanaged<Feed>.fromOpaque(cookie).takeUnretainedValue()
            return unsafe feed.read(into: target, count)
        }
        // Only for the question where it stands.
        unsafe functions.seek = { cookie, offset, whence in
            guard let cookie = unsafe cookie, let offset = unsafe offset,
                whence == SEEK_CUR, unsafe offset.pointee == 0
            else { return -1 }
            let feed = unsafe Unmanaged<Feed>.fromOpaque(cookie).takeUnretainedValue()
            unsafe offset.pointee = Int(clamping: feed.consumed)
            return 0
        }
        unsafe functions.close = { cookie in
            if let cookie = unsafe cookie {
                unsafe Unmanaged<Feed>.fromOpaque(cookie).release()
            }
            return 0
        }
        let held = unsafe Unmanaged.passRetained(feed)
        guard let stream = unsafe cpcap_open_stream(held.toOpaque(), "r", functions) else {
            unsafe held.release()
            throw Fault(text: "no memory for a stream", packets: 0, offset: nil)
        }
        unsafe setvbuf(stream, nil, _IOFBF, 128 << 10)
        return unsafe stream
    }

    deinit {
        // Closes the stream as well.
        unsafe pcap_close(pcap)
    }

    /// Why the source could not be read, if that was it.
    package var sourceError: SourceError? { feed.error }

    /// Lends the next packet to `body`; nil at the end of the file.
    package mutating func next<Result>(
        _ body: (Span<UInt8>, Record) -> Result
    ) throws(Fault) -> Result? {
        var header: UnsafeMutablePointer<pcap_pkthdr>?
        var data: UnsafePointer<UInt8>?
        switch unsafe pcap_next_ex(pcap, &header, &data) {
        case 1:
            guard let header = unsafe header?.pointee else { return nil }
            packets += 1
            let bytes = unsafe UnsafeBufferPointer(start: data, count: Int(header.caplen))
            // With nanosecond precision the field for microseconds holds nanoseconds.
            let seconds = Int64(header.ts.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
            let time = seconds.partialValue.addingReportingOverflow(Int64(header.ts.tv_usec))
            let isSane = !seconds.overflow && !time.overflow
            let record = Record(
                time: isSane ? time.partialValue : 0,
                cut: max(0, Int(header.len) - Int(header.caplen)))
            return unsafe body(bytes.span, record)
        case PCAP_ERROR_BREAK:
            return nil
        default:
            let offset = unsafe ftello(stream)
            let text = unsafe pcap_geterr(pcap).map { unsafe String(cString: $0) }
            throw Fault(
                text: text ?? "an unknown error", packets: packets,
                offset: offset >= 0 ? UInt64(offset) : nil)
        }
    }
    /// Lends packets to `body` until it returns false; false at the end of the file.
    ///
    /// What `next` lends, several times as fast.
    mutating func forEach(_ body: (Span<UInt8>, Record) -> Bool) throws(Fault) -> Bool {
        while true {
            if lendRecords(body) { return true }
            // What is not plain, and what ends the file, is for libpcap to tell.
            guard let wantsMore = try next(body) else { return false }
            if !wantsMore { return true }
        }
    }

    /// Lends plain records as far as there are some; whether `body` has enough.
    private mutating func lendRecords(_ body: (Span<UInt8>, Record) -> Bool) -> Bool {
        guard let layout = feed.layout, var window = feed.takeWindow() else { return false }
        defer { feed.putBack(window) }
        repeat {
            var position = window.position
            let state = layout.forEach(
                in: window.bytes.span, from: &position, count: &packets, body)
            window.position = position
            switch state {
            case .hasEnough: return true
            case .isOdd: return false
            case .isCut: break
            }
        } while feed.refill(&window)
        return false
    }
}
