/// How many letters have to be inserted, deleted, replaced or swapped with their neighbour.
///
/// The restricted Damerau-Levenshtein distance: no piece of text is edited twice.
func editDistance(_ a: String, _ b: String) -> Int {
    let a = Array(a)
    let b = Array(b)
    var beforePrevious: [Int] = []
    var previous = Array(0...b.count)
    for i in a.indices {
        var row = [i + 1]
        row.reserveCapacity(b.count + 1)
        for j in b.indices {
            var best = min(previous[j + 1] + 1, row[j] + 1)
            best = min(best, previous[j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                best = min(best, beforePrevious[j - 1] + 1)
            }
            row.append(best)
        }
        beforePrevious = previous
        previous = row
    }
    return previous[b.count]
}

/// The candidate that somebody who wrote `word` most likely meant; nil where none is near.
///
/// Near is a third of the longer one's letters; a candidate that begins with the word counts too.
package func nearest(to word: String, among candidates: [String]) -> String? {
    // Nobody mistypes a name of this project into a text of this length.
    let maximumLength = 64
    guard !word.isEmpty, word.count <= maximumLength else { return nil }
    var best: (distance: Int, candidate: String)?
    for candidate in candidates {
        let distance = editDistance(word.lowercased(), candidate.lowercased())
        let bound = max(1, max(word.count, candidate.count) / 3)
        guard distance <= bound, distance < (best?.distance ?? .max) else { continue }
        best = (distance, candidate)
    }
    if let best { return best.candidate }
    let longer = candidates.filter { $0.hasPrefix(word) }
    return word.count >= 2 && longer.count == 1 ? longer.first : nil
}
