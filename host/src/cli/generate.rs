//! What is made from the command line's definition: completions and the manual page.

use std::io;

use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_complete::Shell;

use super::args::Cli;
use super::{Exit, Failure, print};

const PROGRAM: &str = "rootbound";

pub(super) fn completions(shell: Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), PROGRAM, &mut script);
    print::result(String::from_utf8_lossy(&script).trim_end());
    Exit::Success
}

/// One page for the program and all its commands.
pub(super) fn man() -> Result<Exit, Failure> {
    let mut program = Cli::command();
    program.build();
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(program.clone()).render(&mut page);
    rendered.context("the manual page cannot be made")?;
    commands(&program, "", &mut page).context("the manual page cannot be made")?;
    print::result(String::from_utf8_lossy(&page).trim_end());
    Ok(Exit::Success)
}

/// A section for each command, and for each command of a command.
fn commands(parent: &Command, path: &str, page: &mut Vec<u8>) -> io::Result<()> {
    for command in parent.get_subcommands() {
        let name = command.get_name();
        if name == "help" {
            continue;
        }
        let path = format!("{path} {}", name.to_uppercase());
        page.extend_from_slice(format!(".SH COMMAND{path}\n").as_bytes());
        let man = clap_mangen::Man::new(command.clone());
        man.render_description_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_options_section(page)?;
        commands(command, &path, page)?;
    }
    Ok(())
}
