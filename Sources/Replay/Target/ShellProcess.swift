import Network
import Wire

/// A command line that is run to its end, within a time.
///
/// What it starts in the background may stay, as long as it holds no output open.
final class ShellProcess {
    /// More of its standard output is not kept.
    private static let maximumOutput = 16 << 20

    private let step: TargetStep
    private let timeout: Int64
    private var child: ChildProcess?
    private var timer: ScheduledAction?
    private var completion: ((Result<Bytes, TargetError>) -> Void)?
    private var standardOutput = Bytes()
    private var output = TargetOutput()
    private var ending: TargetError?

    /// Starts a command line.
    ///
    /// - Parameters:
    ///   - timeout: in nanoseconds; then it is ended.
    ///   - completion: runs once, when it has ended: with what it wrote to its standard output,
    ///     where it ended with code 0.
    init(
        _ line: String, for step: TargetStep, input: Bytes = [],
        environment: [String: String], timeout: Int64, on loop: UVLoop,
        _ completion: @escaping (Result<Bytes, TargetError>) -> Void
    ) throws(TargetError) {
        self.step = step
        self.timeout = timeout
        self.completion = completion
        var command = ChildCommand.shell(line)
        command.input = input
        command.addedEnvironment = environment
        command.maximumLine = Self.maximumOutput
        do throws(NetworkError) {
            child = try loop.start(command) { [self] in
                take($0, $1)
            } onExit: { [self] in
                exited($0)
            }
        } catch {
            throw .cannotStart(step, error)
        }
        timer = loop.schedule(after: timeout) { [self] in
            end(.tookTooLong(step, seconds: timeout / nanosecondsPerSecond, output))
        }
    }

    /// Ends it before its time; its completion runs once it is gone, with this error.
    func end(_ error: TargetError) {
        guard completion != nil, ending == nil else { return }
        ending = error
        child?.end()
    }

    private func take(_ stream: ChildOutput, _ line: Bytes) {
        output.append(stream, line)
        if stream == .output, standardOutput.count < Self.maximumOutput {
            standardOutput += line.prefix(Self.maximumOutput - standardOutput.count)
            standardOutput.append(UInt8(ascii: "\n"))
        }
    }

    private func exited(_ exit: ChildExit) {
        timer?.cancel()
        timer = nil
        child = nil
        let completion = completion
        self.completion = nil
        if case .tookTooLong(let step, let seconds, _)? = ending {
            completion?(.failure(.tookTooLong(step, seconds: seconds, output)))
        } else if let ending {
            completion?(.failure(ending))
        } else if exit == .code(0) {
            completion?(.success(standardOutput))
        } else {
            completion?(.failure(.failed(step, exit, output)))
        }
    }
}
