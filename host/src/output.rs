//! What a successful call answers.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::bindings::provider;
use crate::error::{CallError, code};
use crate::failures::Failures;
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
    /// Checks what the component answered and puts in what only the host knows: the
    /// operator's labels, and why a part of the answer was refused.
    pub(crate) fn from_component(
        answer: provider::Output,
        roots: &Roots,
        failures: &Failures,
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
        let over = |bytes: u64| CallError::limit("max_output_bytes", limit, bytes);
        let of_content = content.len() as u64;
        let left = limit.checked_sub(of_content);
        let left = left.ok_or_else(|| over(of_content + answer.fields.len() as u64))?;
        let fields = with_labels(answer.fields, roots, left)
            .map_err(|of_fields| over(of_content + of_fields))?;
        let fields = failures.fill_in(fields);
        let sent = Sent::default().text(&fields).content(&content);
        sent.within(limit)?;
        let fields = RawValue::from_string(fields)
            .ok()
            .filter(|fields| is_honest_object(fields.get(), &content))
            .ok_or_else(|| {
                CallError::new(
                    code::IO,
                    "the component answered with fields that are not a JSON object, that readers of JSON cannot hold or do not all hold alike, or that only the host may give",
                )
                .hint_of("report this to the author of the tool")
            })?;
        Ok(Self {
            fields,
            // What was handed over is what counts, and a huge type is no way round that.
            content: content.with_readable_type(),
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

    /// The fields as a JSON value: an answer whose fields it could not hold is an error.
    #[must_use]
    pub fn fields(&self) -> Map<String, Value> {
        serde_json::from_str(self.fields.get()).unwrap_or_default()
    }

    /// The payload.
    #[must_use]
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The payload, taken out so that a large one need not be copied.
    #[must_use]
    pub fn into_content(self) -> Content {
        self.content
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

    /// The result without its payload as one JSON object: the fields and the receipt. A dry
    /// run answers `{dry_run, result, effects}`.
    #[must_use]
    pub fn envelope_json(&self) -> String {
        self.with_members(Vec::new())
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
        self.with_members(members)
    }

    fn with_members(&self, mut members: Vec<String>) -> String {
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
    /// What is no media type by its form (RFC 9110, section 8.3.1) says nothing, and could say anything to who shows it.
    fn with_readable_type(self) -> Self {
        match self {
            Self::Bytes { data, mime_type } if !is_media_type(&mime_type) => Self::Bytes {
                data,
                mime_type: "application/octet-stream".to_owned(),
            },
            content => content,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Text(text) => text.len(),
            Self::Bytes { data, mime_type } => data.len() + mime_type.len(),
        }
    }
}

/// How long an answer becomes on its way: texts as JSON strings, other bytes in base64, as MCP
/// sends them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    bytes: u64,
}

impl Sent {
    pub(crate) fn text(mut self, text: &str) -> Self {
        self.bytes += json_length(text);
        self
    }

    fn content(mut self, content: &Content) -> Self {
        match content {
            Content::None => {}
            Content::Text(text) => self = self.text(text),
            Content::Bytes { data, mime_type } => {
                self.bytes += data.len().div_ceil(3) as u64 * 4;
                self = self.text(mime_type);
            }
        }
        self
    }

    /// # Errors
    ///
    /// `limit-exceeded`.
    pub(crate) fn within(self, limit: u64) -> Result<(), CallError> {
        match self.bytes <= limit {
            true => Ok(()),
            false => Err(CallError::limit("max_output_bytes", limit, self.bytes)),
        }
    }
}

/// Bytes that a text takes between the quotes of a JSON string (RFC 8259, section 7), as
/// serde_json writes it.
#[must_use]
pub fn json_length(text: &str) -> u64 {
    // As many as a byte counts, so that sixteen are counted at a time.
    let pieces = text.as_bytes().chunks(u8::MAX.into());
    text.len() as u64 + pieces.map(escapes_in).sum::<u64>()
}

/// Bytes that the escapes of at most 255 bytes add: one for `\"`, five for `\u0001`.
fn escapes_in(piece: &[u8]) -> u64 {
    let (mut quoted, mut control, mut short) = (0_u8, 0_u8, 0_u8);
    for byte in piece {
        quoted += u8::from(matches!(byte, b'"' | b'\\'));
        control += u8::from(*byte < 0x20);
        short += u8::from(matches!(byte, b'\n' | b'\r' | b'\t' | 0x08 | 0x0c));
    }
    u64::from(quoted) + 5 * u64::from(control) - 4 * u64::from(short)
}

fn is_media_type(text: &str) -> bool {
    let is_token = |text: &str| {
        let is_symbol = |byte| b"!#$%&'*+-.^_`|~".contains(&byte);
        !text.is_empty()
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || is_symbol(b))
    };
    let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
    let is_shown = parameters.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let is_type = |(kind, of)| is_token(kind) && is_token(of);
    is_shown && essence.split_once('/').is_some_and(is_type)
}

/// Whether the text is an object that [`Output::fields`] can hold, without the members that
/// are the host's word: beside a payload also those that tell of it.
fn is_honest_object(text: &str, content: &Content) -> bool {
    const OF_THE_HOST: [&str; 3] = ["dry_run", "error", "receipt"];
    const OF_A_PAYLOAD: [&str; 3] = ["content", "content_encoding", "mime_type"];
    let of_a_payload = match content {
        Content::None => &[][..],
        Content::Text(_) | Content::Bytes { .. } => &OF_A_PAYLOAD,
    };
    let mut of_the_host = OF_THE_HOST.iter().chain(of_a_payload);
    names_of_object(text).is_some_and(|names| {
        of_the_host.all(|name| {
            names
                .binary_search_by(|it| it.0.as_ref().cmp(name))
                .is_err()
        })
    })
}

/// The names of an object's members in order, if all readers hold the same of it.
fn names_of_object(text: &str) -> Option<Vec<Name<'_>>> {
    let mut names = Vec::new();
    let mut json = serde_json::Deserializer::from_str(text);
    let read = Readable(&mut names).deserialize(&mut json);
    let is_object = text.trim_start().starts_with('{');
    (is_object && read.is_ok() && json.end().is_ok()).then_some(names)
}

/// Takes any value that all readers hold alike. serde's `IgnoredAny` takes more: numbers that are
/// too large, halves of characters, any depth, and members of the same name. The names of the
/// objects that the value stands in are put on a stack; those of the outermost stay there.
struct Readable<'a, 'de>(&'a mut Vec<Name<'de>>);

/// The name of a member.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for Readable<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Readable<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Readable(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let outer = self.0.len();
        while let Some(name) = members.next_key()? {
            self.0.push(name);
            members.next_value_seed(Readable(self.0))?;
        }
        let own = &mut self.0[outer..];
        own.sort_unstable();
        if own.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(A::Error::custom("two members have the same name"));
        }
        // Within another object there is at least the name that this one stands under.
        if outer > 0 {
            self.0.truncate(outer);
        }
        Ok(())
    }
}

/// Puts further members at the end of a JSON object in text form.
pub(crate) fn extend_object(object: &str, members: &[String]) -> String {
    if members.is_empty() {
        return object.to_owned();
    }
    let body = object[..object.rfind('}').unwrap_or(object.len())].trim();
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
///
/// # Errors
///
/// The length of the text, when that is more than `most`: a label can be longer than the name
/// that it stands for. What is too long is not made.
fn with_labels(fields: String, roots: &Roots, most: u64) -> Result<String, u64> {
    const KEY: &str = "\"root\":";
    let mut text = Bounded::new(most);
    let mut rest = fields.as_str();
    while let Some(at) = rest.find(KEY) {
        let (before, value) = rest.split_at(at + KEY.len());
        text.push(before);
        rest = value;
        let named = roots.iter().find_map(|root| {
            let value = value
                .strip_prefix('"')?
                .strip_prefix(root.preopen.as_str())?;
            Some((root, value.strip_prefix('"')?))
        });
        if let Some((root, behind)) = named {
            text.push(&Value::from(root.label.as_str()).to_string());
            rest = behind;
        }
    }
    if text.length == 0 && fields.len() as u64 <= most {
        return Ok(fields);
    }
    text.push(rest);
    text.finish()
}

/// Text that is counted to its end, but kept only as far as it may go.
struct Bounded {
    kept: String,
    length: u64,
    most: u64,
}

impl Bounded {
    fn new(most: u64) -> Self {
        Self {
            kept: String::new(),
            length: 0,
            most,
        }
    }

    fn push(&mut self, text: &str) {
        self.length += text.len() as u64;
        if self.length <= self.most {
            self.kept.push_str(text);
        }
    }

    fn finish(self) -> Result<String, u64> {
        if self.length <= self.most {
            Ok(self.kept)
        } else {
            Err(self.length)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_counted_with_its_escapes() {
        let all: String = (0..=0x7f_u8)
            .map(char::from)
            .chain("é\u{2028}😀".chars())
            .collect();
        for text in ["", "plain", "\"", &all, &all.repeat(1000)] {
            let json = Value::from(text).to_string();
            assert_eq!(Sent::default().text(text).bytes, json.len() as u64 - 2);
        }
        for length in 0..10 {
            let (data, mime_type) = (vec![0; length], "a/b".to_owned());
            let sent = STANDARD.encode(&data).len() as u64 + 3;
            let bytes = Content::Bytes { data, mime_type };
            assert_eq!(Sent::default().content(&bytes).bytes, sent);
        }
    }

    fn answered(fields: &str, content: provider::Content) -> Result<Output, CallError> {
        let fields = fields.to_owned();
        let answer = provider::Output { fields, content };
        Output::from_component(answer, &Roots::default(), &Failures::default(), 1000)
    }

    /// A reader of JSON takes the first of two members or the last.
    #[test]
    fn fields_say_nothing_of_a_payload_that_is_there() {
        let text = || provider::Content::Text("text".to_owned());
        let bytes = || {
            provider::Content::Bytes(provider::Blob {
                data: b"bytes".to_vec(),
                mime_type: "image/png".to_owned(),
            })
        };
        for name in ["content", "content_encoding", "mime_type"] {
            let fields = format!(r#"{{"{name}":"mine"}}"#);
            assert!(answered(&fields, provider::Content::None).is_ok(), "{name}");
            for content in [text(), bytes()] {
                let error = answered(&fields, content).unwrap_err();
                assert_eq!(error.code(), code::IO, "{name}");
            }
        }
        assert!(answered(r#"{"contents":1}"#, bytes()).is_ok());
    }

    #[test]
    fn what_is_no_media_type_says_nothing() {
        let shown = |mime_type: &str| {
            let (data, mime_type) = (Vec::new(), mime_type.to_owned());
            let blob = provider::Blob { data, mime_type };
            let output = answered("{}", provider::Content::Bytes(blob)).unwrap();
            let json: Value = serde_json::from_str(&output.to_json()).unwrap();
            json["mime_type"].as_str().unwrap().to_owned()
        };
        let with_parameter = "text/html; charset=utf-8";
        for good in [
            "image/png",
            "application/vnd.api+json",
            "x-a/b.c_d",
            with_parameter,
        ] {
            assert_eq!(shown(good), good);
        }
        for bad in [
            "",
            "/",
            "text",
            "text/",
            "/html",
            "text/html/x",
            "text/ html",
            "text/html; a=\u{1b}[31m",
            "text/html\r\n\u{1b}[31m",
            "text/h\u{e9}",
        ] {
            assert_eq!(shown(bad), "application/octet-stream", "{bad:?}");
        }
    }

    #[test]
    fn members_are_added_to_any_object() {
        let member = ["\"c\":1".to_owned()];
        assert_eq!(extend_object("{}", &member), "{\"c\":1}");
        assert_eq!(extend_object(" { } ", &member), "{\"c\":1}");
        assert_eq!(extend_object("{\"a\":{}}", &member), "{\"a\":{},\"c\":1}");
    }
    #[test]
    fn fields_that_no_reader_can_hold_are_not_taken() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
        for text in [
            r#"{"a":1e999}"#,
            r#"{"a":[{"b":-1e400}]}"#,
            r#"{"a":"\ud800"}"#,
            r#"{"a":{"\udc00":1}}"#,
            &deep,
            "[]",
            r#"{"receipt":{}}"#,
            r#"{"a":1,"b":2,"a":3}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"a":[{"b":{"c":1,"c":1}}]}"#,
            r#"{"a":1} {}"#,
            r#"[{"a":1}]"#,
        ] {
            assert!(!is_honest_object(text, &Content::None), "{text}");
        }
        let good = r#"{"a":1e99,"b":[null,true,"\ud83d\ude00",18446744073709551616,-5,{"a":{"b":1},"b":{}}]}"#;
        assert!(is_honest_object(good, &Content::None));
        assert!(serde_json::from_str::<Map<String, Value>>(good).is_ok());
    }
}
