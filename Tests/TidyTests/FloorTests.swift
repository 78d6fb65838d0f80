import Foundation
import Testing

/// Which module may import which: the floors of the architecture.
private let floors: [String: Set<String>] = [
    "Wire": ["CZlib", "CCrypto"],
    "Capture": ["Wire", "CZlib", "CZstd", "CMiniZip", "CPcap"],
    "PhoneBridge": ["Wire", "Capture"],
    "Network": ["Wire", "CUV", "CPcap", "CCrypto"],
    "Simulator": ["Wire", "Capture", "PhoneBridge", "Network"],
    "BridgeProxy": ["Wire", "Capture", "PhoneBridge", "Network", "Simulator"],
    "Report": ["Wire", "Capture", "PhoneBridge"],
    "Inspector": ["Wire", "Capture", "PhoneBridge", "Network", "Report"],
    "Replay": [
        "Wire", "Capture", "PhoneBridge", "Network", "Simulator", "BridgeProxy", "Report",
    ],
    "Fuzz": [
        "Wire", "Capture", "PhoneBridge", "Network", "Simulator", "BridgeProxy", "Report",
        "Replay",
    ],
    "Arguments": [],
    "bridgetap": [
        "Wire", "Capture", "PhoneBridge", "Network", "Simulator", "BridgeProxy", "Report",
        "Inspector", "Replay", "Fuzz", "Arguments",
    ],
]

/// What the standard library brings, and knows no world.
private let harmless: Set<String> = ["Synchronization"]

/// Each C library is wrapped in these files and nowhere else.
private let wrappers: [String: Set<String>] = [
    "CZlib": ["Deflater", "Inflater", "GzipCompressor", "GzipDecompressor"],
    "CZstd": ["ZstdCompressor", "ZstdDecompressor"],
    "CMiniZip": ["ZipFile"],
    "CPcap": ["PacketFile", "PcapFilter", "PcapInterfaces", "PcapTap"],
    "CCrypto": ["Digest"],
]

/// Pure files that call one function of the C library, which does no I/O.
private let searchers: Set<String> = [
    "Sources/Wire/HTTP/HTTPBytes.swift"  // memchr
]

/// Modules that know no file, socket, process or clock, but for files that say so by their name.
private let pureModules: Set<String> = [
    "Wire", "Capture", "PhoneBridge", "Simulator", "BridgeProxy", "Report", "Inspector",
    "Replay", "Fuzz", "Arguments",
]

@Suite struct FloorTests {
    private let files = SourceTree.package.swiftFiles("Sources")

    private func imports(_ file: SourceTree.File) -> [String] {
        file.codeLines.compactMap { line in
            let words = line.text.split(separator: " ")
            guard let index = words.firstIndex(of: "import"), index <= 2, index + 1 < words.count,
                words[..<index].allSatisfy({
                    ["package", "public", "private", "internal", "@preconcurrency"].contains($0)
                })
            else { return nil }
            return String(words.last ?? "")
        }
    }

    private func touchesTheWorld(_ file: SourceTree.File) -> Bool {
        ["File", "Process", "Socket"].contains { file.name.contains($0) }
    }

    @Test func `a module uses the floors above it only`() {
        for file in files {
            let allowed = (floors[file.module] ?? []).union(harmless)
            for name in imports(file) where !allowed.contains(name) {
                let isSystem = name == "Glibc" || name == "Foundation"
                let mayTouch =
                    name == "Glibc"
                    && (!pureModules.contains(file.module) || touchesTheWorld(file)
                        || searchers.contains(file.path))
                #expect(isSystem && mayTouch, "\(file.path) imports \(name)")
            }
        }
    }

    @Test func `a C library is wrapped in one place`() {
        for file in files {
            for name in imports(file) {
                guard let names = wrappers[name] else { continue }
                #expect(names.contains(file.name), "\(file.path) imports \(name)")
            }
        }
    }

    @Test func `every module has its floor`() {
        let modules = Set(
            SourceTree.package.folders("Sources").filter { !$0.hasPrefix("C") || $0 == "Capture" })
        #expect(modules == Set(floors.keys))
    }

    @Test func `pure modules know neither clock nor chance`() throws {
        let banned = [
            "ContinuousClock", "SuspendingClock", "clock_gettime", "gettimeofday", "Date()",
            "SystemRandomNumberGenerator", ".random(in:", "randomElement()", ".shuffled()",
            "arc4random", "getrandom", "UUID()", "Task.sleep", "RAND_bytes",
        ]
        for file in files where pureModules.contains(file.module) {
            for line in file.codeLines {
                for word in banned where line.text.contains(word) && !line.text.contains("using:") {
                    Issue.record("\(file.path):\(line.number) uses \(word)")
                }
            }
        }
    }
}
