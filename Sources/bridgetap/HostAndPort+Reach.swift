import Arguments
import Network

extension HostAndPort {
    /// Refuses, with this message, to listen where other machines come to and nobody said which may.
    func check(allowing allowFrom: [CIDR], _ message: String) throws(UsageError) {
        let isLoopback = host == "localhost" || IPAddress(parsing: host)?.isLoopback == true
        guard isLoopback || !allowFrom.isEmpty else {
            throw .rule(
                message: message,
                hint: "say who may connect, such as --allow-from 192.168.42.0/24")
        }
    }
}
