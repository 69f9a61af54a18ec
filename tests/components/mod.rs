//! Components of strangers: looked at without being run, given what is granted and declared,
//! kept apart from one another.

mod caching;
mod calling;
mod damaged;
pub mod declaring;
pub mod guest;
mod hosting;
mod importing;
mod inspecting;
mod listing;
mod locking;
mod marketplace;
mod showing;
mod signing;
mod tables;
mod writing;
