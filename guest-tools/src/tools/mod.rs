//! The tools, one file each. A new tool is its file and its two lines here.

pub(crate) mod append_file;
pub(crate) mod apply_patch;
pub(crate) mod copy_file;
pub(crate) mod create_directory;
pub(crate) mod create_file;
pub(crate) mod delete_file;
pub(crate) mod edit_file;
pub(crate) mod file_exists;
pub(crate) mod file_info;
pub(crate) mod find_files;
pub(crate) mod generate_from_template;
pub(crate) mod list_files;
pub(crate) mod move_file;
pub(crate) mod read_document;
pub(crate) mod read_docx;
pub(crate) mod read_file;
pub(crate) mod read_files;
pub(crate) mod read_pptx;
pub(crate) mod read_xlsx;
pub(crate) mod sandbox_filesystem;
mod schema;
pub(crate) mod search_files;
#[cfg(test)]
mod tests;
pub(crate) mod write_file;

use crate::arguments;
use crate::bindings::exports::rootbound::tools::provider::Definition;
use crate::tool::{Error, Failure, Output, Tool};
use serde_json::Value;

/// Every tool, in the order in which front-ends show them.
pub(crate) const TOOLS: &[Registered] = &[
    Registered::new::<read_file::ReadFile>(),
    Registered::new::<read_files::ReadFiles>(),
    Registered::new::<list_files::ListFiles>(),
    Registered::new::<find_files::FindFiles>(),
    Registered::new::<search_files::SearchFiles>(),
    Registered::new::<file_exists::FileExists>(),
    Registered::new::<file_info::FileInfo>(),
    Registered::new::<read_document::ReadDocument>(),
    Registered::new::<read_pptx::ReadPptx>(),
    Registered::new::<read_docx::ReadDocx>(),
    Registered::new::<read_xlsx::ReadXlsx>(),
    Registered::new::<write_file::WriteFile>(),
    Registered::new::<create_file::CreateFile>(),
    Registered::new::<edit_file::EditFile>(),
    Registered::new::<append_file::AppendFile>(),
    Registered::new::<apply_patch::ApplyPatch>(),
    Registered::new::<copy_file::CopyFile>(),
    Registered::new::<move_file::MoveFile>(),
    Registered::new::<create_directory::CreateDirectory>(),
    Registered::new::<delete_file::DeleteFile>(),
    Registered::new::<generate_from_template::GenerateFromTemplate>(),
    Registered::new::<sandbox_filesystem::SandboxFilesystem>(),
];

/// A tool without its types, so that all of them fit one table.
pub(crate) struct Registered {
    pub(crate) name: &'static str,
    pub(crate) definition: fn() -> Definition,
    pub(crate) run: fn(&str) -> Result<Output, Error>,
    /// Only parses, for tests of examples.
    #[cfg(test)]
    pub(crate) parse: fn(&str) -> Result<(), Error>,
}

impl Registered {
    const fn new<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            definition: define::<T>,
            run: run::<T>,
            #[cfg(test)]
            parse: |arguments| arguments::parse::<T>(arguments).map(drop),
        }
    }
}

/// Refuses a word that is none of the known ones.
fn one_of(name: &str, word: &str, known: &[&str]) -> Result<(), Failure> {
    if known.contains(&word) {
        return Ok(());
    }
    let message = format!("`{name}` is `{word}`, which is not known");
    let hint = format!("it is one of {}", arguments::quoted(known.iter().copied()));
    Err(Failure::invalid_arguments(message).hint(hint))
}

fn run<T: Tool>(arguments: &str) -> Result<Output, Error> {
    T::run(arguments::parse::<T>(arguments)?)
}

fn define<T: Tool>() -> Definition {
    Definition {
        name: T::NAME.to_owned(),
        title: T::TITLE.to_owned(),
        description: T::DESCRIPTION.to_owned(),
        input_schema: T::input_schema().to_string(),
        output_schema: with_aliases(T::output_schema(), T::ALIASES).to_string(),
        risk: T::RISK.into(),
        paths: T::PATHS.iter().map(|path| (*path).into()).collect(),
    }
}

/// The host takes a tool's other names from its output schema, which models do not see.
fn with_aliases(mut schema: Value, aliases: &[&str]) -> Value {
    if !aliases.is_empty() {
        schema["x-aliases"] = aliases.into();
    }
    schema
}
