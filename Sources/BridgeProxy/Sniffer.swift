package import Capture
package import Network
import Wire

/// Listens on an interface: turns the packets that pass it into the events of a recording.
///
///     idle ──start──> waiting <──the interface went──┐
///                        └──────it is there──> capturing ──> stopped
///
/// Belongs to the thread of its loop.
package final class Sniffer: RecordingSource {
    /// What to listen to.
    package struct Options: Sendable {
        package var interface: String
        /// Only connections with one of these ports; all if empty.
        package var ports: Set<UInt16> = []
        package var limits = PacketSession.Limits()
        /// Nanoseconds after which an interface that is not there is looked for again.
        ///
        /// 100 ms: a phone that is plugged in again needs longer to get its address.
        package var retryInterval = 100 * nanosecondsPerMillisecond

        package init(interface: String) {
            self.interface = interface
        }
    }

    private enum State {
        case idle
        case waiting(ScheduledAction)
        case capturing(any PacketTap)
        case stopped
    }

    private let options: Options
    private let loop: any EventLoop
    private let recorder: Recorder
    private let startedAt: Int64
    private let open: () throws(TapError) -> any PacketTap
    private let remark: (RecordingRemark) -> Void

    private var state = State.idle
    private var session: PacketSession?
    private var packets: UInt64 = 0
    /// What taps before this one, and this one until it was asked last, are known to lack.
    private var counted = TapCounts()
    private var dropped = 0
    private var toldDropped = 0
    /// The session's time at which the interface went.
    private var goneSince: Int64?
    private var toldError: TapError?
    private var isTurnEndScheduled = false
    /// Called when packets begin to be captured, for the first time and after a return.
    package var onCapture: (() -> Void)?

    /// Makes a sniffer; it does nothing until `start`.
    ///
    /// - Parameters:
    ///   - startedAt: when the recorder's session began, in nanoseconds since 1970.
    ///   - open: opens the interface, now and each time it has returned.
    package init(
        _ options: Options, loop: any EventLoop, recorder: Recorder, startedAt: Int64,
        open: @escaping () throws(TapError) -> any PacketTap,
        remark: @escaping (RecordingRemark) -> Void
    ) {
        self.options = options
        self.loop = loop
        self.recorder = recorder
        self.startedAt = startedAt
        self.open = open
        self.remark = remark
    }

    /// Begins to capture from a tap that was opened already, or waits for the interface.
    package func start(_ tap: (any PacketTap)?) {
        recorder.willCommit = { [weak self] in self?.scheduleTurnEnd() }
        if let tap {
            capture(tap)
        } else {
            remark(.interfaceAwaited(options.interface))
            look()
        }
    }

    /// Nanoseconds after which everything that has passed so far will have been read.
    package var latency: Int64 {
        if case .capturing(let tap) = state { tap.latency } else { 0 }
    }

    package func tick() {
        guard let session else { return }
        // What the system still holds may yet fill a hole.
        let time = loop.wallClock &- latency
        recorder.record { batch, _ in session.advance(to: time, into: &batch) }
        countDropped()
        recorder.follow(session, packets: packets)
    }

    package func stop() {
        switch state {
        case .capturing(let tap):
            tap.drain()
            countDropped()
            tap.close()
        case .waiting(let timer):
            timer.cancel()
            noteAbsence()
        case .idle, .stopped:
            break
        }
        if let session {
            recorder.record { batch, _ in session.finish(into: &batch) }
            recorder.follow(session, packets: packets)
        }
        recorder.commit()
        state = .stopped
    }

    // MARK: The interface

    private func look() {
        do {
            capture(try open())
        } catch {
            switch error.kind {
            case .noSuchInterface, .interfaceDown: break
            case .permission, .badFilter, .unknownLink, .other:
                if toldError != error { remark(.cannotCapture(options.interface, error)) }
                toldError = error
            }
            state = .waiting(
                loop.schedule(after: options.retryInterval) { [weak self] in self?.look() })
        }
    }

    private func capture(_ tap: any PacketTap) {
        let session =
            session
            ?? PacketSession(
                link: tap.link, ports: options.ports, limits: options.limits, startedAt: startedAt)
        session.link = tap.link
        self.session = session
        counted = TapCounts()
        toldError = nil
        state = .capturing(tap)
        tap.onPacket = { [weak self] bytes, stamp in self?.receive(bytes, stamp) }
        tap.onEnd = { [weak self] error in self?.lose(tap, error) }
        if goneSince != nil {
            recorder.note(
                code: "interface_returned", text: "the interface \(options.interface) is back")
            remark(.interfaceReturned(options.interface))
            noteAbsence()
        }
        onCapture?()
    }

    /// What passed while the interface was away is not in the session.
    private func noteAbsence() {
        guard let since = goneSince else { return }
        goneSince = nil
        let absence = max(0, recorder.time &- since) / nanosecondsPerMillisecond
        recorder.note(
            code: "recording_gap",
            text: "nothing was captured for \(absence) ms, while the interface was away")
    }

    private func lose(_ tap: any PacketTap, _ error: TapError) {
        countDropped()
        tap.close()
        goneSince = recorder.time
        recorder.note(
            code: "interface_gone",
            text: "the interface \(options.interface) is gone (\(error.text))")
        remark(.interfaceGone(options.interface))
        look()
    }

    // MARK: Packets

    private func receive(_ bytes: Span<UInt8>, _ stamp: PacketStamp) {
        guard let session else { return }
        packets &+= 1
        recorder.record { batch, _ in
            session.receive(bytes, cut: stamp.cut, at: stamp.time, into: &batch)
        }
    }

    private func scheduleTurnEnd() {
        guard !isTurnEndScheduled else { return }
        isTurnEndScheduled = true
        loop.atEndOfTurn { [weak self] in
            guard let self else { return }
            isTurnEndScheduled = false
            recorder.commit()
        }
    }

    /// Admits what the system dropped since it was asked last.
    private func countDropped() {
        guard case .capturing(let tap) = state else { return }
        let counts = tap.counts()
        let new = counts.dropped - counted.dropped
        let newByInterface = counts.droppedByInterface - counted.droppedByInterface
        counted = counts
        guard new + newByInterface > 0 else { return }
        var parts: [String] = []
        if new > 0 { parts.append("the system dropped \(new) packets for want of room") }
        if newByInterface > 0 { parts.append("the interface dropped \(newByInterface) packets") }
        recorder.note(
            code: "dropped_packets",
            text: parts.joined(separator: ", ") + "; what they carried is missing")
        recorder.admit(droppedPackets: new + newByInterface)
        dropped += new + newByInterface
        // A flood is told of now and then, not each second.
        if dropped >= 2 * toldDropped {
            toldDropped = dropped
            remark(.packetsDropped(dropped))
        }
    }
}
