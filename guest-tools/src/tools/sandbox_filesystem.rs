//! `sandbox_filesystem`: everything in one tool, for agents that take few.
//!
//! It answers `{success, data, metadata}`; what a failure looks like is the host's matter,
//! since most failures are its refusals.

mod listing;

use super::delete_file::delete;
use crate::editing::choice;
use crate::files::{
    ErrorCode, Kind, Miss, PathFlags, Roots, create_directory, modified, open, put, version,
};
use crate::reading;
use crate::text::{self, Decoding};
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Tool};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The tool.
pub(crate) struct SandboxFilesystem;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    operation: Operation,
    path: String,
    /// For write
    content: Option<String>,
    #[serde(default)]
    encoding: Encoding,
    /// For list, createDir, delete
    recursive: Option<bool>,
    // For a deletion the host reads it, beside `recursive`.
    /// Overwrite, or delete recursively
    force: Option<bool>,
    /// For list: from `next_cursor`
    cursor: Option<String>,
    default_encoding: Option<String>,
}

/// What an operation answers.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    success: bool,
    data: Value,
    metadata: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(description = "")]
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
#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[schemars(description = "")]
enum Encoding {
    #[default]
    #[serde(rename = "utf-8", alias = "utf8", alias = "UTF-8")]
    Utf8,
    #[serde(rename = "base64")]
    Base64,
}

impl Tool for SandboxFilesystem {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "sandbox_filesystem";
    const TITLE: &'static str = "Files";
    const DESCRIPTION: &'static str = "Works on files in the granted directories and answers \
        {success, data, metadata}. write makes directories as needed; an existing file needs \
        force, as a recursive delete does, and the user's policy may still refuse or ask. A \
        recursive list goes 10 deep.";
    const RISK: Risk = Risk::Destructive;
    // One role for one argument: that of the operation that does the most.
    const PATHS: &'static [PathArgument] = &[PathArgument::delete("path")];
    const SUGGESTED: bool = false;
    const EXAMPLE: &'static str =
        r#"{"operation":"write","path":"notes/todo.txt","content":"Call Ada.\n"}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let encoding = arguments.encoding;
        let recursive = arguments.recursive.unwrap_or(false);
        let path = &arguments.path;
        let (data, metadata) = match arguments.operation {
            Operation::Read => read(path, encoding, arguments.default_encoding.as_deref()),
            Operation::Write => write(&arguments, encoding),
            Operation::List => listing::list(path, recursive, arguments.cursor.as_deref()),
            Operation::CreateDir => create_dir(path, recursive),
            Operation::Delete => delete_path(path),
            Operation::Exists => exists(path),
            Operation::Info => info(path),
        }?;
        let success = true;
        Ok(Output::new(Fields {
            success,
            data,
            metadata,
        }))
    }
}

/// What an operation answers: data and metadata.
type Answer = Result<(Value, Map<String, Value>), Error>;

/// The members of an object.
fn facts(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(facts) => facts,
        _ => Map::new(),
    }
}

fn read(path: &str, encoding: Encoding, assumed: Option<&str>) -> Answer {
    let bytes = open(path)?.read_all()?;
    let size = bytes.len();
    let data = match encoding {
        Encoding::Base64 => STANDARD.encode(bytes),
        Encoding::Utf8 => text_of(path, bytes, assumed)?,
    };
    Ok((data.into(), facts(json!({ "bytesRead": size }))))
}

/// UTF-8, or what the operator said that texts without a mark are.
fn text_of(path: &str, bytes: Vec<u8>, assumed: Option<&str>) -> Result<String, Failure> {
    if let Some(label) = choice(None, assumed)?.overlooks(&bytes) {
        return Err(reading::utf_16_without_mark(path, label, &bytes, "").hint(AS_BYTES));
    }
    let named = assumed.is_none().then_some("utf-8");
    let encoding = choice(named, assumed)?.at_start_of(&bytes);
    let replace = false;
    let decoded = Decoding { encoding, replace }.decode(bytes, usize::MAX, true);
    let decoded = decoded.map_err(|bad| not_text(path, encoding, bad.offset, &bad.bytes))?;
    Ok(decoded.text)
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
    let force = arguments.force.unwrap_or(false);
    let created = match put(root, path, bytes, force) {
        Err(ErrorCode::Exist) if !force => return Err(taken(path).into()),
        created => created?,
    };
    let metadata = json!({ "bytesWritten": bytes.len(), "created": created });
    Ok((Value::Null, facts(metadata)))
}

fn create_dir(path: &str, recursive: bool) -> Answer {
    let roots = Roots::preopened();
    let root = roots.writable()?;
    if recursive {
        create_directory(root, path)?;
    } else {
        match root.create_directory_at(path) {
            Err(ErrorCode::NoEntry) => return Err(no_parent(path).into()),
            answer => answer?,
        }
    }
    Ok((Value::Null, facts(json!({ "created": true }))))
}

fn delete_path(path: &str) -> Answer {
    let roots = Roots::preopened();
    let root = roots.writable()?;
    delete(
        path,
        || root.unlink_file_at(path),
        || root.remove_directory_at(path),
    )?;
    Ok((Value::Null, facts(json!({ "deleted": true }))))
}

fn exists(path: &str) -> Answer {
    let found = Roots::preopened().look_up(|root| root.stat_at(PathFlags::SYMLINK_FOLLOW, path));
    match found {
        Ok(found) => Ok((
            true.into(),
            facts(json!({ "type": Kind::from(found.object.type_) })),
        )),
        Err(Miss::Absent) => Ok((false.into(), Map::new())),
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
        "type": Kind::from(stat.type_),
        "size": stat.size,
        "modified": modified(stat.data_modification_timestamp),
        "version": version(hash),
    });
    Ok((data, Map::new()))
}

/// What to do with bytes that are not text.
const AS_BYTES: &str = "read it with `encoding: \"base64\"`";

fn not_text(path: &str, encoding: text::Encoding, offset: usize, bytes: &[u8]) -> Failure {
    reading::not_text(path, encoding, offset as u64, bytes, &bytes[offset..]).hint(AS_BYTES)
}

fn no_content() -> Failure {
    Failure::invalid_arguments("argument `content` is missing")
        .hint("give `content` as a string; an empty one makes an empty file")
}

fn not_base64() -> Failure {
    Failure::invalid_arguments("`content` is not base64")
        .hint("encode the bytes with the standard alphabet and padding, or use `utf-8` for text")
}

fn no_parent(path: &str) -> Failure {
    let message = format!("the directory that `{path}` is to be made in does not exist");
    Failure::new("not-found", message)
        .hint("give `recursive: true` to make it as well")
        .details(&json!({ "parent": "absent" }))
}

fn taken(path: &str) -> Failure {
    Failure::new("exists", format!("`{path}` exists already"))
        .hint("choose another name, or give `force: true` to replace it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Registered;

    #[test]
    fn operations_are_those_of_the_contract() {
        let tool = Registered::new::<SandboxFilesystem>();
        let schema = tool.definition().input_schema;
        let operations = schema["properties"]["operation"]["enum"].as_array();
        for operation in operations.unwrap() {
            let text = json!({ "operation": operation, "path": "a" }).to_string();
            assert!(tool.parse(&text).is_ok(), "{operation}");
        }
        let text = r#"{"operation":"chmod","path":"a"}"#;
        assert!(tool.parse(text).is_err());
    }
}
