//! Components of strangers: looked at without being run, given what is granted and declared,
//! kept apart from one another.

mod caching;
mod damaged;
mod declaring;
mod guest;
mod hosting;
mod importing;
mod inspecting;
mod listing;
mod locking;
mod signing;
mod tables;
