//! Answers bytes that are not UTF-8 where the interface says text.

use crate::spoils::Spoils;
use crate::world::World;

pub fn attack(_: &World, spoils: &mut Spoils) -> Option<()> {
    spoils.answer_fields(not_text());
    Some(())
}

/// A string that is none.
#[expect(unsafe_code, reason = "breaking the contract is the attack")]
pub fn not_text() -> String {
    let bytes = std::hint::black_box(vec![b'{', 0xff, 0xfe, b'}']);
    // SAFETY: nothing here looks at the text; it goes to the host as it is.
    unsafe { String::from_utf8_unchecked(bytes) }
}
