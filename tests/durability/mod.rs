//! Of several writers exactly one wins, and nobody writes over what they have not seen.

mod stale;
mod writers;
