//! What an attack is.

pub use crate::bindings::exports::rootbound::tools::provider::RiskClass;
use crate::spoils::Spoils;
use crate::world::World;

/// An attack, a tool of this component.
pub struct Attack {
    /// The tool's name, and that of its file.
    pub name: &'static str,
    /// What the tool declares; nothing for a tool that the component does not list.
    pub declares: Option<RiskClass>,
    /// Goes as far as it gets; `None` where it was stopped on the way.
    pub run: fn(&World, &mut Spoils) -> Option<()>,
}
