//! The export `rootbound:tools/provider`: the attacks as tools.

use crate::attacks::ATTACKS;
use crate::bindings::exports::rootbound::tools::provider::{Definition, Guest};
use crate::listing;
use crate::spoils::{Answer, Spoils};
use crate::world::World;

/// The component.
pub struct Component;

impl Guest for Component {
    fn list_tools() -> Vec<Definition> {
        listing::definitions()
    }

    fn call_tool(name: String, arguments: String) -> Answer {
        let attack = (ATTACKS.iter().find(|attack| attack.name == name))
            .unwrap_or_else(|| panic!("there is no attack `{name}`"));
        let mut spoils = Spoils::default();
        let _ = (attack.run)(&World::open(arguments), &mut spoils);
        spoils.answer()
    }
}
