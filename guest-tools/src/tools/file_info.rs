//! `file_info`: what a file or directory is, and what its content looks like.

use super::schema;
use crate::files::{
    DescriptorType, ErrorCode, PathFlags, Roots, kind, modified, open_for_reading,
    open_if_permitted, version,
};
use crate::magic::{media_type, media_type_of_bad};
use crate::reading::sha256;
use crate::text::{Decoding, Encoding, Endings};
use crate::tool::{Error, Output, PathArgument, Risk, Role, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Read to tell what a file is.
const TELLING: u64 = 64 * 1024;

/// The tool.
pub(crate) struct FileInfo;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    hash: Option<bool>,
}

#[derive(Serialize)]
struct Fields<'a> {
    path: &'a str,
    root: String,
    #[serde(rename = "type")]
    kind: &'static str,
    link: bool,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    version: String,
    names: u64,
    #[serde(flatten)]
    content: Option<Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// What the start of a file says of it.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Content {
    mime_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bom: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_ending: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
}

impl Tool for FileInfo {
    type Arguments = Arguments;

    const NAME: &'static str = "file_info";
    const TITLE: &'static str = "Describe a file";
    const DESCRIPTION: &'static str = "Tells what a file or directory is: type, size, time of \
        modification, version, number of names, whether the path is a link, and from its first \
        64 KiB MIME type, encoding and line endings. `hash` reads it whole. Absence is \
        `not-found`; `file_exists` answers it.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "path",
        role: Role::Read,
        guarded: false,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            json!({
                "path": schema::path("File or directory"),
                "hash": schema::of("boolean"),
            }),
            &["path"],
            json!({ "path": "data/export.csv", "hash": true }),
        )
    }

    fn output_schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": schema::of("string"),
                "root": schema::of("string"),
                "type": { "type": "string", "enum": ["file", "directory", "symlink", "other"] },
                "link": schema::of("boolean"),
                "size": schema::of("integer"),
                "modified": { "type": "string", "format": "date-time" },
                "version": schema::of("string"),
                "names": schema::of("integer"),
                "mime_type": schema::of("string"),
                "encoding": schema::of("string"),
                "bom": schema::of("boolean"),
                "line_ending": schema::of("string"),
                "lines": schema::of("integer"),
                "sha256": schema::of("string"),
            },
            "required": ["path", "root", "type", "link", "size", "version", "names"],
        })
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let path = &arguments.path;
        let follow = PathFlags::SYMLINK_FOLLOW;
        let found = Roots::preopened().look_up(|directory| {
            let stat = directory.stat_at(follow, path)?;
            let hash = directory.metadata_hash_at(follow, path)?;
            let itself = directory.stat_at(PathFlags::empty(), path)?;
            Ok::<_, ErrorCode>((stat, hash, itself))
        })?;
        let (stat, hash, itself) = found.object;
        let mut fields = Fields {
            path,
            root: found.root,
            kind: kind(stat.type_),
            link: itself.type_ == DescriptorType::SymbolicLink,
            size: stat.size,
            modified: modified(stat.data_modification_timestamp),
            version: version(hash),
            names: stat.link_count,
            content: None,
            sha256: None,
        };
        let wants_hash = arguments.hash.unwrap_or(false);
        if stat.type_ == DescriptorType::RegularFile {
            fields.look_inside(wants_hash)?;
        }
        Ok(Output::fields(&fields))
    }
}

impl Fields<'_> {
    /// A file that may not be read is described without its content, unless its hash is
    /// wanted.
    fn look_inside(&mut self, wants_hash: bool) -> Result<(), Error> {
        let opened = match wants_hash {
            true => Some(open_for_reading(self.path)?),
            false => open_if_permitted(self.path)?,
        };
        let Some(file) = opened else {
            return Ok(());
        };
        if wants_hash {
            let bytes = file.read_all()?;
            self.sha256 = Some(sha256(&bytes));
            self.content = Some(Content::of(bytes, true));
        } else {
            let (bytes, _) = file.reader()(TELLING, 0)?;
            let is_all = bytes.len() as u64 >= file.size;
            self.content = Some(Content::of(bytes, is_all));
        }
        Ok(())
    }
}

impl Content {
    fn of(bytes: Vec<u8>, is_all: bool) -> Self {
        let start = bytes[..bytes.len().min(TELLING as usize)].to_vec();
        let encoding = Encoding::detect(&bytes);
        let decoding = Decoding {
            encoding,
            replace: false,
        };
        let (mime_type, endings) = match decoding.decode(bytes, usize::MAX, is_all) {
            Ok(decoded) => (media_type(&start), Some(Endings::of(&decoded.text))),
            Err(bad) => (media_type_of_bad(&start, &bad.bytes[bad.offset..]), None),
        };
        Self {
            mime_type,
            encoding: endings.map(|_| encoding.name()),
            bom: endings.map(|_| encoding.mark > 0),
            line_ending: endings.map(Endings::name),
            lines: endings.filter(|_| is_all).map(Endings::lines),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(bytes: &[u8], is_all: bool) -> Value {
        serde_json::to_value(Content::of(bytes.to_vec(), is_all)).unwrap()
    }

    #[test]
    fn text_is_described_by_its_encoding_and_lines() {
        let text = |encoding: &str, bom: bool, ending: &str, lines: u64| {
            json!({
                "mime_type": "text/plain",
                "encoding": encoding, "bom": bom, "line_ending": ending, "lines": lines,
            })
        };
        assert_eq!(content(b"a\nb", true), text("utf-8", false, "lf", 2));
        assert_eq!(content(b"", true), text("utf-8", false, "none", 0));
        assert_eq!(
            content(b"\xef\xbb\xbfa\r\n", true),
            text("utf-8", true, "crlf", 1)
        );
        let utf_16 = content(b"\xff\xfea\0\r\0\n\0", true);
        assert_eq!(utf_16["encoding"], "utf-16le");
        assert_eq!(utf_16["line_ending"], "crlf");
    }

    /// A character that the first part of a file ends in is no reason to call it binary.
    #[test]
    fn a_start_that_ends_inside_a_character_is_text() {
        let start = content(b"caf\xc3", false);
        assert_eq!(start["encoding"], "utf-8");
        assert!(start.get("lines").is_none());
        assert!(content(b"caf\xc3", true).get("encoding").is_none());
    }

    #[test]
    fn bytes_have_a_type_and_nothing_more() {
        let png = content(b"\x89PNG\r\n\x1a\n", true);
        assert_eq!(png, json!({ "mime_type": "image/png" }));
    }
}
