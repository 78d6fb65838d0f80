import CPcap

/// Filters of packets in the words of pcap-filter(7).
package enum PacketFilter {
    /// What is wrong with a filter; nil for a good one.
    ///
    /// It is judged for Ethernet: another kind of link may still refuse it. Names of hosts in
    /// it are looked up, which may take a while. The corresponding C function is
    /// `pcap_compile`.
    package static func fault(in filter: String) -> String? {
        let ethernet: Int32 = 1
        guard let pcap = unsafe pcap_open_dead(ethernet, 256 << 10) else { return "no memory" }
        defer { unsafe pcap_close(pcap) }
        var program = unsafe bpf_program()
        if let fault = unsafe compile(filter, on: pcap, into: &program) { return fault }
        unsafe pcap_freecode(&program)
        return nil
    }

    /// Has the system apply a filter; gives what is wrong with it.
    static func install(_ filter: String, on pcap: OpaquePointer) -> String? {
        var program = unsafe bpf_program()
        if let fault = unsafe compile(filter, on: pcap, into: &program) { return fault }
        defer { unsafe pcap_freecode(&program) }
        return unsafe pcap_setfilter(pcap, &program) == 0 ? nil : unsafe lastError(of: pcap)
    }

    private static func compile(
        _ filter: String, on pcap: OpaquePointer, into program: inout bpf_program
    ) -> String? {
        // PCAP_NETMASK_UNKNOWN: only `ip broadcast` would need to know it.
        let result = unsafe pcap_compile(pcap, &program, filter, 1, 0xffff_ffff)
        guard result != 0 else { return nil }
        let text = unsafe lastError(of: pcap)
        let prefix = "can't parse filter expression: "
        return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }

    /// The corresponding C function is `pcap_geterr`.
    static func lastError(of pcap: OpaquePointer) -> String {
        let text = unsafe pcap_geterr(pcap).map { unsafe String(cString: $0) } ?? ""
        return text.isEmpty ? "an unknown error" : PcapText.inLowerCase(text)
    }
}
