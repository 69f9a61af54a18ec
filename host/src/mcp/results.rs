//! Results and errors of calls as MCP shows them.
//!
//! The payload is a block of its own and crosses once; the fields follow as compact JSON.
//! There is no `structuredContent`: clients show one of the two and drop the other.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use rootbound::{CallError, Content, Output, Receipt, Toolset, code, json_length};
use serde_json::{Value, json};

/// Bytes of a line, JSON escapes included, above which a common client (the TypeScript SDKs
/// over stdio) gives up its connection: more than 10 MiB may not wait there, and what follows
/// the line can come in the same piece of 64 KiB.
const LONGEST_LINE: u64 = (10 << 20) - (64 << 10);
/// What a line holds besides its contents.
const ENVELOPE: u64 = 1 << 10;

/// How results are shown: whether lines are kept to what every client takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results {
    longest_line: Option<u64>,
}

impl Results {
    /// An operator who allows results that cannot fit into such a line has a client that
    /// takes longer ones.
    pub(super) fn with_output_limit(max_output_bytes: u64) -> Self {
        Self {
            longest_line: (max_output_bytes < LONGEST_LINE).then_some(LONGEST_LINE),
        }
    }

    pub(super) fn success(self, output: Output) -> CallToolResult {
        let envelope = output.envelope_json();
        let receipt = output.receipt().map(Receipt::to_json);
        let is_dry_run = output.dry_run().is_some();
        let place = place_of(&output);
        let payload = match output.into_content() {
            // A dry run answers the fields that the call would have had.
            _ if is_dry_run => None,
            Content::None => None,
            Content::Text(text) => Some(ContentBlock::text(text)),
            Content::Bytes { data, mime_type } => Some(media(&data, mime_type, &place)),
        };
        if let Some(longest) = self.longest_line {
            let length = json_length(&envelope) + payload.as_ref().map_or(0, length_of);
            if length + ENVELOPE > longest {
                return too_long(length, longest, receipt);
            }
        }
        let fields = ContentBlock::text(envelope);
        CallToolResult::success(payload.into_iter().chain([fields]).collect())
    }
}

fn too_long(length: u64, longest: u64, receipt: Option<Value>) -> CallToolResult {
    let mut error = json!({
        "code": code::LIMIT_EXCEEDED,
        "reason": null,
        "message": "the result is longer than clients take in one line",
        "hint": "ask for less at a time, with `limit` or `max_bytes`",
        "limit": "max_line_bytes",
        "value": longest,
        "actual": length,
    });
    if let Some(receipt) = receipt {
        error["committed"] = receipt["effects"].clone();
    }
    refusal(&error)
}

/// A call that did not succeed, as an error that the model sees: the error object, or what
/// the single tool says instead.
///
/// What the front-end has to add to the error object it does first.
pub(super) fn failure(
    toolset: Toolset,
    error: &CallError,
    add: impl FnOnce(&mut Value),
) -> CallToolResult {
    let mut shown = toolset.failure(error);
    add(&mut shown["error"]);
    match toolset {
        Toolset::Files => refusal(&shown["error"]),
        Toolset::Single => refusal(&shown),
    }
}

/// A call that may have been meant as a dry run.
pub(super) fn misspelt_dry_run() -> CallToolResult {
    refusal(&json!({
        "code": code::INVALID_ARGUMENTS,
        "reason": null,
        "message": "`dry_run` is neither true nor false",
        "hint": "give `true` without quotes to see what the call would change",
    }))
}

fn refusal(error: &Value) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error.to_string())])
}

/// Where the payload comes from, as a URI that means nothing outside the session.
fn place_of(output: &Output) -> String {
    match output.content() {
        Content::Bytes { .. } => {
            let fields = output.fields();
            let member = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
            let path = member("path").replace(|c: char| !is_plain(c), "_");
            format!("rootbound://{}/{path}", member("root"))
        }
        _ => String::new(),
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_')
}

fn media(data: &[u8], mime_type: String, place: &str) -> ContentBlock {
    let data = STANDARD.encode(data);
    match mime_type.split('/').next() {
        Some("image") => ContentBlock::image(data, mime_type),
        Some("audio") => ContentBlock::audio(data, mime_type),
        _ => ContentBlock::resource(ResourceContents::BlobResourceContents {
            uri: place.to_owned(),
            mime_type: Some(mime_type),
            blob: data,
            meta: None,
        }),
    }
}

fn length_of(block: &ContentBlock) -> u64 {
    let length = match block {
        ContentBlock::Text(text) => return json_length(&text.text),
        ContentBlock::Image(image) => image.data.len(),
        ContentBlock::Audio(audio) => audio.data.len(),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::BlobResourceContents { blob, .. } => blob.len(),
            _ => 0,
        },
        // Nothing else is made here.
        _ => 0,
    };
    length as u64
}
