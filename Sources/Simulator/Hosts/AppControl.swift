package import Network
import PhoneBridge
import Wire

/// Lets a script on this machine bring a reference app into a state, by HTTP.
///
///     POST /simulate/state    a word as the body, such as `background pip`; answered with it once
///                             it has taken effect
///     GET  /simulate/state    the present state, and on further lines the permissions
///
/// A web page must not reach it: whatever names an `Origin` is refused, as is another machine.
package final class AppControl {
    private let app: AppHost
    private let server: HTTPServer

    /// Makes a control that does not listen yet.
    package init(of app: AppHost, on loop: any EventLoop) {
        self.app = app
        var limits = HTTPServerMachine.Limits()
        limits.maximumBody = 1024
        server = HTTPServer(on: loop, limits: limits)
        server.accepts = { $0.ip.isLoopback }
        server.onRequest = { [unowned self] exchange in
            exchange.respond(answer(to: exchange.request))
        }
    }

    /// Starts to listen; port 0 takes any free one.
    /// - Returns: the address with the port that was taken.
    /// - Precondition: `address` is a loopback one.
    package func listen(on address: SocketAddress) throws(NetworkError) -> SocketAddress {
        precondition(address.ip.isLoopback, "whoever reaches the control moves the app")
        return try server.listen(on: address)
    }

    /// Stops listening.
    package func stop() { server.close() }

    private func answer(to request: HTTPMessage) -> HTTPMessage {
        guard !request.head.fieldLines.has("Origin") else {
            return .text(403, "requests of web pages are refused")
        }
        guard case .request(let method, let target) = request.head.startLine,
            Wire.RequestTarget(target).path.text == "/simulate/state"
        else { return .notFound }
        switch method {
        case "GET":
            return .text(200, ([app.state.text] + permissions).joined(separator: "\n"))
        case "POST":
            let text = String(decoding: request.body, as: UTF8.self)
            guard let state = PhoneStateWord(parsing: text) else {
                let known = PhoneStateWord.all.map(\.text).joined(separator: "\n")
                return .text(400, "no such state; these are known:\n" + known)
            }
            app.enter(state)
            return .text(200, state.text)
        default: return .methodNotAllowed("GET, POST", isPlain: true)
        }
    }

    private var permissions: [String] {
        Contract.Permission.allCases.map { permission in
            let decision = app.phone.permissions[permission] ?? .denied
            return PhoneStateWord.permission(permission, decision).text
        }
    }
}
