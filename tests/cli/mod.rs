//! The program as scripts see it: exit status, standard output, and nothing else on it.

mod calling;
mod errors;
mod help;
mod starting;
mod tool_list;
