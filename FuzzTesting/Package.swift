// swift-tools-version: 6.2

import PackageDescription

// libFuzzer on the decoders; `make fuzz-decoders` builds and runs it. What is checked stands in
// `Targets/`, which is a library of the main package, so that its tests can repeat each finding.
let package = Package(
    name: "FuzzTesting",
    dependencies: [.package(name: "bridgetap", path: "..")],
    targets: [
        .systemLibrary(name: "CFuzzer", path: "CFuzzer"),
        .executableTarget(
            name: "FuzzDecoders",
            dependencies: ["CFuzzer", .product(name: "FuzzTargets", package: "bridgetap")],
            path: "Runner",
            // A lone file would be taken for a script, with a `main` of its own.
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]),
    ],
    swiftLanguageModes: [.v6]
)
