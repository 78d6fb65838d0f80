import CFuzzer
import FuzzTargets

/// The target that this process fuzzes; set once, before the first input.
nonisolated(unsafe) private var target = FuzzTarget.http

/// Runs libFuzzer on one target: `FuzzDecoders TARGET [libFuzzer's flags and folders]`.
///
/// Named as the package manager renames an executable's `main`, since libFuzzer's runtime brings
/// a `main` of its own.
@_cdecl("FuzzDecoders_main")
func fuzzDecoders(
    _ argumentCount: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> Int32 {
    let name = argumentCount > 1 ? arguments[1].map { String(cString: $0) } : nil
    guard let chosen = name.flatMap(FuzzTarget.init(rawValue:)) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        print("usage: FuzzDecoders TARGET [libFuzzer's arguments]; TARGET is one of \(names)")
        return 64
    }
    target = chosen
    // The program's name takes the place of the target's.
    arguments[1] = arguments[0]
    var rest: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = arguments + 1
    var count = argumentCount - 1
    return LLVMFuzzerRunDriver(&count, &rest) { data, size in
        let input = [UInt8](UnsafeBufferPointer(start: data, count: size))
        do throws(BrokenInvariant) {
            try target.check(input)
        } catch {
            fatalError("\(target.rawValue): \(error)")
        }
        return 0
    }
}
