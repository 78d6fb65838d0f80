import Capture
package import PhoneBridge
package import Simulator

extension ReplayScript {
    /// The recorded phone's system and stable id, as its first request with a known system says
    /// them; nil where none does.
    package func phone(_ contract: Contract = .current) -> (platform: Platform, id: String?)? {
        for text in links.map(\.request.target) + exchanges.map(\.request.target) {
            let target = RequestTarget(text)
            guard let name = target[contract.poll.platform],
                let platform = Platform(rawValue: name.lowercased())
            else { continue }
            return (platform, target[contract.poll.phoneID])
        }
        return nil
    }
}
