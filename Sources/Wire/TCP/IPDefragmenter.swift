/// Puts fragments of IP datagrams together, a bounded number at a time.
///
/// Where fragments overlap, the bytes that came first stand.
package struct IPDefragmenter: Sendable {
    private struct Key: Hashable {
        var source: PacketAddress
        var destination: PacketAddress
        var identification: UInt32
        /// IPv4 tells datagrams of different protocols apart, IPv6 does not.
        var proto: UInt8
    }

    private struct Datagram {
        var key: Key
        var proto: UInt8
        /// What came, in order, without overlap.
        var parts: [(offset: Int, bytes: Bytes)] = []
        /// Known once the last fragment came.
        var length: Int?
        var firstTime: Int64
    }

    /// Datagrams under way at a time; each has at most 64 KiB.
    private static let maximumDatagrams = 64
    /// Fragments of one datagram: enough for 64 KiB in the smallest that routers make.
    private static let maximumParts = 1024
    /// Half a minute, in nanoseconds; hosts wait no longer (RFC 8200 §4.5 says 60 s at most).
    private static let patience: Int64 = 30_000_000_000

    private var datagrams: [Datagram] = []
    /// Datagrams that were given up because a part of them never came.
    package private(set) var lost = 0

    package init() {}

    /// Datagrams that still lack a part.
    package var unfinished: Int { datagrams.count }

    /// Takes a fragment; gives back the packet and its bytes once the datagram is complete.
    ///
    /// The packet's payload is all of the bytes. `time` is in nanoseconds.
    package mutating func receive(
        _ packet: IPPacket, _ frame: Span<UInt8>, at time: Int64
    ) -> (packet: IPPacket, bytes: Bytes)? {
        guard let fragment = packet.fragment, packet.payload.upperBound <= frame.count else {
            return nil
        }
        let key = Key(
            source: packet.source, destination: packet.destination,
            identification: fragment.identification,
            proto: packet.source.isIPv6 ? 0 : packet.proto)
        var index = datagrams.firstIndex { $0.key == key }
        if let found = index, time &- datagrams[found].firstTime > Self.patience {
            datagrams.remove(at: found)
            lost += 1
            index = nil
        }
        if index == nil {
            if datagrams.count == Self.maximumDatagrams {
                datagrams.removeFirst()
                lost += 1
            }
            datagrams.append(Datagram(key: key, proto: packet.proto, firstTime: time))
        }
        let place = index ?? datagrams.count - 1
        guard packet.missing == 0, fragment.offset + packet.payload.count <= 0xffff,
            datagrams[place].parts.count < Self.maximumParts
        else { return nil }
        if fragment.offset == 0 { datagrams[place].proto = packet.proto }
        if !fragment.hasMore, datagrams[place].length == nil {
            datagrams[place].length = fragment.offset + packet.payload.count
        }
        Self.insert(
            Bytes(copying: frame.extracting(packet.payload)), at: fragment.offset,
            into: &datagrams[place].parts)
        guard let length = datagrams[place].length else { return nil }
        var bytes = Bytes()
        for part in datagrams[place].parts {
            guard part.offset == bytes.count else { return nil }
            bytes += part.bytes
        }
        guard bytes.count >= length else { return nil }
        bytes.removeLast(bytes.count - length)
        var whole = packet
        whole.proto = datagrams[place].proto
        whole.fragment = nil
        whole.payload = 0..<length
        datagrams.remove(at: place)
        if whole.source.isIPv6, !whole.skipExtensions(bytes.span) { return nil }
        return whole.fragment == nil ? (whole, bytes) : nil
    }

    private static func insert(
        _ bytes: Bytes, at offset: Int, into parts: inout [(offset: Int, bytes: Bytes)]
    ) {
        var start = offset
        let end = offset + bytes.count
        var merged: [(offset: Int, bytes: Bytes)] = []
        for part in parts {
            if start < min(part.offset, end) {
                let stop = min(part.offset, end)
                merged.append((start, Bytes(bytes[start - offset..<stop - offset])))
            }
            merged.append(part)
            start = max(start, part.offset + part.bytes.count)
        }
        if start < end { merged.append((start, Bytes(bytes[(start - offset)...]))) }
        merged.sort { $0.offset < $1.offset }
        parts = merged
    }
}
