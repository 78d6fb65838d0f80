package import PhoneBridge
import Wire

extension Profile {
    /// Sixteen hexadecimal digits that are others for a profile that says something else.
    package var digest: String {
        var hash = FNVHash()
        func add(_ text: String) {
            hash.combine(text)
            // A byte that no text has.
            hash.combine(0xff as UInt8)
        }
        add("\(timeScale)")
        countedRules.sorted().forEach(add)
        add("waivers")
        for waiver in waivers { add("\(waiver.rule) \(waiver.until ?? "") \(waiver.reason)") }
        add("deviations")
        for (rule, words) in deviations.sorted(by: { $0.key < $1.key }) { add("\(rule) \(words)") }
        let numbers: [Int64?] = [
            slackMilliseconds, queueWaitMinimumMilliseconds, heartbeatSweepMilliseconds,
            inFlightMilliseconds, queueSweepMilliseconds, maximumRedeliveries.map(Int64.init),
            queueLifeMilliseconds, resultRetentionMilliseconds, defaultPollLimit,
            maximumMessageSize, heartbeatEchoMilliseconds,
        ]
        for number in numbers { add(number.map { "\($0)" } ?? "-") }
        return hash.text
    }
}
