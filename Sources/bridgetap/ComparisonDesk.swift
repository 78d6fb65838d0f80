import Glibc
import Inspector
import Network

/// Makes comparisons beside the loop that serves the page, one after the other: large sessions
/// take seconds, and browsers go on being answered.
final class ComparisonDesk {
    private struct Wish {
        var files: (first: String, second: String)
        var answer: (ComparisonAnswer) -> Void
    }

    private var waiting: [Wish] = []
    private var current: Wish?
    private var box: Mailbox<ComparisonAnswer>?

    /// Wishes that wait for the one under way.
    private static let maximumWaiting = 16

    init(_ loop: any EventLoop) {
        box = loop.mailbox(limit: 1) { [weak self] in self?.take($0) }
    }

    /// Reads both files and gives the page that compares them.
    func compare(
        _ first: String, _ second: String, _ answer: @escaping (ComparisonAnswer) -> Void
    ) {
        guard waiting.count < Self.maximumWaiting else {
            return answer(.failed("too many comparisons are asked for at once"))
        }
        waiting.append(Wish(files: (first, second), answer: answer))
        begin()
    }

    private func begin() {
        guard current == nil, !waiting.isEmpty, let box else { return }
        let wish = waiting.removeFirst()
        current = wish
        let (first, second) = wish.files
        do throws(NetworkError) {
            let thread = try startThread {
                do {
                    box.post(.page(try ViewedComparison.page(first, second)))
                } catch {
                    box.post(.failed("\(error)"))
                }
            }
            pthread_detach(thread)
        } catch {
            take(.failed("\(error)"))
        }
    }

    private func take(_ answer: ComparisonAnswer) {
        let wish = current
        current = nil
        wish?.answer(answer)
        begin()
    }
}
