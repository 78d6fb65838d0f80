import Arguments
import Inspector
import Network

/// Where a page is served, and to whom.
struct PageListener {
    private let loop: UVLoop
    private let place: HostAndPort
    private let allowFrom: [CIDR]
    private let flag: String

    /// Serves at `place`, or at any free port of this machine.
    init(_ loop: UVLoop, _ place: HostAndPort?, _ allowFrom: [CIDR], flag: String) {
        self.loop = loop
        self.place = place ?? HostAndPort(host: "127.0.0.1", port: 0)
        self.allowFrom = allowFrom
        self.flag = flag
    }

    /// Refuses to open a page to a network of which nothing was said.
    static func check(
        _ place: HostAndPort, _ allowFrom: [CIDR], flag: String
    ) throws(UsageError) {
        try place.check(allowing: allowFrom, "\(flag): \(place) opens the page to the network")
    }

    /// Begins to serve, and gives the page's address.
    func start(_ server: InspectorServer) throws -> String {
        let address = try loop.addresses(of: place.host, port: place.port, for: flag)[0]
        do {
            return try server.listen(on: address) { [allowFrom] peer in
                peer.ip.isLoopback || allowFrom.contains { $0.contains(peer.ip) }
            }
        } catch {
            throw Failure(
                .unreachable, "cannot listen on \(address): \(error)",
                hint: error.kind == .addressInUse ? "choose another port with \(flag)" : nil)
        }
    }
}
