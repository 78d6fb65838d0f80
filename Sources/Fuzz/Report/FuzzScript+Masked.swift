package import Report
import Wire

extension FuzzScript {
    /// The script without what its texts tell about people, should it stem from a recording; its steps
    /// keep their form, and values of the run stay bound.
    package func masked(_ mask: inout ContentMask) -> FuzzScript {
        var script = self
        for (index, step) in steps.enumerated() {
            script.steps[index].action = step.action.masked(&mask)
            script.steps[index].mark?.original = step.mark?.original?.masked(&mask)
        }
        return script
    }

    /// What names things in it: no report hides that.
    var names: [String] {
        steps.compactMap { step in
            switch step.action {
            case .enqueue(let name, let json), .stimulate(let name, let json),
                .command(let name, let json):
                (try? JSON(parsing: json))?["id"]?.stringValue ?? name
            default: nil
            }
        }
    }
}

extension FuzzAction {
    fileprivate func masked(_ mask: inout ContentMask) -> FuzzAction {
        switch self {
        case .text(let link, let content): return .text(link, mask.masked(content))
        case .binary(let link, let content): return .binary(link, mask.masked(content))
        case .bytes(let link, let bytes): return .bytes(link, mask.masked(bytes))
        case .frame(let link, var frame):
            frame.payload = mask.masked(frame.payload)
            return .frame(link, frame)
        case .close(let link, let code, let reason):
            return .close(link, code: code, reason: mask.masked(reason))
        case .enqueue(let name, let json): return .enqueue(name, mask.masked(json))
        case .stimulate(let name, let json): return .stimulate(name, mask.masked(json))
        case .command(let name, let json): return .command(name, mask.masked(json))
        case .connect(let link, var dial):
            dial.query = mask.masked(target: dial.query)
            dial.fieldLines = dial.fieldLines.map { mask.masked($0) }
            return .connect(link, dial)
        case .request(var request):
            request.target = mask.masked(target: request.target)
            request.fieldLines = request.fieldLines.map { mask.masked($0) }
            request.body = mask.masked(request.body)
            return .request(request)
        case .raw(let parts):
            return .raw(
                parts.map { part in
                    if case .bytes(let bytes) = part { .bytes(mask.masked(bytes)) } else { part }
                })
        case .serve(let service, .body(let body)):
            return .serve(service, .body(mask.masked(body)))
        default: return self
        }
    }
}
