//! What a run tells whoever watches it.

/// Receives the steps of a run. The terminal is one; tests take another.
pub trait Narrate: Send + Sync {
    /// A step has begun or ended.
    fn say(&self, line: &str);
    /// The state of a step that goes on; replaces the previous one.
    fn live(&self, line: &str);
}

/// Says nothing.
pub struct Silent;

impl Narrate for Silent {
    fn say(&self, _line: &str) {}
    fn live(&self, _line: &str) {}
}
