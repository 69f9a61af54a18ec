//! The program as scripts see it: exit status, standard output, and nothing else on it.

mod calling;
mod checking;
mod config;
mod errors;
mod explaining;
mod generated;
mod help;
mod narrowing;
mod partners;
mod precedence;
mod starting;
mod tool_list;
mod words;
