//! Results and errors of calls as MCP shows them.
//!
//! The payload is a block of its own and crosses once; the fields follow as compact JSON.
//! There is no `structuredContent`: clients show one of the two and drop the other.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use rootbound::{CallError, Content, Output, Receipt, Toolset, code};
use serde_json::{Value, json};

/// Bytes of a line, JSON escapes included, above which a common client (the TypeScript SDKs
/// over stdio) gives up its connection: more than 10 MiB may not wait there, and what follows
/// the line can come in the same piece of 64 KiB.
const LONGEST_LINE: usize = (10 << 20) - (64 << 10);
/// What a line holds besides its contents.
const ENVELOPE: usize = 1 << 10;
/// A byte of text takes six in JSON at most (`\u0001`).
const LONGEST_ESCAPE: usize = 6;

/// How results are shown: whether lines are kept to what every client takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results {
    longest_line: usize,
}

impl Results {
    /// An operator who allows results that cannot fit into such a line has a client that
    /// takes longer ones.
    pub(super) fn with_output_limit(max_output_bytes: u64) -> Self {
        let keeps_to_it = max_output_bytes < LONGEST_LINE as u64;
        Self {
            longest_line: if keeps_to_it {
                LONGEST_LINE
            } else {
                usize::MAX
            },
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
        let length = escaped_length(&envelope) + payload.as_ref().map_or(0, length_of);
        if length.saturating_add(ENVELOPE) > self.longest_line {
            return self.too_long(length, receipt);
        }
        let fields = ContentBlock::text(envelope);
        CallToolResult::success(payload.into_iter().chain([fields]).collect())
    }

    fn too_long(self, length: usize, receipt: Option<Value>) -> CallToolResult {
        let mut error = json!({
            "code": code::LIMIT_EXCEEDED,
            "reason": null,
            "message": "the result is longer than clients take in one line",
            "hint": "ask for less at a time",
            "limit": "max_line_bytes",
            "value": self.longest_line,
            "actual": length,
        });
        if let Some(receipt) = receipt {
            error["committed"] = receipt["effects"].clone();
        }
        refusal(&error)
    }
}

/// A call that did not succeed, as an error that the model sees: the error object, or what
/// the single tool says instead.
pub(super) fn failure(toolset: Toolset, error: &CallError) -> CallToolResult {
    match toolset {
        Toolset::Files => refusal(&error.to_json()),
        Toolset::Single => refusal(&toolset.failure(error)),
    }
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

fn length_of(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Text(text) => escaped_length(&text.text),
        ContentBlock::Image(image) => image.data.len(),
        ContentBlock::Audio(audio) => audio.data.len(),
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::BlobResourceContents { blob, .. } => blob.len(),
            _ => 0,
        },
        // Nothing else is made here.
        _ => 0,
    }
}

/// Bytes of a text in JSON, counted only where the longest escapes would not fit.
fn escaped_length(text: &str) -> usize {
    if text.len() * LONGEST_ESCAPE < LONGEST_LINE / 4 {
        return text.len();
    }
    let of_byte = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..0x20 => LONGEST_ESCAPE,
        _ => 1,
    };
    text.bytes().map(of_byte).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_large_text_counts_its_escapes() {
        let text = "a\"\n\u{1}é".repeat(200_000);
        let json = Value::from(text.as_str()).to_string();
        assert_eq!(escaped_length(&text), json.len() - 2);
    }
}
