//! What a successful call answers.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::bindings::provider;
use crate::error::{CallError, code};
use crate::roots::Roots;
use crate::transaction::EffectReceipt;

/// The payload of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The result has fields only.
    None,
    /// Text.
    Text(String),
    /// Anything else.
    Bytes {
        /// The bytes.
        data: Vec<u8>,
        /// Their media type.
        mime_type: String,
    },
}

/// What the host did for a call, whatever the component says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Id of the call, as in the audit log.
    pub call: String,
    /// The changes in the order in which they were made.
    pub effects: Vec<EffectReceipt>,
}

impl Receipt {
    /// The receipt as results carry it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let effects: Vec<_> = self.effects.iter().map(EffectReceipt::to_json).collect();
        json!({ "call": self.call, "effects": effects })
    }
}

/// The result of a successful call.
#[derive(Clone, Debug)]
pub struct Output {
    fields: Box<RawValue>,
    content: Content,
    receipt: Option<Receipt>,
    dry_run: Option<Vec<EffectReceipt>>,
}

impl Output {
    /// Checks what the component answered and puts the operator's labels in.
    pub(crate) fn from_component(
        answer: provider::Output,
        roots: &Roots,
        limit: u64,
    ) -> Result<Self, CallError> {
        let content = match answer.content {
            provider::Content::None => Content::None,
            provider::Content::Text(text) => Content::Text(text),
            provider::Content::Bytes(blob) => Content::Bytes {
                data: blob.data,
                mime_type: blob.mime_type,
            },
        };
        let bytes = answer.fields.len() + content.len();
        if bytes as u64 > limit {
            return Err(CallError::limit("max_output_bytes", limit, bytes as u64));
        }
        let fields = RawValue::from_string(with_labels(answer.fields, roots))
            .ok()
            .filter(|fields| is_honest_object(fields.get()))
            .ok_or_else(|| {
                CallError::new(
                    code::IO,
                    "the component answered with fields that are not a JSON object, or that only the host may give",
                )
                .hint_of("report this to the author of the tool")
            })?;
        Ok(Self {
            fields,
            content,
            receipt: None,
            dry_run: None,
        })
    }

    pub(crate) fn set_receipt(&mut self, receipt: Receipt) {
        self.receipt = Some(receipt);
    }

    pub(crate) fn set_dry_run(&mut self, effects: Vec<EffectReceipt>) {
        self.dry_run = Some(effects);
    }

    /// The fields as JSON text: an object, without payload and receipt.
    #[must_use]
    pub fn fields_json(&self) -> &str {
        self.fields.get()
    }

    /// The fields as a JSON value.
    #[must_use]
    pub fn fields(&self) -> Map<String, Value> {
        serde_json::from_str(self.fields.get()).unwrap_or_default()
    }

    /// The payload.
    #[must_use]
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The payload where it is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What the host changed; absent when the call changed nothing.
    #[must_use]
    pub fn receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref()
    }

    /// What the call would have changed, when it was a dry run.
    #[must_use]
    pub fn dry_run(&self) -> Option<&[EffectReceipt]> {
        self.dry_run.as_deref()
    }

    /// The whole result as one JSON object, as the command line prints it: the fields, the
    /// payload as `content` (bytes in base64 with `mime_type`), and the receipt. A dry run
    /// answers `{dry_run, result, effects}`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut members = Vec::with_capacity(3);
        match &self.content {
            Content::None => {}
            Content::Text(text) => {
                members.push(format!("\"content\":{}", Value::from(text.as_str())))
            }
            Content::Bytes { data, mime_type } => {
                members.push(format!("\"content\":\"{}\"", STANDARD.encode(data)));
                members.push("\"content_encoding\":\"base64\"".to_owned());
                members.push(format!("\"mime_type\":{}", Value::from(mime_type.as_str())));
            }
        }
        if let Some(receipt) = &self.receipt {
            members.push(format!("\"receipt\":{}", receipt.to_json()));
        }
        let result = extend_object(self.fields.get(), &members);
        match &self.dry_run {
            None => result,
            Some(effects) => {
                let effects: Vec<_> = effects.iter().map(EffectReceipt::to_json).collect();
                format!(
                    "{{\"dry_run\":true,\"result\":{result},\"effects\":{}}}",
                    Value::from(effects)
                )
            }
        }
    }
}

impl Content {
    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Text(text) => text.len(),
            Self::Bytes { data, mime_type } => data.len() + mime_type.len(),
        }
    }
}

/// Whether the text is an object without the members that are the host's word.
fn is_honest_object(text: &str) -> bool {
    const OF_THE_HOST: [&str; 3] = ["dry_run", "error", "receipt"];
    serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text)
        .is_ok_and(|members| OF_THE_HOST.iter().all(|name| !members.contains_key(*name)))
}

/// Puts further members at the end of a JSON object in text form.
fn extend_object(object: &str, members: &[String]) -> String {
    if members.is_empty() {
        return object.to_owned();
    }
    let body = object[..object.rfind('}').unwrap_or(object.len())].trim_end();
    let mut text = String::with_capacity(
        body.len() + members.iter().map(|member| member.len() + 1).sum::<usize>() + 1,
    );
    text.push_str(body);
    let mut first = body == "{";
    for member in members {
        if !first {
            text.push(',');
        }
        first = false;
        text.push_str(member);
    }
    text.push('}');
    text
}

/// Replaces preopen names under the key `root`. In compact JSON this sequence of bytes
/// cannot occur inside a string, where quotes are escaped.
fn with_labels(fields: String, roots: &Roots) -> String {
    const KEY: &str = "\"root\":";
    let mut text = String::new();
    let mut rest = fields.as_str();
    while let Some(at) = rest.find(KEY) {
        let (before, value) = rest.split_at(at + KEY.len());
        text.push_str(before);
        rest = value;
        let named = roots.iter().find_map(|root| {
            let value = value
                .strip_prefix('"')?
                .strip_prefix(root.preopen.as_str())?;
            Some((root, value.strip_prefix('"')?))
        });
        if let Some((root, behind)) = named {
            text.push_str(&Value::from(root.label.as_str()).to_string());
            rest = behind;
        }
    }
    if text.is_empty() {
        return fields;
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_added_to_any_object() {
        let member = ["\"c\":1".to_owned()];
        assert_eq!(extend_object("{}", &member), "{\"c\":1}");
        assert_eq!(extend_object("{ }", &member), "{\"c\":1}");
        assert_eq!(extend_object("{\"a\":{}}", &member), "{\"a\":{},\"c\":1}");
    }
}
