/// What a comparison learns on its way through two sessions.
struct ComparisonLedger {
    /// Whether values that answers bring into being differ from session to session, as they do
    /// where one session was made by playing the other.
    let mapsValues: Bool
    var values: ValueTable

    init(mapsValues: Bool = false, values: ValueTable = ValueTable()) {
        self.mapsValues = mapsValues
        self.values = values
    }
}
