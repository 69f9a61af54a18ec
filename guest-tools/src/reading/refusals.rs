//! What is said when a file cannot be read as the caller wants it.

use super::opened::Behind;
use crate::magic::{is_media, media_type_of_bad};
use crate::text::{Encoding, Place};
use crate::tool::Failure;
use serde_json::json;

/// Labels that are named when one is not known.
const LABELS: &str = "`utf-8`, `utf-16le`, `windows-1252`, `iso-8859-15`, `shift_jis`, `gb18030`, \
    `big5`, `euc-kr`, `koi8-r`";

const LEAVE_OUT: &str =
    "leave `encoding` out, or give a label of the WHATWG Encoding Standard, such as ";

/// The caller named an encoding that there is not.
pub(crate) fn unknown_encoding(label: &str) -> Failure {
    Failure::new(
        "unsupported-encoding",
        format!("`{label}` is no known encoding"),
    )
    .hint(format!("{LEAVE_OUT}{LABELS}, or `base64` for the bytes"))
}

/// The caller named what is no encoding of texts to a tool that takes nothing but texts.
pub(crate) fn no_encoding_of_texts(label: &str) -> Failure {
    let message = match label.eq_ignore_ascii_case("base64") {
        true => "`base64` is for bytes, and this tool works on texts".to_owned(),
        false => format!("`{label}` is no known encoding"),
    };
    Failure::new("unsupported-encoding", message).hint(format!("{LEAVE_OUT}{LABELS}"))
}

/// The bytes from an offset on are not text.
pub(crate) fn not_text(
    path: &str,
    encoding: Encoding,
    offset: u64,
    start: &[u8],
    bad: &[u8],
) -> Failure {
    let media_type = match encoding.mark {
        0 => media_type_of_bad(start, bad).to_owned(),
        _ => format!("text/plain; charset={}", encoding.name()),
    };
    let name = if encoding.is_utf_8() {
        "UTF-8".to_owned()
    } else {
        format!("`{}`", encoding.name())
    };
    let is_surrogate = encoding.is_utf_8() && matches!(bad, [0xed, 0xa0..=0xbf, ..]);
    let (surrogate, hint) = match is_surrogate {
        true => (" (an encoded surrogate, as in CESU-8)", AS_UTF_8),
        false => ("", instead(&media_type)),
    };
    let message = format!(
        "`{path}` is not {name} text: the first bad byte is at offset {offset}{surrogate}, \
         and it looks like `{media_type}`"
    );
    Failure::new("not-text", message)
        .hint(hint)
        .details(&json!({ "offset": offset, "mime_type": media_type }))
}

/// What looks like UTF-16 and does not say so; `way` names what takes its encoding.
pub(crate) fn utf_16_without_mark(path: &str, label: &str, head: &[u8], way: &str) -> Failure {
    let offset = head.iter().position(|byte| *byte == 0).unwrap_or(0);
    let message = format!(
        "`{path}` is not UTF-8 text: it looks like `{label}` without a byte order mark, with a NUL \
         beside each letter"
    );
    Failure::new("not-text", message)
        .hint(format!("give {way}`encoding: \"{label}\"`"))
        .details(&json!({
            "offset": offset,
            "mime_type": format!("text/plain; charset={label}"),
        }))
}

/// The file was made larger and never written to.
pub(super) fn nothing_but_nul(path: &str) -> Failure {
    let message = format!("`{path}` is not text: all of its bytes are NUL");
    Failure::new("not-text", message)
        .hint("nothing was written to it yet, or it is a disk image or the like")
        .details(&json!({ "offset": 0, "mime_type": "application/octet-stream" }))
}

/// What to do with what nearly is UTF-8.
const AS_UTF_8: &str = "have the file written as UTF-8, or give `read_file` \
    `errors: \"replace\"`, which puts U+FFFD there";

fn instead(media_type: &str) -> &'static str {
    match media_type {
        "application/vnd.openxmlformats-officedocument.presentationml.presentation" => {
            "read it with `read_pptx`"
        }
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => {
            "read it with `read_docx`"
        }
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => {
            "read it with `read_xlsx`"
        }
        "text/plain; charset=unknown-8bit" => {
            "give `read_file` its encoding, for example `encoding: \"windows-1252\"`, or \
             `errors: \"replace\"`"
        }
        other if other.starts_with("text/plain") => "convert the file to UTF-8 first",
        other if is_media(other) => {
            "give `read_file` the `path` alone to see or hear it, or `encoding: \"base64\"` with \
             `max_bytes` for its bytes in parts"
        }
        _ => "`read_file` gives the bytes with `encoding: \"base64\"`",
    }
}

/// The part would start behind the end.
pub(super) fn behind_the_end(path: &str, behind: Behind) -> Failure {
    let Behind { line, lines } = behind;
    let noun = if lines == 1 { "line" } else { "lines" };
    Failure::invalid_arguments(format!(
        "line {line} lies behind the end: `{path}` has {lines} {noun}"
    ))
    .hint("give a smaller `offset`, or a negative one to count lines from the end")
    .details(&json!({ "lines": lines }))
}

/// The host's limit lies before the line that is wanted.
pub(super) fn too_far(line: u64, bytes: u64, reached: Place) -> Failure {
    Failure::new(
        "limit-exceeded",
        format!("line {line} lies behind the {bytes} bytes that one call may read of a file"),
    )
    .hint(format!(
        "call again with `cursor: \"{reached}\"` and the same `offset`"
    ))
    .details(&json!({
        "limit": "max_read_bytes",
        "value": bytes,
        "actual": bytes.saturating_add(1),
        "next_cursor": reached.to_string(),
    }))
}

/// The last lines have more bytes than the host hands out of a file.
pub(super) fn too_long(lines: u64, seen: Place, size: u64) -> Failure {
    let (what, has) = match lines {
        1 => ("line".to_owned(), "has"),
        lines => (format!("{lines} lines"), "have"),
    };
    let message = format!("the last {what} {has} more bytes than one call may read of a file");
    let bytes = size.saturating_sub(seen.byte);
    Failure::new("limit-exceeded", message)
        .hint(format!(
            "give `cursor: \"{seen}\"` and no `offset` for the last {bytes} bytes, or from the \
             start of the file `max_bytes`, and then each `next_cursor`"
        ))
        .details(&json!({ "limit": "max_read_bytes", "next_cursor": seen.to_string() }))
}

/// A cursor that no answer about this file can have held.
pub(super) fn foreign_cursor(path: &str, size: u64) -> Failure {
    Failure::invalid_arguments(format!(
        "`cursor` is no place in `{path}`, which has {size} bytes"
    ))
    .hint("read again from an `offset`, and pass on `next_cursor` as it was answered")
}

/// Inside a line of an encoding with shifts nothing can be resumed.
pub(super) fn no_place_inside(line: i64, encoding: Encoding) -> Failure {
    Failure::invalid_arguments(format!(
        "`max_bytes` ends inside line {line}, where `{}` text cannot be resumed",
        encoding.name()
    ))
    .hint("give a larger `max_bytes` or a smaller `limit`")
}
