import CUV
import Glibc

/// A child of this process, as libuv starts and reaps it.
final class UVProcess: UVHandle {
    private(set) var pid: Int32 = 0
    var onExit: ((ChildExit) -> Void)?

    /// Starts a program with three descriptors for its standard streams.
    func spawn(
        _ command: ChildCommand, on loop: UnsafeMutablePointer<uv_loop_t>, _ streams: [Int32]
    ) throws(NetworkError) {
        var result: Int32 = 0
        try unsafe open(UV_PROCESS, call: "uv_spawn") { memory in
            let handle = unsafe memory.assumingMemoryBound(to: uv_process_t.self)
            result = unsafe Self.spawn(command, loop, handle, streams)
            if result == 0 { pid = unsafe handle.pointee.pid }
            // libuv knows the handle even when the start fails: it has to be closed like others.
            return 0
        }
        guard result == 0 else {
            closeHandle()
            throw NetworkError(errno: -result, call: "execve")
        }
    }

    private static func spawn(
        _ command: ChildCommand, _ loop: UnsafeMutablePointer<uv_loop_t>,
        _ handle: UnsafeMutablePointer<uv_process_t>, _ streams: [Int32]
    ) -> Int32 {
        let arguments = CStrings(command.arguments)
        var variables = command.environment
        if !command.addedEnvironment.isEmpty {
            variables = (variables ?? ProcessEnvironment.current)
                .merging(command.addedEnvironment) { $1 }
        }
        let environment = variables.map { variables in
            CStrings(variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
        }
        let directory = CStrings(command.directory.map { [$0] } ?? [])
        var stdio = unsafe streams.map { fd in
            var container = unsafe uv_stdio_container_t()
            unsafe container.flags = UV_INHERIT_FD
            unsafe container.data.fd = fd
            return unsafe container
        }
        return unsafe stdio.withUnsafeMutableBufferPointer { stdio in
            var options = unsafe uv_process_options_t()
            unsafe options.exit_cb = { handle, status, signal in
                guard let process = unsafe UVHandle.object(of: handle, as: UVProcess.self)
                else { return }
                process.exited(status: status, signal: signal)
            }
            unsafe options.file = UnsafePointer(arguments.first)
            unsafe options.args = arguments.pointers
            unsafe options.env = environment?.pointers
            unsafe options.cwd = UnsafePointer(directory.first)
            unsafe options.flags = command.hasOwnGroup ? UInt32(UV_PROCESS_DETACHED.rawValue) : 0
            unsafe options.stdio_count = Int32(stdio.count)
            unsafe options.stdio = stdio.baseAddress
            return withExtendedLifetime((arguments, environment, directory)) {
                unsafe uv_spawn(loop, handle, &options)
            }
        }
    }

    private func exited(status: Int64, signal: Int32) {
        let report = onExit
        onExit = nil
        closeHandle()
        report?(signal != 0 ? .signal(signal) : .code(Int32(truncatingIfNeeded: status)))
    }

    override func loopIsClosing() {
        onExit = nil
        closeHandle()
    }
}

/// A list of C strings that ends in a null pointer.
@safe
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        count = strings.count
        unsafe pointers = .allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() {
            unsafe pointers.advanced(by: index).initialize(to: strdup(string))
        }
        unsafe pointers.advanced(by: count).initialize(to: nil)
    }

    var first: UnsafeMutablePointer<CChar>? { unsafe pointers.pointee }

    deinit {
        for index in 0..<count { unsafe free(pointers[index]) }
        unsafe pointers.deallocate()
    }
}
