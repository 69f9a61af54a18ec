//! One line of input as a JSON-RPC message, or the error that answers it.

use std::fmt;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorCode,
    GetMeta, JsonRpcMessage, JsonRpcVersion2_0, ProtocolVersion, RequestId,
};
use serde::Deserialize;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::lines::{Line, MAX_LINE};
use crate::mcp::methods;

/// Most bytes of a request's id, which is kept as long as the request and sent back.
const MAX_ID: usize = 1 << 10;
/// Most values and names in one message, what each takes in memory (measured: 77 bytes of a
/// number in a list, which has two in its line), and the length of a line in which there are
/// not enough to count.
const MAX_VALUES: usize = 100_000;
const VALUE: usize = 80;
const SHORT: usize = 4 << 10;

/// What became of a line.
pub(super) enum Understood {
    /// A message, and about how many bytes it takes.
    Message(Box<ClientJsonRpcMessage>, usize),
    /// An error to write, without the end of its line.
    Answer(Vec<u8>),
    Nothing,
}

pub(super) fn understand(line: &Line) -> Understood {
    let bytes = match line {
        Line::Whole(bytes) => bytes.trim_ascii(),
        Line::TooLong { first, last } => {
            let why = format!("a message may have at most {MAX_LINE} bytes");
            let id = id_in(first).or_else(|| id_at_end(last)).unwrap_or_default();
            return answer(&id, ErrorCode::INVALID_REQUEST, &why);
        }
    };
    if bytes.is_empty() {
        return Understood::Nothing;
    }
    let weight = match weight(bytes) {
        Ok(weight) => weight,
        Err(why) => {
            let id = id_in(bytes).unwrap_or_default();
            return answer(&id, ErrorCode::INVALID_REQUEST, &why);
        }
    };
    if let Some(call) = call_in(bytes) {
        return check(call, weight);
    }
    match serde_json::from_slice::<ClientJsonRpcMessage>(bytes) {
        Ok(message) => check(message, weight),
        Err(_) => explain(bytes),
    }
}

/// A call as it stands in a line, without anything unusual beside it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call<'a> {
    #[serde(rename = "jsonrpc")]
    _version: JsonRpcVersion2_0,
    id: RequestId,
    method: &'a str,
    params: CallToolRequestParams,
}

/// The call that a line is, if it is one. The SDK finds it too, by trying one kind of message
/// after the other on copies of the whole.
fn call_in(bytes: &[u8]) -> Option<ClientJsonRpcMessage> {
    let call: Call<'_> = serde_json::from_slice(bytes).ok()?;
    if call.method != "tools/call" {
        return None;
    }
    let (id, mut params) = (call.id, call.params);
    let meta = params.meta.take();
    let mut request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    if let Some(meta) = meta {
        *request.get_meta_mut() = meta;
    }
    Some(ClientJsonRpcMessage::request(request, id))
}

fn check(message: ClientJsonRpcMessage, weight: usize) -> Understood {
    if let JsonRpcMessage::Request(request) = &message
        && let Some(why) = too_long(&request.id)
    {
        return answer(&Value::Null, ErrorCode::INVALID_REQUEST, &why);
    }
    if let JsonRpcMessage::Request(request) = &message
        && let ClientRequest::CustomRequest(custom) = &request.request
        && let Some(error) = methods::misread(&custom.method)
    {
        return answer(&json!(request.id), error.code, &error.message);
    }
    Understood::Message(Box::new(message), weight)
}

/// Why an id is not taken, if it is not.
pub(in crate::mcp) fn too_long(id: &RequestId) -> Option<String> {
    matches!(id, RequestId::String(text) if text.len() > MAX_ID)
        .then(|| format!("an id may have at most {MAX_ID} bytes"))
}

/// About how many bytes a message takes when it has been read.
///
/// # Errors
///
/// Why it is not read, where it holds too much.
pub(in crate::mcp) fn weight(bytes: &[u8]) -> Result<usize, String> {
    if bytes.len() <= SHORT {
        return Ok(bytes.len());
    }
    match values_in(bytes) {
        values if values > MAX_VALUES => Err(format!(
            "a message may hold at most {MAX_VALUES} values and names"
        )),
        values => Ok(bytes.len() + values * VALUE),
    }
}

/// Values and names of a text in JSON, by what stands between them.
fn values_in(bytes: &[u8]) -> usize {
    let (mut values, mut quoted, mut escaped) = (1, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b',' | b':' | b'[' | b'{' => values += usize::from(!quoted),
            _ => {}
        }
    }
    values
}

fn explain(bytes: &[u8]) -> Understood {
    let (code, id, why) = fault_of(bytes, "line");
    answer(&id, code, &why)
}

/// Why bytes, of which `what` is made, are no message: a code, the id that they name, and words.
pub(in crate::mcp) fn fault_of(bytes: &[u8], what: &str) -> (ErrorCode, Value, String) {
    if serde_json::from_slice::<IgnoredAny>(bytes).is_err() {
        let why = format!("the {what} is not JSON");
        return (ErrorCode::PARSE_ERROR, Value::Null, why);
    }
    let why = match bytes.trim_ascii_start().first() {
        Some(b'[') => format!("a {what} holds one message; batches are not taken"),
        _ => format!("the {what} is not a JSON-RPC 2.0 message"),
    };
    // What asks for nothing may be an answer to a question of ours, whose id may be that of one of
    // the client's own requests too.
    let asks = serde_json::from_slice::<Asks>(bytes).is_ok();
    let id = id_in(bytes).filter(|_| asks).unwrap_or_default();
    (ErrorCode::INVALID_REQUEST, id, why)
}

/// Anything that names a method.
#[derive(Deserialize)]
struct Asks {
    #[serde(rename = "method")]
    _method: IgnoredAny,
}

fn answer(id: &Value, code: ErrorCode, message: &str) -> Understood {
    let error = json!({ "code": code.0, "message": message });
    let line = json!({ "jsonrpc": "2.0", "id": id, "error": error });
    Understood::Answer(line.to_string().into_bytes())
}

/// The id of a message, also of one that breaks off after it.
fn id_in(bytes: &[u8]) -> Option<Value> {
    let mut id = None;
    // An error says that the message breaks off; what was found before counts.
    let _ = IdOf(&mut id).deserialize(&mut serde_json::Deserializer::from_slice(bytes));
    id.filter(|id: &Value| id.is_string() || id.is_i64() || id.is_u64())
}

/// The id of a message of which the end is known, where it is the last member.
fn id_at_end(bytes: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(bytes);
    let at = text.rfind("\"id\"")?;
    id_in(format!("{{{}", &text[at..]).as_bytes())
        // A further brace would close an object inside the message.
        .filter(|_| text[at..].trim_end().matches('}').count() == 1)
}

/// The value of an id that is not too long, quotes included.
fn short(id: &RawValue) -> Option<Value> {
    let id = Some(id.get()).filter(|text| text.len() <= MAX_ID + 2)?;
    serde_json::from_str(id).ok()
}

/// Looks for the member `id` of an object and skips the others.
struct IdOf<'a>(&'a mut Option<Value>);

impl<'de> DeserializeSeed<'de> for IdOf<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for IdOf<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "id" => *self.0 = short(members.next_value()?),
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Whether the SDK's session begins with this message. Until then it takes anything but a
/// request for the end of the session.
pub(super) fn begins(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else {
        return false;
    };
    let meta = request.request.get_meta();
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        _ => {
            let complete = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
            let known = |version| ProtocolVersion::KNOWN_VERSIONS.contains(&version);
            complete.is_empty() && meta.protocol_version().is_some_and(known)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(line: &Line) -> Value {
        match understand(line) {
            Understood::Answer(answer) => serde_json::from_slice(&answer).expect("JSON"),
            _ => panic!("no error"),
        }
    }

    #[test]
    fn each_kind_of_garbage_has_its_code_and_the_id_that_can_be_known() {
        for (line, code, id) in [
            ("hello", -32700, json!(null)),
            ("{\"id\":1", -32700, json!(null)),
            ("[]", -32600, json!(null)),
            ("{\"id\":7,\"method\":8}", -32600, json!(7)),
            ("{\"id\":7}", -32600, json!(null)),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{},\"error\":{}}",
                -32600,
                json!(null),
            ),
            (
                "{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}",
                -32600,
                json!("a"),
            ),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{}}",
                -32602,
                json!(3),
            ),
        ] {
            let error = error_of(&Line::Whole(line.into()));
            assert_eq!(
                (&error["error"]["code"], &error["id"]),
                (&json!(code), &id),
                "{line}"
            );
        }
    }

    #[test]
    fn a_call_is_understood_as_the_sdk_understands_it() {
        for line in [
            json!({"name": "a"}),
            json!({"name": "a", "arguments": {"x": [1.5, null, {"y": "z"}]}}),
            json!({"name": "a", "_meta": {"progressToken": 7, "other": [1]}}),
            json!({"name": "a", "_meta": null, "arguments": null, "more": 1}),
            json!({"name": "a", "requestState": "s", "inputResponses": {"q": {"action": "accept"}}}),
        ] {
            let line = json!({"jsonrpc": "2.0", "id": "i", "method": "tools/call", "params": line});
            let ours = call_in(line.to_string().as_bytes()).expect("a call");
            let sdks: ClientJsonRpcMessage = serde_json::from_value(line).expect("a message");
            assert_eq!(json!(ours), json!(sdks));
        }
        for line in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":4}}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
        ] {
            assert!(call_in(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn values_are_counted_outside_of_texts() {
        for (text, values) in [
            ("0", 1),
            ("[1,2,3]", 4),
            (r#"{"a":[],"b":"x,y,[{:"}"#, 6),
            (r#"["\",\"",","]"#, 3),
        ] {
            assert_eq!(values_in(text.as_bytes()), values, "{text}");
        }
        let many = "0,".repeat(MAX_VALUES);
        assert!(weight(format!("[{many}0]").as_bytes()).is_err());
        let text = format!("\"{many}\"");
        assert_eq!(weight(text.as_bytes()), Ok(text.len() + VALUE));
    }

    #[test]
    fn the_id_of_a_line_that_is_too_long_is_found_at_either_end() {
        let of = |first: &str, last: &str| {
            let (first, last) = (first.into(), last.into());
            error_of(&Line::TooLong { first, last })["id"].clone()
        };
        assert_eq!(
            of(
                "{\"jsonrpc\":\"2.0\",\"id\":5,\"params\":{\"x\":\"yy",
                "yy\"}}"
            ),
            5
        );
        assert_eq!(of("{\"params\":{\"x\":\"yy", "yy\"}},\"id\":\"e\"}"), "e");
        assert_eq!(
            of("{\"params\":{\"x\":\"yy", "yy\",\"id\":6}}"),
            Value::Null
        );
    }
}
