/// A network interface of this machine, or `any` for all of them together.
package struct NetworkInterface: Sendable, Equatable {
    package var name: String
    /// What the system has to say about it.
    package var about: String?
    package var addresses: [IPAddress]
    package var isUp: Bool
    package var isLoopback: Bool

    package init(
        name: String, about: String? = nil, addresses: [IPAddress] = [], isUp: Bool = true,
        isLoopback: Bool = false
    ) {
        self.name = name
        self.about = about
        self.addresses = addresses
        self.isUp = isUp
        self.isLoopback = isLoopback
    }
}
