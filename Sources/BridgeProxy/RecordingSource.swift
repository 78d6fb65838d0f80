/// Where the events of a recording come from: a proxy that carries them, or an interface that is
/// listened on.
package protocol RecordingSource: AnyObject {
    /// Does what is due each second.
    func tick()

    /// Ends it, and records what was unfinished as that.
    func stop()
}
