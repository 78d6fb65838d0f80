import Foundation
import Network
import Testing

@Suite struct GuardedTests {
    @Test func `no thread sees what another one is in the middle of`() {
        let pair = Guarded((0, 0))
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<5000 {
                pair.withLock {
                    $0.0 += 1
                    $0.1 += 1
                }
                let isEqual = pair.withLock { $0.0 == $0.1 }
                #expect(isEqual)
            }
        }
        let sums = pair.withLock { [$0.0, $0.1] }
        #expect(sums == [40_000, 40_000])
    }

    @Test func `an error leaves it free`() {
        struct Trouble: Error {}
        let number = Guarded(0)
        #expect(throws: Trouble.self) {
            try number.withLock { (number: inout sending Int) throws(Trouble) in
                number = 1
                throw Trouble()
            }
        }
        #expect(number.withLock { $0 } == 1)
    }
}
