extension String {
    /// Whether both are the same sequence of Unicode scalars.
    ///
    /// `==` also takes canonically equivalent texts for equal, which are different ids, names
    /// and contents on the wire.
    package func hasSameScalars(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
