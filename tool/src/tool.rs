//! What a tool is: its facts, its arguments, and what it answers.

use crate::{Error, Output};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// One tool: what it says about itself, and what it does.
///
/// A tool states each fact once. Its definition, command-line help, MCP annotations and the
/// refusals of wrong arguments are all made from what stands here and in the two structs that
/// it names.
///
/// The declared [`RISK`](Tool::RISK) and [`PATHS`](Tool::PATHS) can only narrow what the host
/// allows; they grant nothing.
///
/// # Examples
/// ```
/// use rootbound_tool::{Error, Output, PathArgument, Risk, Tool, files};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// Counts the words of a file.
/// struct CountWords;
///
/// #[derive(Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct Arguments {
///     /// Text file to count in
///     path: String,
///     /// Words with fewer letters do not count
///     #[serde(default)]
///     at_least: usize,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Count {
///     path: String,
///     words: usize,
/// }
///
/// impl Tool for CountWords {
///     type Arguments = Arguments;
///     type Fields = Count;
///
///     const NAME: &'static str = "count_words";
///     const TITLE: &'static str = "Count words";
///     const DESCRIPTION: &'static str = "Counts the words of a text file, as white space \
///         separates them. Refuses what is not UTF-8 (`not-text`).";
///     const RISK: Risk = Risk::Read;
///     const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
///     const EXAMPLE: &'static str = r#"{"path": "notes/todo.txt"}"#;
///
///     fn run(arguments: Arguments) -> Result<Output<Count>, Error> {
///         let text = files::read_to_string(&arguments.path)?;
///         let counts = |word: &&str| word.chars().count() >= arguments.at_least;
///         Ok(Output::new(Count {
///             words: text.split_whitespace().filter(counts).count(),
///             path: arguments.path,
///         }))
///     }
/// }
///
/// rootbound_tool::export!(CountWords);
/// # fn main() { rootbound_tool::check(TOOLS) }
/// ```
pub trait Tool {
    /// The arguments. The input schema is derived from this struct: doc comments are
    /// descriptions, `Option` and `#[serde(default)]` make an argument optional, unit enums
    /// list the words that are taken, and [`Within`](crate::Within) holds a number in a range.
    ///
    /// What several tools share can be a struct of its own, in a field with
    /// `#[serde(flatten)]`.
    ///
    /// It must refuse unknown fields (`#[serde(deny_unknown_fields)]`), and so must the
    /// structs in it. Use [`NoArguments`](crate::NoArguments) where there are none.
    ///
    /// A string `root` names a read root: the caller gives the user's label for it, and the
    /// tool gets the name of the preopen, for [`Roots::only`](crate::files::Roots::only).
    type Arguments: DeserializeOwned + JsonSchema;

    /// What the tool answers, without its payload. The output schema is derived from this
    /// struct.
    type Fields: Serialize + JsonSchema;

    /// A stable name of 64 characters or fewer: ASCII letters, digits, `_`, `-`.
    const NAME: &'static str;
    /// Other names that are taken for the tool and not shown.
    const ALIASES: &'static [&'static str] = &[];
    /// A short name for people.
    const TITLE: &'static str;
    /// What the tool does, when to use it and how it refuses, for a model.
    const DESCRIPTION: &'static str;
    /// The most harm the tool can do.
    const RISK: Risk;
    /// Which arguments are paths.
    const PATHS: &'static [PathArgument];
    /// Arguments as a caller gives them: a JSON object as text, which models are shown and
    /// tests try.
    const EXAMPLE: &'static str;
    /// Whether the tool is named to a caller who asked for one that there is not.
    const SUGGESTED: bool = true;

    /// Runs the tool.
    ///
    /// # Errors
    /// What the tool itself finds wrong, or [`Error::Host`] when a WASI call was refused and
    /// the tool has nothing to add.
    fn run(arguments: Self::Arguments) -> Result<Output<Self::Fields>, Error>;
}

/// How much harm a tool can do at its worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Risk {
    /// Reads, lists, or looks up metadata.
    Read,
    /// Creates what did not exist before.
    Draft,
    /// Changes, replaces, renames, or deletes what existed before.
    Destructive,
}

/// What a path argument is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The object is read, listed, or looked up.
    Read,
    /// The file is written: created, or replaced where the policy allows it.
    Write,
    /// The file or directory is created.
    Create,
    /// The file or directory is deleted.
    Delete,
    /// The object is renamed away from this path.
    MoveFrom,
    /// The object is renamed to this path.
    MoveTo,
}

/// An argument that carries a path.
///
/// # Examples
/// ```
/// use rootbound_tool::PathArgument;
///
/// const PATHS: &[PathArgument] = &[
///     PathArgument::read("sources[]"),
///     PathArgument::create("to").guarded(),
/// ];
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PathArgument {
    /// Where the path stands: a property name, with `[]` behind the name of an array and `.`
    /// before a property of an inner object.
    pub pointer: &'static str,
    /// What the tool does there.
    pub role: Role,
    /// Whether the host's `expected_version` and `expected_sha256` guard this argument.
    pub guarded: bool,
}

impl PathArgument {
    /// A path of this role, not guarded.
    #[must_use]
    pub const fn new(pointer: &'static str, role: Role) -> Self {
        Self {
            pointer,
            role,
            guarded: false,
        }
    }

    /// A path that is read, listed, or looked up.
    #[must_use]
    pub const fn read(pointer: &'static str) -> Self {
        Self::new(pointer, Role::Read)
    }

    /// A file that is written: created, or replaced where the policy allows it.
    #[must_use]
    pub const fn write(pointer: &'static str) -> Self {
        Self::new(pointer, Role::Write)
    }

    /// A file or directory that is created.
    #[must_use]
    pub const fn create(pointer: &'static str) -> Self {
        Self::new(pointer, Role::Create)
    }

    /// A file or directory that is deleted.
    #[must_use]
    pub const fn delete(pointer: &'static str) -> Self {
        Self::new(pointer, Role::Delete)
    }

    /// The same, guarded: the tool then also takes `expected_version` and `expected_sha256`,
    /// by which a caller says what it last saw there. They stand in the schema by themselves
    /// and do not reach the tool; the host judges them when it commits.
    ///
    /// # Limits
    /// One path of a tool can be guarded.
    #[must_use]
    pub const fn guarded(mut self) -> Self {
        self.guarded = true;
        self
    }
}
