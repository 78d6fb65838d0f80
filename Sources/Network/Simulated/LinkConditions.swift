/// What the simulated network does to bytes.
package struct LinkConditions: Sendable {
    /// How long a packet is on its way, in nanoseconds: evenly distributed, order is kept.
    package var latency: ClosedRange<Int> = 20_000...60_000
    /// How many bytes travel together at most, drawn anew for each segment.
    ///
    /// `1...1448` cuts streams anywhere, `1...1` into single bytes.
    package var segment: ClosedRange<Int> = 1448...1448
    /// The bytes that the system takes from a writer before it says that its buffer is full.
    package var sendBuffer = 64 << 10
    /// The bytes that wait for a reader before the sender has to stop.
    package var receiveBuffer = 64 << 10
    /// How long unanswered bytes are sent again before the connection counts as dead.
    ///
    /// Linux's default (net.ipv4.tcp_retries2 = 15) comes to about this.
    package var retransmissionTimeout = 924 * nanosecondsPerSecond
    /// How long an attempt to connect goes on without an answer (tcp_syn_retries = 6).
    package var connectTimeout = 127 * nanosecondsPerSecond
    /// How long it takes to find that nobody has an address (neighbour discovery).
    package var unreachableAfter = 3 * nanosecondsPerSecond

    package init() {}
}

/// What an address does with a connection attempt, whoever listens there.
package enum ConnectBehaviour: Sendable {
    /// Answers with a reset.
    case refuse
    /// Never answers.
    case hang
    /// The way there does not exist.
    case unreachable
}
