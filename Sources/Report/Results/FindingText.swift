import PhoneBridge

/// A finding as one line: when, which events, the command, and what was seen.
///
///     00:12.522  seq 41, 57  calendar_create "cal_001": answered after 9.21 s; 5 s were due
func findingText(_ finding: Results.Finding) -> String {
    var text = clockTime(finding.time)
    if !finding.events.isEmpty {
        text += "  seq " + finding.events.map { "\($0)" }.joined(separator: ", ")
    } else if finding.conn > 0 {
        text += "  connection \(finding.conn)"
    }
    text += "  "
    if let command = finding.command { text += commandText(command) + ": " }
    return text + visible(finding.text)
}

private func commandText(_ command: Breach.Command) -> String {
    let id = word(cut(command.id, toColumns: 60))
    return command.type.map { word(cut($0, toColumns: 40)) + " " + id } ?? id
}
