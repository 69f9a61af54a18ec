//! `sandbox_filesystem`: everything in one tool, for agents that take few.
//!
//! It answers `{success, data, metadata}`; what a failure looks like is the host's matter,
//! since most failures are its refusals.

use super::delete_file::delete;
use super::schema;
use crate::files::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode, Miss, OpenFlags, PathFlags, Roots,
    create_directory, create_new, kind, modified, open_for_reading, replace_existing, version,
    write_all,
};
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Role, Tool};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

/// Levels of a recursive listing (issue: at most 10).
const MOST_DEEP: usize = 10;

/// The tool.
pub(crate) struct SandboxFilesystem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    operation: Operation,
    path: String,
    content: Option<String>,
    encoding: Option<String>,
    #[serde(default)]
    recursive: bool,
    /// For a deletion the host reads it, beside `recursive`.
    #[serde(default)]
    force: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Operation {
    Read,
    Write,
    List,
    CreateDir,
    Delete,
    Exists,
    Info,
}

/// How `content` and `data` stand for bytes.
#[derive(Clone, Copy)]
enum Encoding {
    Utf8,
    Base64,
}

impl Tool for SandboxFilesystem {
    type Arguments = Arguments;

    const NAME: &'static str = "sandbox_filesystem";
    const TITLE: &'static str = "Files";
    const DESCRIPTION: &'static str = "Works on files in the granted directories and answers \
        {success, data, metadata}. write makes directories as needed; an existing file needs \
        force, as a recursive delete does, and the user's policy may still refuse or ask. A \
        recursive list goes 10 deep.";
    const RISK: Risk = Risk::Destructive;
    // One role for one argument: that of the operation that does the most.
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "path",
        role: Role::Delete,
        guarded: false,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            json!({
                "operation": { "type": "string", "enum": [
                    "read", "write", "list", "createDir", "delete", "exists", "info",
                ]},
                "path": schema::path("File or directory"),
                "content": { "type": "string", "description": "For write" },
                "encoding": { "type": "string", "enum": ["utf-8", "base64"], "default": "utf-8" },
                "recursive": { "type": "boolean", "description": "For list, createDir, delete" },
                "force": { "type": "boolean", "description": "Overwrite, or delete recursively" },
            }),
            &["operation", "path"],
            json!({ "operation": "write", "path": "notes/todo.txt", "content": "Call Ada.\n" }),
        )
    }

    fn output_schema() -> Value {
        schema::fields(json!({
            "success": schema::of("boolean"),
            "data": {},
            "metadata": schema::of("object"),
        }))
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let encoding = encoding(arguments.encoding.as_deref())?;
        let path = &arguments.path;
        let (data, metadata) = match arguments.operation {
            Operation::Read => read(path, encoding),
            Operation::Write => write(&arguments, encoding),
            Operation::List => list(path, arguments.recursive),
            Operation::CreateDir => create_dir(path, arguments.recursive),
            Operation::Delete => delete_path(path),
            Operation::Exists => exists(path),
            Operation::Info => info(path),
        }?;
        Ok(Output::fields(
            &json!({ "success": true, "data": data, "metadata": metadata }),
        ))
    }
}

/// What an operation answers: data and metadata.
type Answer = Result<(Value, Value), Error>;

fn read(path: &str, encoding: Encoding) -> Answer {
    let bytes = open_for_reading(path)?.read_all()?;
    let size = bytes.len();
    let data = match encoding {
        Encoding::Base64 => STANDARD.encode(bytes),
        Encoding::Utf8 => String::from_utf8(bytes).map_err(|_| not_text(path))?,
    };
    Ok((data.into(), json!({ "bytesRead": size })))
}

fn write(arguments: &Arguments, encoding: Encoding) -> Answer {
    let path = &arguments.path;
    let content = arguments.content.as_deref().ok_or_else(no_content)?;
    let decoded;
    let bytes = match encoding {
        Encoding::Utf8 => content.as_bytes(),
        Encoding::Base64 => {
            decoded = STANDARD.decode(content).map_err(|_| not_base64())?;
            &decoded
        }
    };
    let roots = Roots::preopened();
    let root = roots.writable()?;
    let (file, created) = match create_new(root, path) {
        Err(ErrorCode::Exist) if arguments.force => (replace_existing(root, path)?, false),
        Err(ErrorCode::Exist) => return Err(taken(path).into()),
        answer => (answer?, true),
    };
    write_all(&file, bytes)?;
    let metadata = json!({ "bytesWritten": bytes.len(), "created": created });
    Ok((Value::Null, metadata))
}

fn list(path: &str, recursive: bool) -> Answer {
    let flags = DescriptorFlags::READ;
    let found = Roots::preopened().look_up(|root| {
        root.open_at(PathFlags::SYMLINK_FOLLOW, path, OpenFlags::DIRECTORY, flags)
    })?;
    let mut listing = Listing::default();
    let levels = if recursive { MOST_DEEP } else { 1 };
    listing.add(&found.object, "", levels)?;
    let metadata = json!({ "itemsCount": listing.items.len(), "truncated": listing.truncated });
    Ok((listing.items.into(), metadata))
}

#[derive(Default)]
struct Listing {
    items: Vec<Value>,
    truncated: bool,
}

impl Listing {
    /// Adds the entries of a directory, and of those in it while there are levels left. Links
    /// are not followed.
    fn add(&mut self, directory: &Descriptor, above: &str, levels: usize) -> Result<(), ErrorCode> {
        let mut inner = Vec::new();
        let entries = directory.read_directory()?;
        loop {
            let entry = match entries.read_directory_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => break,
                // The host allows no more; what there is is worth having.
                Err(ErrorCode::Quota) if !self.items.is_empty() => {
                    self.truncated = true;
                    break;
                }
                Err(code) => return Err(code),
            };
            // A name that no path can carry is marked by the host with a NUL before it.
            let usable = !entry.name.starts_with('\0');
            let name = format!("{above}{}", entry.name.trim_start_matches('\0'));
            self.items
                .push(json!({ "name": name, "type": kind(entry.type_) }));
            if entry.type_ == DescriptorType::Directory && usable {
                inner.push((entry.name, name));
            }
        }
        drop(entries);
        self.descend(directory, inner, levels - 1)
    }

    fn descend(
        &mut self,
        directory: &Descriptor,
        inner: Vec<(String, String)>,
        levels: usize,
    ) -> Result<(), ErrorCode> {
        if levels == 0 {
            return Ok(());
        }
        for (entry, name) in inner {
            if self.truncated {
                return Ok(());
            }
            let flags = DescriptorFlags::READ;
            let opened = directory.open_at(PathFlags::empty(), &entry, OpenFlags::DIRECTORY, flags);
            // What may not be looked into is still an entry.
            if let Ok(opened) = opened {
                self.add(&opened, &format!("{name}/"), levels)?;
            }
        }
        Ok(())
    }
}

fn create_dir(path: &str, recursive: bool) -> Answer {
    let roots = Roots::preopened();
    let root = roots.writable()?;
    if recursive {
        create_directory(root, path)?;
    } else {
        root.create_directory_at(path)?;
    }
    Ok((Value::Null, json!({ "created": true })))
}

fn delete_path(path: &str) -> Answer {
    let roots = Roots::preopened();
    let root = roots.writable()?;
    delete(
        path,
        || root.unlink_file_at(path),
        || root.remove_directory_at(path),
    )?;
    Ok((Value::Null, json!({ "deleted": true })))
}

fn exists(path: &str) -> Answer {
    let found = Roots::preopened().look_up(|root| root.stat_at(PathFlags::SYMLINK_FOLLOW, path));
    match found {
        Ok(found) => Ok((true.into(), json!({ "type": kind(found.object.type_) }))),
        Err(Miss::Absent) => Ok((false.into(), json!({}))),
        Err(miss) => Err(miss.into()),
    }
}

fn info(path: &str) -> Answer {
    let follow = PathFlags::SYMLINK_FOLLOW;
    let found = Roots::preopened().look_up(|root| {
        Ok::<_, ErrorCode>((
            root.stat_at(follow, path)?,
            root.metadata_hash_at(follow, path)?,
        ))
    })?;
    let (stat, hash) = found.object;
    let data = json!({
        "type": kind(stat.type_),
        "size": stat.size,
        "modified": modified(stat.data_modification_timestamp),
        "version": version(hash),
    });
    Ok((data, json!({})))
}

fn encoding(name: Option<&str>) -> Result<Encoding, Failure> {
    match name.map(str::to_ascii_lowercase).as_deref() {
        None | Some("utf-8" | "utf8") => Ok(Encoding::Utf8),
        Some("base64") => Ok(Encoding::Base64),
        Some(_) => Err(
            Failure::new("unsupported-encoding", "the encoding is not known")
                .hint("use `utf-8`, or `base64` for what is not text"),
        ),
    }
}

fn not_text(path: &str) -> Failure {
    Failure::new("not-text", format!("`{path}` is not UTF-8 text"))
        .hint("read it with `encoding: \"base64\"`")
}

fn no_content() -> Failure {
    Failure::invalid_arguments("argument `content` is missing")
        .hint("give `content` as a string; an empty one makes an empty file")
}

fn not_base64() -> Failure {
    Failure::invalid_arguments("`content` is not base64")
        .hint("encode the bytes with the standard alphabet and padding, or use `utf-8` for text")
}

fn taken(path: &str) -> Failure {
    Failure::new("exists", format!("`{path}` exists already"))
        .hint("choose another name, or give `force: true` to replace it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments;

    #[test]
    fn operations_are_those_of_the_contract() {
        let schema = SandboxFilesystem::input_schema();
        for operation in schema["properties"]["operation"]["enum"]
            .as_array()
            .unwrap()
        {
            let text = json!({ "operation": operation, "path": "a" }).to_string();
            assert!(
                arguments::parse::<SandboxFilesystem>(&text).is_ok(),
                "{operation}"
            );
        }
        let text = r#"{"operation":"chmod","path":"a"}"#;
        assert!(arguments::parse::<SandboxFilesystem>(text).is_err());
    }

    #[test]
    fn encodings_are_known_or_refused() {
        assert!(matches!(encoding(None), Ok(Encoding::Utf8)));
        assert!(matches!(encoding(Some("UTF-8")), Ok(Encoding::Utf8)));
        assert!(matches!(encoding(Some("base64")), Ok(Encoding::Base64)));
        let refused = encoding(Some("latin1")).err().map(|failure| failure.code);
        assert_eq!(refused, Some("unsupported-encoding"));
    }
}
