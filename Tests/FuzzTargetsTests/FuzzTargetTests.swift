import Foundation
import FuzzTargets
import Testing

/// A file below `FuzzTesting/` that a target has to take.
struct FuzzInput: CustomTestStringConvertible, Sendable {
    let target: FuzzTarget
    let url: URL

    var testDescription: String { "\(target.rawValue)/\(url.lastPathComponent)" }

    /// The files in `FuzzTesting/FOLDER/TARGET/`, for all targets.
    static func all(in folder: String) -> [FuzzInput] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return FuzzTarget.allCases.flatMap { target in
            let url = root.appendingPathComponent("FuzzTesting/\(folder)/\(target.rawValue)")
            let files = try? FileManager.default.contentsOfDirectory(
                at: url, includingPropertiesForKeys: nil)
            return (files ?? []).sorted { $0.path < $1.path }.map {
                FuzzInput(target: target, url: $0)
            }
        }
    }
}

@Suite struct FuzzTargetTests {
    @Test(arguments: FuzzInput.all(in: "FailCases"))
    func `what fuzzing once broke holds`(_ input: FuzzInput) throws {
        try input.target.check([UInt8](Data(contentsOf: input.url)))
    }

    @Test(arguments: FuzzInput.all(in: "Seeds"))
    func `what fuzzing begins with holds, whole and cut short`(_ input: FuzzInput) throws {
        let bytes = [UInt8](try Data(contentsOf: input.url))
        for count in stride(from: bytes.count, through: 0, by: -max(1, bytes.count / 64)) {
            try input.target.check([UInt8](bytes.prefix(count)))
        }
    }

    @Test func `each target has something to begin with`() {
        let inputs = FuzzInput.all(in: "Seeds")
        for target in FuzzTarget.allCases {
            #expect(inputs.contains { $0.target == target }, "\(target) has no seeds")
        }
    }

    @Test(arguments: FuzzTarget.allCases)
    func `a target takes nothing at all`(_ target: FuzzTarget) throws {
        try target.check([])
    }
}
