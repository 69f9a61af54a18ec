//! The export `rootbound:tools/files`: what the tools do, as functions with types.
//!
//! Nothing is done here: each function calls what its tool calls, and puts the answer into the
//! record that the interface has for it. Rootbound's host uses `provider` only.

mod answers;
mod bindings;
mod refusals;

use crate::files::{self, ErrorCode, Roots};
use crate::reading::{Wish, chosen, read};
use crate::tool::{Content, Error, Failure, Tool};
use crate::tools::create_directory::create;
use crate::tools::create_file::write;
use crate::tools::delete_file::remove;
use crate::tools::file_exists::look_up;
use crate::tools::find_files::FindFiles;
use crate::tools::list_files::ListFiles;
use crate::tools::move_file::rename;
use crate::tools::search_files::SearchFiles;
use crate::tools::shared::exists;
use bindings::exports::rootbound::tools::files as wit;
use refusals::told;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The component, as the interface `files` has it.
struct Component;

impl wit::Guest for Component {
    fn read(path: String) -> Result<Vec<u8>, wit::Error> {
        files::read(&path).map_err(|error| told(error, &path))
    }

    fn read_text(path: String, encoding: Option<String>) -> Result<wit::Text, wit::Error> {
        read_text(&path, encoding.as_deref()).map_err(|error| told(error, &path))
    }

    fn write(
        path: String,
        content: Vec<u8>,
        existing: wit::Existing,
    ) -> Result<wit::Written, wit::Error> {
        let bytes = content.len() as u64;
        let created = write(&path, &content, replaces(existing));
        let written = created.map(|created| wit::Written { bytes, created });
        written.map_err(|error| told(error, &path))
    }

    fn append(path: String, content: Vec<u8>) -> Result<wit::Written, wit::Error> {
        append(&path, content).map_err(|error| told(error, &path))
    }

    fn list(path: String) -> Result<wit::Listing, wit::Error> {
        let page = page::<ListFiles, answers::Listing>(json!({ "path": path }));
        page.map(Into::into).map_err(|error| told(error, &path))
    }

    fn find(
        pattern: String,
        path: String,
        cursor: Option<String>,
    ) -> Result<wit::Names, wit::Error> {
        let arguments = json!({ "pattern": pattern, "path": path, "cursor": cursor });
        let page = page::<FindFiles, answers::Names>(arguments);
        page.map(Into::into).map_err(|error| told(error, &path))
    }

    fn search(
        query: wit::Query,
        path: String,
        cursor: Option<String>,
    ) -> Result<wit::SearchResults, wit::Error> {
        let arguments = json!({
            "query": query.text,
            "regex": query.regex,
            "ignore_case": query.ignore_case,
            "glob": query.glob,
            "path": path,
            "cursor": cursor,
        });
        let page = page::<SearchFiles, answers::SearchResults>(arguments);
        page.map(Into::into).map_err(|error| told(error, &path))
    }

    fn info(path: String) -> Result<wit::Facts, wit::Error> {
        let facts = look_up(&path).and_then(|facts| facts.ok_or(ErrorCode::NoEntry.into()));
        facts.map(Into::into).map_err(|error| told(error, &path))
    }

    fn exists(path: String) -> Result<bool, wit::Error> {
        let facts = look_up(&path).map_err(|error| told(error, &path))?;
        Ok(facts.is_some())
    }

    fn create_directory(path: String) -> Result<(), wit::Error> {
        create(&path).map_err(|error| told(error, &path))
    }

    fn copy(from: String, to: String, existing: wit::Existing) -> Result<wit::Written, wit::Error> {
        let copied = files::copy(&Roots::preopened(), &from, &to, replaces(existing), exists);
        let written = copied.map(|copied| wit::Written {
            bytes: copied.bytes,
            created: copied.created,
        });
        written.map_err(|error| told(error, &both(&from, &to)))
    }

    fn move_(from: String, to: String, existing: wit::Existing) -> Result<(), wit::Error> {
        let renamed = rename(&from, &to, replaces(existing));
        renamed.map_err(|error| told(error, &both(&from, &to)))
    }

    fn delete(path: String) -> Result<(), wit::Error> {
        remove(&path).map_err(|error| told(error, &path))
    }
}

fn read_text(path: &str, encoding: Option<&str>) -> Result<wit::Text, Error> {
    let wish = Wish {
        choice: chosen(encoding)?,
        replace: false,
        part: None,
        hash: false,
    };
    let reading = read(path, &wish)?;
    match reading.content {
        Content::Text(content) => Ok(answers::text(reading.facts, content)),
        Content::Bytes { mime_type, .. } => Err(media(path, &mime_type).into()),
        Content::None => Err(media(path, "application/octet-stream").into()),
    }
}

fn append(path: &str, content: Vec<u8>) -> Result<wit::Written, Error> {
    let roots = Roots::preopened();
    let (created, bytes) = files::append(roots.writable()?, path, |_| Ok(content))?;
    Ok(wit::Written {
        bytes: bytes as u64,
        created,
    })
}

fn media(path: &str, media_type: &str) -> Failure {
    Failure::new("not-text", format!("`{path}` is `{media_type}`")).hint("read its bytes")
}

/// Lists are written as JSON while they are made, and this is where they are read again.
fn page<T: Tool, P: DeserializeOwned>(arguments: Value) -> Result<P, Error> {
    let wrong = |error: serde_json::Error| Failure::invalid_arguments(error.to_string());
    let output = T::run(serde_json::from_value(arguments).map_err(wrong)?)?;
    let page = serde_json::from_str(&output.into_parts().0);
    Ok(page.map_err(|error| Failure::new("io", error.to_string()))?)
}

fn replaces(existing: wit::Existing) -> bool {
    matches!(existing, wit::Existing::Replace)
}

/// Which of two paths WASI refused is not known.
fn both(from: &str, to: &str) -> String {
    format!("{from}` or `{to}")
}
