//! What the policy and the grants allow, for every tool and every kind of object.

mod allowing;
mod delete;
mod environment;
mod git;
mod linked;
mod lookup;
mod migration;
mod nesting;
mod oracles;
mod overwrite;
mod patterns;
mod roots;
mod sessions;
mod sessions_over_http;
