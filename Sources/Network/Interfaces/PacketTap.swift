package import Wire

/// Packets of a network interface, as they pass it.
///
/// Belongs to the thread of its loop. Set the callbacks right after opening: nothing comes
/// before the loop's next turn.
package protocol PacketTap: AnyObject {
    /// What stands before the IP packet in each frame.
    var link: LinkType { get }

    /// libpcap's name of the link type, such as `EN10MB`.
    var linkName: String { get }

    /// How long a packet may wait in the system before it comes, in nanoseconds.
    var latency: Int64 { get }

    /// Lends each packet, in the order in which the system saw them.
    var onPacket: ((Span<UInt8>, PacketStamp) -> Void)? { get set }

    /// Called once, after the last packet, when the interface has gone or cannot be read any
    /// more. The tap still has to be closed.
    var onEnd: ((TapError) -> Void)? { get set }

    /// Lends what the system holds at this moment.
    func drain()

    /// What the system has counted since the tap was opened.
    func counts() -> TapCounts

    /// Ends the capture; nothing is called any more.
    func close()
}

/// What the system says of a packet beside its bytes.
package struct PacketStamp: Sendable, Equatable {
    /// The wall clock's time in nanoseconds since 1970.
    package var time: Int64
    /// Bytes of the packet that were not captured.
    package var cut: Int

    package init(time: Int64, cut: Int = 0) {
        self.time = time
        self.cut = cut
    }
}

/// Packets that a tap was meant to get and did not.
package struct TapCounts: Sendable, Equatable {
    /// Dropped by the system for want of room in the buffer.
    package var dropped: Int
    /// Dropped by the interface or its driver, where that is known.
    package var droppedByInterface: Int

    package init(dropped: Int = 0, droppedByInterface: Int = 0) {
        self.dropped = dropped
        self.droppedByInterface = droppedByInterface
    }
}

/// How packets are to be captured.
package struct TapOptions: Sendable, Equatable {
    /// A filter in the words of pcap-filter(7); empty for all packets.
    package var filter = ""
    /// Bytes that the system may hold until they are read.
    ///
    /// 8 MiB: half a second of a gigabit link.
    package var bufferSize = 8 << 20
    /// Bytes of a packet that are captured at most.
    ///
    /// 256 KiB, libpcap's own maximum: what a card puts together may be larger than any frame.
    package var snapLength = 256 << 10
    /// Take in frames for other machines too.
    package var isPromiscuous = false

    package init() {}
}

/// Why packets cannot be captured.
package struct TapError: Error, Sendable, Equatable {
    /// What a caller may want to tell apart.
    package enum Kind: Sendable, Equatable {
        case noSuchInterface
        /// It is there, but switched off.
        case interfaceDown
        case permission
        /// The filter cannot be understood, or not on this kind of link.
        case badFilter
        /// Packets of a kind of link that is not read.
        case unknownLink
        case other
    }

    package var kind: Kind
    /// What libpcap says, in lower case without a full stop.
    package var text: String

    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }
}
