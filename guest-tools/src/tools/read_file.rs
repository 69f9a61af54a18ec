//! `read_file`: the whole of a UTF-8 text file.

use super::schema;
use crate::files::{open_for_reading, version};
use crate::magic::media_type;
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Role, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The tool.
pub(crate) struct ReadFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
}

#[derive(Serialize)]
struct Fields<'a> {
    path: &'a str,
    root: &'a str,
    encoding: &'static str,
    size: u64,
    version: String,
}

impl Tool for ReadFile {
    type Arguments = Arguments;

    const NAME: &'static str = "read_file";
    const TITLE: &'static str = "Read a text file";
    const DESCRIPTION: &'static str = "Returns the whole text of a UTF-8 file, with its size and \
        version. Use `list_files` to find names and `read_pptx` for presentations. Refuses \
        directories (`not-a-file`), bytes that are not UTF-8 (`not-text`, with a guess at the \
        file type), and files over the read limit.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "path",
        role: Role::Read,
        guarded: false,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            json!({ "path": schema::path("File to read") }),
            &["path"],
            json!({ "path": "notes/todo.txt" }),
        )
    }

    fn output_schema() -> Value {
        schema::fields(json!({
            "path": schema::of("string"),
            "root": schema::of("string"),
            "encoding": schema::of("string"),
            "size": schema::of("integer"),
            "version": schema::of("string"),
        }))
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let path = &arguments.path;
        let file = open_for_reading(path)?;
        // Taken before the bytes: if the file changes in between, the version is the old one
        // and a write that expects it is refused.
        let hash = file.descriptor.metadata_hash()?;
        let text = decode(path, file.read_all()?)?;
        let fields = Fields {
            path,
            root: &file.root,
            encoding: "utf-8",
            size: text.len() as u64,
            version: version(hash),
        };
        Ok(Output::text(&fields, text))
    }
}

fn decode(path: &str, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        not_text(path, offset, media_type(error.as_bytes()))
    })
}

fn not_text(path: &str, offset: usize, media_type: &str) -> Failure {
    let hint = match media_type {
        "application/vnd.openxmlformats-officedocument.presentationml.presentation" => {
            "read it with `read_pptx`"
        }
        other if other.starts_with("text/plain") => "convert the file to UTF-8 first",
        _ => "this tool reads UTF-8 text only",
    };
    let message = format!(
        "`{path}` is not UTF-8 text: the first bad byte is at offset {offset}, \
         and it looks like `{media_type}`"
    );
    Failure::new("not-text", message)
        .hint(hint)
        .details(&json!({ "offset": offset, "mime_type": media_type }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_8_is_handed_on_unchanged() {
        for text in ["", "a\r\nb", "\u{feff}param", "あ\u{10ffff}\0"] {
            assert_eq!(decode("f", text.into()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn the_first_bad_byte_is_named() {
        for (bytes, offset) in [
            (&b"abc\xff"[..], 3),
            (b"\xc3", 0),
            (b"ab\xed\xa0\x80", 2),
            (b"a\xc0\x80", 1),
        ] {
            let failure = decode("f", bytes.to_vec()).unwrap_err();
            assert_eq!(failure.code, "not-text");
            assert!(
                failure
                    .details
                    .starts_with(&format!(r#"{{"offset":{offset},"#))
            );
        }
    }

    #[test]
    fn a_guess_says_what_the_file_may_be() {
        let failure = decode("a.png", b"\x89PNG\r\n\x1a\n".to_vec()).unwrap_err();
        assert_eq!(
            failure.message,
            "`a.png` is not UTF-8 text: the first bad byte is at offset 0, \
             and it looks like `image/png`"
        );
        let utf16 = decode("a.txt", b"\xff\xfeh\0".to_vec()).unwrap_err();
        assert_eq!(utf16.hint, "convert the file to UTF-8 first");
    }
}
