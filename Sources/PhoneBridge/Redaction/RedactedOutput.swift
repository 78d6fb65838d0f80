package import Capture

/// An output of a session that gets what a redactor makes of it.
///
/// The session's first line is made by whoever opens the output, with `Redactor.redacted`. A
/// `flush` writes all that is known: no event waits for a later turn.
package final class RedactedOutput: SessionOutput {
    private let output: any SessionOutput
    private let redactor: Redactor
    private var events: [Event] = []

    package init(_ output: any SessionOutput, redactor: Redactor) {
        self.output = output
        self.redactor = redactor
    }

    package func receive(_ event: Event) {
        redactor.receive(event, into: &events)
        hand()
    }

    package func receive(_ batch: borrowing EventBatch) {
        for event in batch.events { redactor.receive(event, into: &events) }
        hand()
    }

    private func hand() {
        guard !events.isEmpty else { return }
        output.receive(events)
        events.removeAll(keepingCapacity: events.capacity <= 4096)
    }

    package func flush(now: Int64) {
        redactor.flush(into: &events)
        hand()
        output.flush(now: now)
    }

    package func admit(dropped count: Int) { output.admit(dropped: count) }

    package var nextDeadline: Int64? { output.nextDeadline }

    package var status: OutputStatus { output.status }

    package func close(now: Int64) -> OutputStatus {
        redactor.finish(into: &events)
        hand()
        return output.close(now: now)
    }
}
