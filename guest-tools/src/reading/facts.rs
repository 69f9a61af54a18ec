//! What an answer says of a file besides its content.

use crate::files::OpenFile;
use crate::text::{Encoding, Endings, Place};
use schemars::JsonSchema;
use serde::Serialize;

/// What was found out, and where to go on.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    pub(crate) root: String,
    pub(crate) encoding: String,
    /// Bytes of the whole file.
    pub(crate) size: u64,
    pub(crate) version: String,
    /// Of what was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line_ending: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bom: Option<bool>,
    /// Of the whole file, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lines: Option<u64>,
    /// The number of the first line, where the caller could not know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_line: Option<i64>,
    /// Whether the file goes on behind what was read.
    pub(crate) truncated: bool,
    /// The line that follows, unless the answer was cut inside one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_offset: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
}

impl Facts {
    pub(super) fn of(file: &OpenFile, version: String) -> Self {
        Self::about(file.root.clone(), file.size, version)
    }

    /// Bytes, until they turn out to be text.
    pub(super) fn about(root: String, size: u64, version: String) -> Self {
        Self {
            root,
            encoding: "base64".to_owned(),
            size,
            version,
            line_ending: None,
            bom: None,
            lines: None,
            first_line: None,
            truncated: false,
            next_offset: None,
            next_cursor: None,
            sha256: None,
        }
    }

    /// What was read is text.
    pub(super) fn of_text(mut self, encoding: Encoding, endings: Endings) -> Self {
        self.encoding = encoding.name();
        self.bom = Some(encoding.mark > 0);
        self.line_ending = Some(endings.name());
        self
    }

    /// The file goes on there.
    pub(super) fn continued_at(mut self, next: Place) -> Self {
        self.truncated = true;
        self.next_offset = (!next.inside).then_some(next.line);
        self.next_cursor = Some(next.to_string());
        self
    }
}
