/// The word that differs least from `word`, if that is little enough to be a slip; nil otherwise.
///
/// A third of the letters may differ, and three at most; swapped neighbours are one difference.
package func nearestWord(to word: String, among words: [String]) -> String? {
    let letters = Array(word)
    let limit = max(1, min(letters.count, 9) / 3)
    var best: (word: String, distance: Int)?
    for candidate in words {
        let distance = editDistance(letters, Array(candidate))
        if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.word
}

/// How many insertions, deletions, substitutions and swaps of neighbours lead from one word to
/// the other.
private func editDistance(_ a: [Character], _ b: [Character]) -> Int {
    // No name of a field, kind or key is longer: what is, is no slip.
    guard a.count <= 64, b.count <= 64 else { return .max }
    var rows = [Array(0...b.count)]
    for i in 0..<a.count {
        var row = [i + 1]
        for j in 0..<b.count {
            var cost = min(
                rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                cost = min(cost, rows[i - 1][j - 1] + 1)
            }
            row.append(cost)
        }
        rows.append(row)
    }
    return rows[a.count][b.count]
}
