//! Those who look on while a log is written.

/// Sees each line that a log has taken. The log is the evidence, whatever becomes of what is
/// seen: an observer cannot refuse, and a session that has no log has no observers either.
///
/// Any `Fn(&str)` that is `Send + Sync` is an observer; it is called once for each line, without
/// the line break.
pub trait AuditObserver: Send + Sync {
    /// Sees one or more lines, each ending in a line feed. Every call of every session of the
    /// log waits meanwhile, so this only takes note.
    fn recorded(&self, lines: &str);

    /// Hears that a session was closed, and may take a moment to pass on what it has noted.
    fn closed(&self) {}

    /// TCP ports that it connects to, which [`Session::confine_thread`] leaves open.
    ///
    /// [`Session::confine_thread`]: crate::Session::confine_thread
    fn ports(&self) -> Vec<u16> {
        Vec::new()
    }
}

impl<F> AuditObserver for F
where
    F: Fn(&str) + Send + Sync,
{
    fn recorded(&self, lines: &str) {
        lines.lines().for_each(self);
    }
}
