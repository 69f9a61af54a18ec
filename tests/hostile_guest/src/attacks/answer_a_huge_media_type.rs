//! Answers no payload to speak of, of a media type that is one.

use crate::bindings::exports::rootbound::tools::provider::{Blob, Content, Output};
use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(world: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.answer_with(Ok(Output {
        fields: "{}".to_owned(),
        content: Content::Bytes(Blob {
            data: Vec::new(),
            mime_type: "x".repeat(world.number("bytes") as usize),
        }),
    }));
    Some(())
}
