import Network

extension UVLoop {
    /// The addresses of a name that a flag gave, one at least; this runs the loop until they are
    /// there.
    func addresses(of host: String, port: UInt16, for flag: String) throws -> [SocketAddress] {
        var result: Result<[SocketAddress], NetworkError>?
        resolve(host, port: port) { [self] in
            result = $0
            stop()
        }
        run()
        switch result {
        case .success(let addresses)? where !addresses.isEmpty: return addresses
        case .failure(let error)?:
            throw Failure(.unreachable, "\(flag): cannot look up \(host): \(error)")
        case .success?, nil: throw Failure(.unreachable, "\(flag): \(host) has no address")
        }
    }
}
