import CUV

/// A name look-up of the real driver, on libuv's helper threads (getaddrinfo).
@safe
final class UVResolve: Cancellable {
    private let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
    private var completion: ((Result<[SocketAddress], NetworkError>) -> Void)?
    private let port: UInt16

    private init(
        port: UInt16, _ completion: @escaping (Result<[SocketAddress], NetworkError>) -> Void
    ) {
        self.port = port
        self.completion = completion
    }

    deinit {
        unsafe request.deallocate()
    }

    /// Begins a look-up; libuv keeps the object until it has answered.
    static func start(
        _ name: String, port: UInt16, on loop: UnsafeMutablePointer<uv_loop_t>,
        _ completion: @escaping (Result<[SocketAddress], NetworkError>) -> Void
    ) throws(NetworkError) -> UVResolve {
        let lookup = UVResolve(port: port, completion)
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // Do not offer IPv6 addresses to a machine that has none.
        unsafe hints.ai_flags = AI_ADDRCONFIG
        unsafe lookup.request.pointee.data = Unmanaged.passRetained(lookup).toOpaque()
        let result = unsafe uv_getaddrinfo(
            loop, lookup.request,
            { request, status, list in
                guard let data = unsafe request?.pointee.data else { return }
                let lookup = unsafe Unmanaged<UVResolve>.fromOpaque(data).takeRetainedValue()
                unsafe lookup.answered(status, list)
                unsafe uv_freeaddrinfo(list)
            }, name, nil, &hints)
        guard result == 0 else {
            unsafe Unmanaged.passUnretained(lookup).release()
            throw NetworkError(errno: -result, call: "getaddrinfo", kind: .nameNotFound)
        }
        return lookup
    }

    private func answered(_ status: Int32, _ list: UnsafeMutablePointer<addrinfo>?) {
        let completion = completion
        self.completion = nil
        var addresses: [SocketAddress] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let system = unsafe entry.pointee.ai_addr {
                let address = SocketAddress(system: unsafe cuv_unpack(system))
                if var address {
                    address.port = port
                    if !addresses.contains(address) { addresses.append(address) }
                }
            }
            unsafe next = entry.pointee.ai_next
        }
        if addresses.isEmpty {
            let code = status < 0 ? -status : -UV_EAI_NONAME.rawValue
            completion?(
                .failure(NetworkError(errno: code, call: "getaddrinfo", kind: .nameNotFound)))
        } else {
            completion?(.success(addresses))
        }
    }

    func cancel() {
        guard completion != nil else { return }
        completion = nil
        // One that has begun goes on and is not listened to.
        unsafe UnsafeMutableRawPointer(request).withMemoryRebound(to: uv_req_t.self, capacity: 1) {
            _ = unsafe uv_cancel($0)
        }
    }
}
