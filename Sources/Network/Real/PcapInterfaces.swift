import CPcap
import CUV

extension NetworkInterface {
    /// The interfaces whose packets can be captured, those in use first.
    ///
    /// The corresponding C function is `pcap_findalldevs`; what it finds besides, such as USB
    /// buses, has no IP packets and is left out. Needs no privileges.
    package static func all() throws(TapError) -> [NetworkInterface] {
        var first: UnsafeMutablePointer<pcap_if_t>?
        var message = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
        guard unsafe pcap_findalldevs(&first, &message) == 0 else {
            throw TapError(.other, PcapText.decode(message))
        }
        defer { unsafe pcap_freealldevs(first) }
        var interfaces: [NetworkInterface] = []
        var next = unsafe first
        while let entry = unsafe next {
            unsafe next = unsafe entry.pointee.next
            guard let name = unsafe entry.pointee.name.map({ unsafe String(cString: $0) }),
                unsafe name == anyName || cuv_interface_exists(name) != 0
            else { continue }
            let flags = unsafe Int32(bitPattern: entry.pointee.flags)
            interfaces.append(
                NetworkInterface(
                    name: name,
                    about: unsafe entry.pointee.description.map { unsafe String(cString: $0) },
                    addresses: unsafe addresses(entry.pointee.addresses),
                    isUp: flags & PCAP_IF_UP != 0, isLoopback: flags & PCAP_IF_LOOPBACK != 0))
        }
        return interfaces
    }

    /// What stands for all interfaces together.
    package static let anyName = "any"

    private static func addresses(_ first: UnsafeMutablePointer<pcap_addr>?) -> [IPAddress] {
        var addresses: [IPAddress] = []
        var next = unsafe first
        while let entry = unsafe next {
            unsafe next = unsafe entry.pointee.next
            guard let system = unsafe entry.pointee.addr,
                let address = unsafe SocketAddress(system: cuv_unpack(system))
            else { continue }
            addresses.append(address.ip)
        }
        return addresses
    }
}

/// Texts of libpcap.
enum PcapText {
    /// An error buffer as text.
    static func decode(_ message: [CChar]) -> String {
        let text = String(
            decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return inLowerCase(text)
    }

    /// A sentence as messages have it: its first word in lower case, without a full stop.
    static func inLowerCase(_ text: String) -> String {
        var text = text
        while text.last == "." { text.removeLast() }
        guard let second = text.dropFirst().first, second.isLowercase || second == " " else {
            return text
        }
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
