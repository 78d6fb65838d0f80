extension EventLoop {
    /// Tells when a network interface vanishes and when it is back, as with a phone replugged.
    ///
    /// It looks each second. `changed` runs with false and true in turn, first when the interface
    /// is not as it was when the watch began.
    package func watchInterface(
        _ name: String, _ changed: @escaping (_ exists: Bool) -> Void
    ) -> any Cancellable {
        let watch = InterfaceWatch(name, on: self, changed)
        watch.lookLater()
        return watch
    }
}

private final class InterfaceWatch: Cancellable {
    private static let interval = nanosecondsPerSecond

    private let name: String
    private let loop: any EventLoop
    private var changed: ((Bool) -> Void)?
    private var exists: Bool
    private var timer: ScheduledAction?

    init(_ name: String, on loop: any EventLoop, _ changed: @escaping (Bool) -> Void) {
        self.name = name
        self.loop = loop
        self.changed = changed
        exists = loop.interfaceExists(name)
    }

    func lookLater() {
        timer = loop.schedule(after: Self.interval) { [weak self] in self?.look() }
    }

    private func look() {
        let now = loop.interfaceExists(name)
        if now != exists {
            exists = now
            changed?(now)
        }
        if changed != nil { lookLater() }
    }

    func cancel() {
        changed = nil
        timer?.cancel()
        timer = nil
    }
}
