import CPcap
import CUV
import Wire

/// A live capture of the real driver, on libpcap.
///
///     open ──packets──> open ──the interface went──> ending ──what was held──> over ──> closed
///
/// The system packs packets into blocks and hands each over when it is full or 20 ms old; in
/// libpcap's immediate mode, where every packet has a slot as large as the snap length, the
/// same buffer would hold some dozens.
@safe
final class PcapTap: UVPoll, PacketTap {
    private enum State {
        case open
        case ending(TapError)
        case over
        case closed
    }

    /// What one turn takes at most, so that a flood does not hold the loop.
    private static let maximumPackets = 1024
    private static let maximumBytes = 1 << 20
    /// Milliseconds after which the system hands over a block that is not full.
    private static let blockMilliseconds: Int32 = 20

    let link: LinkType
    let linkName: String
    var latency: Int64 { Int64(Self.blockMilliseconds) * 2 * nanosecondsPerMillisecond }
    var onPacket: ((Span<UInt8>, PacketStamp) -> Void)?
    var onEnd: ((TapError) -> Void)?

    private let pcap: OpaquePointer
    private let fraction: Int64
    private unowned let loop: UVLoop
    private var state = State.open
    private var isReading = false
    private var timer: ScheduledAction?
    private var total = TapCounts()
    private var last = pcap_stat()

    init(_ name: String, _ options: TapOptions, loop: UVLoop) throws(TapError) {
        let pcap = try unsafe Self.activate(name, options)
        do throws(TapError) {
            if let fault = unsafe PacketFilter.install(options.filter, on: pcap) {
                throw TapError(.badFilter, fault)
            }
            let number = unsafe pcap_datalink(pcap)
            let linkName = unsafe pcap_datalink_val_to_name(number)
                .map { unsafe String(cString: $0) }
            guard let link = LinkType(number: number) else {
                throw TapError(.unknownLink, linkName ?? "\(number)")
            }
            var message = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
            guard unsafe pcap_setnonblock(pcap, 1, &message) == 0 else {
                throw TapError(.other, PcapText.decode(message))
            }
            self.link = link
            self.linkName = linkName ?? "\(number)"
        } catch {
            unsafe pcap_close(pcap)
            throw error
        }
        unsafe self.pcap = pcap
        self.loop = loop
        fraction =
            unsafe pcap_get_tstamp_precision(pcap) == Int32(PCAP_TSTAMP_PRECISION_NANO) ? 1 : 1000
        super.init()
        do throws(NetworkError) {
            try unsafe openPoll(pcap_get_selectable_fd(pcap), on: loop.uv)
        } catch {
            unsafe pcap_close(pcap)
            state = .closed
            throw TapError(.other, error.description)
        }
        watch(Int32(UV_READABLE.rawValue))
    }

    deinit {
        // The handle keeps the object until `close`, which frees this.
        if case .closed = state { return }
        unsafe pcap_close(pcap)
    }

    private static func activate(
        _ name: String, _ options: TapOptions
    ) throws(TapError) -> OpaquePointer {
        var message = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
        guard let pcap = unsafe pcap_create(name, &message) else {
            throw TapError(.other, PcapText.decode(message))
        }
        unsafe pcap_set_snaplen(pcap, Int32(clamping: options.snapLength))
        unsafe pcap_set_buffer_size(pcap, Int32(clamping: options.bufferSize))
        unsafe pcap_set_promisc(pcap, options.isPromiscuous ? 1 : 0)
        unsafe pcap_set_timeout(pcap, blockMilliseconds)
        // Where the system has no nanoseconds, the stamps are of microseconds.
        _ = unsafe pcap_set_tstamp_precision(pcap, Int32(PCAP_TSTAMP_PRECISION_NANO))
        let result = unsafe pcap_activate(pcap)
        guard result < 0 else { return unsafe pcap }
        var text = unsafe PacketFilter.lastError(of: pcap)
        if unsafe pcap_geterr(pcap).pointee == 0 {
            text = unsafe PcapText.inLowerCase(String(cString: pcap_statustostr(result)))
        }
        unsafe pcap_close(pcap)
        throw TapError(TapError.Kind(status: result), text)
    }

    // MARK: Reading

    override func ready(_ events: Int32, isFailing: Bool) {
        guard case .open = state else { return }
        if let error = read() {
            // Packets may still lie in a block that is not full.
            state = .ending(error)
            watch(0)
            timer = loop.schedule(after: latency) { [weak self] in self?.end() }
        } else if case .open = state {
            watch(Int32(UV_READABLE.rawValue))
        }
    }

    private func end() {
        guard case .ending(let error) = state else { return }
        drain()
        guard case .ending = state else { return }
        state = .over
        onEnd?(error)
    }

    func drain() {
        // A turn's fill each; what is sent faster than it is read must not hold us for ever.
        for _ in 0..<64 {
            let before = readings
            _ = read()
            if readings == before { return }
        }
    }

    /// Packets read so far.
    private var readings: UInt64 = 0

    /// Takes what is there, up to a turn's fill; gives what is wrong.
    private func read() -> TapError? {
        guard !isReading else { return nil }
        isReading = true
        defer {
            isReading = false
            if case .closed = state { unsafe pcap_close(pcap) }
        }
        var packets = 0
        var bytes = 0
        while packets < Self.maximumPackets, bytes < Self.maximumBytes {
            if case .closed = state { return nil }
            var header: UnsafeMutablePointer<pcap_pkthdr>?
            var data: UnsafePointer<UInt8>?
            switch unsafe pcap_next_ex(pcap, &header, &data) {
            case 1:
                guard let header = unsafe header?.pointee else { return nil }
                let buffer = unsafe UnsafeBufferPointer(start: data, count: Int(header.caplen))
                packets += 1
                bytes += buffer.count
                readings += 1
                unsafe onPacket?(buffer.span, stamp(header))
            case 0:
                return nil
            default:
                return TapError(
                    .noSuchInterface, unsafe PacketFilter.lastError(of: pcap))
            }
        }
        return nil
    }

    private func stamp(_ header: pcap_pkthdr) -> PacketStamp {
        // The kernel's clock: seconds since 1970 in nanoseconds fit until 2262.
        let seconds = Int64(header.ts.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let time = seconds.partialValue.addingReportingOverflow(
            Int64(header.ts.tv_usec) &* fraction)
        return PacketStamp(
            time: seconds.overflow || time.overflow ? 0 : time.partialValue,
            cut: max(0, Int(header.len) - Int(header.caplen)))
    }

    func counts() -> TapCounts {
        if case .closed = state { return total }
        var now = pcap_stat()
        guard unsafe pcap_stats(pcap, &now) == 0 else { return total }
        // The system's own counters wrap.
        total.dropped += Int(now.ps_drop &- last.ps_drop)
        total.droppedByInterface += Int(now.ps_ifdrop &- last.ps_ifdrop)
        last = now
        return total
    }

    func close() {
        if case .closed = state { return }
        state = .closed
        timer?.cancel()
        onPacket = nil
        onEnd = nil
        closeHandle()
        // A packet on loan lies in its memory.
        if !isReading { unsafe pcap_close(pcap) }
    }

    override func loopIsClosing() {
        close()
    }
}

extension TapError.Kind {
    /// The kind of a status of `pcap_activate`.
    fileprivate init(status: Int32) {
        switch status {
        case PCAP_ERROR_NO_SUCH_DEVICE: self = .noSuchInterface
        case PCAP_ERROR_IFACE_NOT_UP: self = .interfaceDown
        case PCAP_ERROR_PERM_DENIED, PCAP_ERROR_PROMISC_PERM_DENIED: self = .permission
        default: self = .other
        }
    }
}

extension UVLoop {
    /// Begins to capture the packets of an interface; `any` is all of them.
    ///
    /// The corresponding C functions are `pcap_create`, `pcap_activate` and `pcap_next_ex`.
    package func openTap(
        _ interface: String, _ options: TapOptions = TapOptions()
    ) throws(TapError) -> any PacketTap {
        try PcapTap(interface, options, loop: self)
    }
}
