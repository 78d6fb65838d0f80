// swift-tools-version: 6.2

import PackageDescription

// Each folder of Sources/ is a module and a floor: it uses the ones above it in this list only.
let package = Package(
    name: "bridgetap",
    products: [
        .executable(name: "bridgetap", targets: ["bridgetap"]),
        // What FuzzTesting/, a package of its own, runs libFuzzer on.
        .library(name: "FuzzTargets", targets: ["FuzzTargets"]),
    ],
    targets: [
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(
            name: "CMiniZip", pkgConfig: "minizip", providers: [.apt(["libminizip-dev"])]),
        .systemLibrary(name: "CPcap", pkgConfig: "libpcap", providers: [.apt(["libpcap-dev"])]),
        .systemLibrary(name: "CUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),

        .target(name: "Wire", dependencies: ["CZlib", "CCrypto"]),
        .target(name: "Capture", dependencies: ["Wire", "CZlib", "CZstd", "CMiniZip", "CPcap"]),
        .target(name: "PhoneBridge", dependencies: ["Wire", "Capture"]),
        .target(name: "Network", dependencies: ["Wire", "CUV", "CPcap"]),
        .target(name: "Simulator", dependencies: ["Wire", "Capture", "PhoneBridge", "Network"]),
        .target(
            name: "BridgeProxy",
            dependencies: ["Wire", "Capture", "PhoneBridge", "Network", "Simulator"]),
        .target(name: "Report", dependencies: ["Wire", "Capture", "PhoneBridge"]),
        .target(
            name: "Inspector",
            dependencies: ["Wire", "Capture", "PhoneBridge", "Network", "Report"],
            // The files of the page; `Page/WebFiles.swift` is made of them.
            exclude: ["Web"]),
        .target(
            name: "Replay",
            dependencies: [
                "Wire", "Capture", "PhoneBridge", "Network", "Simulator", "BridgeProxy", "Report",
            ]),
        .target(
            name: "Fuzz",
            dependencies: [
                "Wire", "Capture", "PhoneBridge", "Network", "Simulator", "BridgeProxy", "Report",
                "Replay",
            ]),
        .target(name: "Arguments"),
        .executableTarget(
            name: "bridgetap",
            dependencies: [
                "Wire", "Capture", "PhoneBridge", "Network", "Simulator", "BridgeProxy", "Report",
                "Inspector", "Replay", "Fuzz", "Arguments",
            ]),

        .testTarget(name: "WireTests", dependencies: ["Wire"]),
        .testTarget(
            name: "CaptureTests", dependencies: ["Capture", "Wire", "GoldenFiles"],
            exclude: ["Golden"]),
        .testTarget(name: "PhoneBridgeTests", dependencies: ["PhoneBridge", "Capture", "Wire"]),
        .testTarget(name: "NetworkTests", dependencies: ["Network", "Wire"]),
        .testTarget(
            name: "SimulatorTests",
            dependencies: ["Simulator", "PhoneBridge", "Capture", "Network", "Wire"]),
        .testTarget(
            name: "BridgeProxyTests",
            dependencies: [
                "BridgeProxy", "Simulator", "PhoneBridge", "Capture", "Network", "Wire",
                "GoldenFiles", "ExampleSessions",
            ],
            exclude: ["Golden"]),
        .testTarget(
            name: "ReportTests",
            dependencies: ["Report", "PhoneBridge", "Capture", "Wire", "GoldenFiles"],
            exclude: [
                "Timeline/Golden", "Results/Golden", "Check/Golden", "Diff/Golden", "Stats/Golden",
                "Page/Golden",
            ]),
        .testTarget(
            name: "InspectorTests",
            dependencies: [
                "Inspector", "Report", "PhoneBridge", "Capture", "Network", "Wire",
            ]),
        .testTarget(
            name: "ReplayTests",
            dependencies: [
                "Replay", "Report", "BridgeProxy", "Simulator", "PhoneBridge", "Capture",
                "Network", "Wire", "GoldenFiles", "ExampleSessions",
            ],
            exclude: ["Golden"]),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "Fuzz", "Replay", "Report", "BridgeProxy", "Simulator", "PhoneBridge", "Capture",
                "Network", "Wire", "GoldenFiles", "ExampleSessions",
            ],
            exclude: ["Defects", "Golden", "Report/Golden"]),
        .testTarget(
            name: "ArgumentsTests", dependencies: ["Arguments", "GoldenFiles"],
            exclude: ["Golden"]),
        .testTarget(
            name: "EndToEnd",
            dependencies: [
                "Wire", "Capture", "PhoneBridge", "Network", "Simulator", "Replay", "Fuzz",
                "CCrypto",
                "GoldenFiles",
            ],
            exclude: ["Golden", "Sessions"]),
        .testTarget(name: "FuzzTargetsTests", dependencies: ["FuzzTargets"]),
        .testTarget(name: "TidyTests"),
        // What tests compare with files in `Golden/` folders; no part of the program.
        .target(name: "GoldenFiles", path: "Tests/GoldenFiles"),
        // The sessions of `captures/`, for tests of several modules.
        .target(
            name: "ExampleSessions",
            dependencies: ["Replay", "Report", "PhoneBridge", "Capture", "Network", "Wire"],
            path: "Tests/ExampleSessions"),
        // What has to hold for any input of a decoder, for fuzzing and for tests of what it found.
        .target(
            name: "FuzzTargets", dependencies: ["Wire", "Capture", "PhoneBridge", "Report"],
            path: "FuzzTesting/Targets"),
        // `make bench`; here, and not a package of its own, for the sake of `package` access.
        .executableTarget(
            name: "bridgetap-bench",
            dependencies: [
                "Wire", "Capture", "PhoneBridge", "Simulator", "BridgeProxy", "Replay", "Fuzz",
                "CPcap",
            ],
            path: "Benchmarks/Codecs"),
    ],
    swiftLanguageModes: [.v6]
)

// `BRIDGETAP_TESTS=WireTests,CaptureTests` builds these test targets and what they stand on alone,
// for quick rounds.
if let chosen = Context.environment["BRIDGETAP_TESTS"]?.split(separator: ",").map(String.init) {
    var needed: Set<String> = []
    var rest = chosen.contains("EndToEnd") ? chosen + ["bridgetap"] : chosen
    while let name = rest.popLast() {
        guard needed.insert(name).inserted,
            let target = package.targets.first(where: { $0.name == name })
        else { continue }
        for dependency in target.dependencies {
            if case .byNameItem(let name, _) = dependency { rest.append(name) }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { !needed.contains($0.name) }
}

for target in package.targets where target.type != .system {
    var settings = target.swiftSettings ?? []
    settings += [
        // SE-0335: an existential is written `any P`.
        .enableUpcomingFeature("ExistentialAny"),
        // SE-0444: a member is visible only where its module is imported.
        .enableUpcomingFeature("MemberImportVisibility"),
        // SE-0409: an import does not leak into the module's own interface.
        .enableUpcomingFeature("InternalImportsByDefault"),
        // SE-0461: a nonisolated async function stays on its caller's executor.
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        // SE-0470: a conformance is isolated as its type is.
        .enableUpcomingFeature("InferIsolatedConformances"),
        // SE-0458: what the compiler cannot prove safe is marked `unsafe`.
        .strictMemorySafety(),
        // SE-0443: a warning is an error.
        .treatAllWarnings(as: .error),
    ]
    target.swiftSettings = settings
}
