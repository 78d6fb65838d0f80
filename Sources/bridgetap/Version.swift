/// The version of the program, as `--version` prints it and sessions name their tool.
enum Version {
    static let number = "0.1.0"
    static let tool = "bridgetap \(number)"
}
