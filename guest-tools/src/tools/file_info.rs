//! `file_info`: what a file or directory is, and what its content looks like.

use super::read_file::assumed;
use crate::files::{
    DescriptorType, ErrorCode, Kind, PathFlags, Roots, modified, open, open_if_permitted, version,
};
use crate::magic::{media_type, media_type_of_bad};
use crate::reading::sha256;
use crate::text::{Choice, Decoding, Encoding, Endings};
use crate::tool::{Error, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Read to tell what a file is.
const TELLING: u64 = 64 * 1024;

/// The tool.
pub(crate) struct FileInfo;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    /// Add `sha256`; reads it whole
    hash: Option<bool>,
    default_encoding: Option<String>,
}

/// What is there.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    root: String,
    #[serde(rename = "type")]
    kind: Kind,
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
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
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
    type Fields = Fields;

    const NAME: &'static str = "file_info";
    const TITLE: &'static str = "Describe a file";
    const DESCRIPTION: &'static str = "Tells what a file or directory is: type, size, time of \
        modification, version, number of names, whether the path is a link, and from its first 64 \
        KiB MIME type, encoding and line endings.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
    const EXAMPLE: &'static str = r#"{"path":"data/export.csv","hash":true}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let path = arguments.path;
        let choice = assumed(arguments.default_encoding.as_deref())?;
        let follow = PathFlags::SYMLINK_FOLLOW;
        let found = Roots::preopened().look_up(|directory| {
            let stat = directory.stat_at(follow, &path)?;
            let hash = directory.metadata_hash_at(follow, &path)?;
            let itself = directory.stat_at(PathFlags::empty(), &path)?;
            Ok::<_, ErrorCode>((stat, hash, itself))
        })?;
        let (stat, hash, itself) = found.object;
        let mut fields = Fields {
            path,
            root: found.root,
            kind: stat.type_.into(),
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
            fields.look_inside(wants_hash, choice)?;
        }
        Ok(Output::new(fields))
    }
}

impl Fields {
    /// A file that may not be read is described without its content, unless its hash is
    /// wanted.
    fn look_inside(&mut self, wants_hash: bool, choice: Choice) -> Result<(), Error> {
        let opened = match wants_hash {
            true => Some(open(&self.path)?),
            false => open_if_permitted(&self.path)?,
        };
        let Some(file) = opened else {
            return Ok(());
        };
        if wants_hash {
            let bytes = file.read_all()?;
            self.sha256 = Some(sha256(&bytes));
            self.content = Some(Content::of(bytes, true, choice));
        } else {
            let (bytes, _) = file.reader()(TELLING, 0)?;
            let is_all = bytes.len() as u64 >= file.size;
            self.content = Some(Content::of(bytes, is_all, choice));
        }
        Ok(())
    }
}

impl Content {
    fn of(bytes: Vec<u8>, is_all: bool, choice: Choice) -> Self {
        let start = bytes[..bytes.len().min(TELLING as usize)].to_vec();
        let encoding = encoding_of(&start, choice);
        let decoding = Decoding {
            encoding,
            replace: false,
        };
        let is_blank = !start.is_empty() && start.iter().all(|byte| *byte == 0);
        let (mime_type, endings) = match decoding.decode(bytes, usize::MAX, is_all) {
            Ok(_) if is_blank => (media_type(&start), None),
            Ok(decoded) if encoding.is_utf_8() => {
                (media_type(&start), Some(Endings::of(&decoded.text)))
            }
            Ok(decoded) => ("text/plain", Some(Endings::of(&decoded.text))),
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

/// What the mark says, or else the text itself; what is assumed, of texts alone.
fn encoding_of(start: &[u8], choice: Choice) -> Encoding {
    let seems = choice.overlooks(start).map(Choice::named);
    match seems {
        Some(Ok(seems)) => seems.at_start_of(start),
        _ if media_type(start).starts_with("text/") => choice.at_start_of(start),
        _ => Encoding::detect(start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn content(bytes: &[u8], is_all: bool) -> Value {
        let content = Content::of(bytes.to_vec(), is_all, Choice::Detected);
        serde_json::to_value(content).unwrap()
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

    #[test]
    fn text_without_a_mark_is_described_by_what_it_seems_and_what_is_assumed() {
        let utf_16 = content(b"a\0\r\0\n\0", true);
        assert_eq!(utf_16["encoding"], "utf-16le");
        assert_eq!(
            (&utf_16["bom"], &utf_16["line_ending"]),
            (&json!(false), &json!("crlf"))
        );
        let latin = Choice::assumed("latin1").unwrap();
        let encoding = |bytes: &[u8]| Content::of(bytes.to_vec(), true, latin).encoding;
        assert_eq!(encoding(b"caf\xe9\n").as_deref(), Some("windows-1252"));
        assert_eq!(encoding(b"\x89PNG\r\n\x1a\n"), None);
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
    fn a_file_that_nothing_was_written_to_is_no_text() {
        let blank = content(&[0; 100], true);
        assert_eq!(blank, json!({ "mime_type": "application/octet-stream" }));
    }

    #[test]
    fn bytes_have_a_type_and_nothing_more() {
        let png = content(b"\x89PNG\r\n\x1a\n", true);
        assert_eq!(png, json!({ "mime_type": "image/png" }));
    }
}
