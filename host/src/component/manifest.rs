//! What a component declares that it needs. A declaration is a ceiling: it takes away from
//! what was granted, and adds nothing.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::examine::examine;
use super::fault::{ComponentError, component_code as code};
use super::imports::Import;
use crate::policy::Limits;

/// The custom section that holds the manifest.
pub(crate) const SECTION: &str = "rootbound:manifest";
/// The one format that there is.
const FORMAT: u64 = 1;
/// Bytes of a manifest; everything that can be said takes fewer than one thousand.
const MAX_MANIFEST_BYTES: usize = 16 << 10;
/// The id of custom sections in the binary format.
const CUSTOM_SECTION: u8 = 0;

/// What a component says that it needs: the custom section `rootbound:manifest`, a JSON object
/// that `docs/components.md` describes.
///
/// What is not declared is not needed, and is not given, whatever the operator grants.
///
/// # Examples
///
/// ```
/// use rootbound::Manifest;
///
/// let manifest = Manifest::parse(br#"{"manifest": 1, "read": true}"#)?;
/// assert!(manifest.read && !manifest.write && manifest.imports.is_empty());
/// # Ok::<(), rootbound::ComponentError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Whether it reads what is granted for reading.
    pub read: bool,
    /// Whether it writes to what is granted for writing.
    pub write: bool,
    /// What it imports besides files.
    pub imports: BTreeSet<Import>,
    /// The most that it takes of each limit.
    pub limits: DeclaredLimits,
}

/// Limits that a component declares; each is absent where the operator's alone counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DeclaredLimits {
    /// Bytes read of one object.
    #[serde(deserialize_with = "given")]
    pub max_read_bytes: Option<u64>,
    /// Bytes read in one call.
    #[serde(deserialize_with = "given")]
    pub max_call_read_bytes: Option<u64>,
    /// Bytes written in one call.
    #[serde(deserialize_with = "given")]
    pub max_write_bytes: Option<u64>,
    /// Bytes of one result.
    #[serde(deserialize_with = "given")]
    pub max_output_bytes: Option<u64>,
    /// Bytes of memory.
    #[serde(deserialize_with = "given")]
    pub max_memory: Option<u64>,
    /// Levels of a listing.
    #[serde(deserialize_with = "given")]
    pub max_depth: Option<u32>,
    /// Entries in one page of a directory.
    #[serde(deserialize_with = "given")]
    pub max_entries: Option<u64>,
    /// Open files, directories and streams.
    #[serde(deserialize_with = "given")]
    pub max_handles: Option<u32>,
    /// Milliseconds of one call.
    #[serde(deserialize_with = "given")]
    pub timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "manifest")]
    _format: u64,
    #[serde(default)]
    read: bool,
    #[serde(default)]
    write: bool,
    #[serde(default, deserialize_with = "imports")]
    imports: BTreeSet<Import>,
    #[serde(default, deserialize_with = "object")]
    limits: DeclaredLimits,
}

/// What every format has.
#[derive(Deserialize)]
struct AnyFormat {
    manifest: u64,
}

/// A JSON object, and not the array that serde takes for one.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
}

fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    Object::deserialize(from).map(|Object(value)| value)
}

/// A value, and not `null`: what is not declared is left out.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

fn imports<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeSet<Import>, D::Error> {
    let mut imports = BTreeSet::new();
    for name in Vec::<String>::deserialize(from)? {
        let import = Import::named(&name)
            .ok_or_else(|| D::Error::custom(format!("there is no import `{name}`")))?;
        if !imports.insert(import) {
            return Err(D::Error::custom(format!("`{name}` is there twice")));
        }
    }
    Ok(imports)
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    ///
    /// `manifest-malformed` when it is not the object that it should be: with another member, one
    /// twice, `null` or a value of another type, or of another format; `manifest-too-large`
    /// beyond 16 KiB.
    pub fn parse(json: &[u8]) -> Result<Self, ComponentError> {
        if json.len() > MAX_MANIFEST_BYTES {
            let message = format!("the manifest is larger than {MAX_MANIFEST_BYTES} bytes");
            return Err(ComponentError::new(code::MANIFEST_TOO_LARGE, message));
        }
        // Another format may have other members: what it is called comes first.
        let Object(AnyFormat { manifest }) = serde_json::from_slice(json).map_err(malformed)?;
        if manifest != FORMAT {
            let why = format!("`manifest` is {manifest}, and this host knows {FORMAT}");
            return Err(malformed(why));
        }
        let Object(written): Object<Written> = serde_json::from_slice(json).map_err(malformed)?;
        let mut limits = Limits::default();
        written.limits.narrow(&mut limits);
        limits.check().map_err(malformed)?;
        Ok(Self {
            read: written.read,
            write: written.write,
            imports: written.imports,
            limits: written.limits,
        })
    }

    /// The manifest as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let imports: Vec<&str> = self.imports.iter().map(|import| import.as_str()).collect();
        json!({
            "manifest": FORMAT,
            "read": self.read,
            "write": self.write,
            "imports": imports,
            "limits": self.limits.to_json(),
        })
    }

    /// A component with a manifest, which must have none yet.
    ///
    /// # Errors
    ///
    /// Those of [`Manifest::parse`], and whatever keeps `component` from being read; that it
    /// could not be loaded is no hindrance. `manifest-duplicate` when it has one already.
    pub fn add_to(component: &[u8], json: &[u8]) -> Result<Vec<u8>, ComponentError> {
        Self::parse(json)?;
        let facts = examine(component)?;
        let is_about_manifests = |error: &&ComponentError| error.code().starts_with("manifest-");
        if facts.manifest.is_some() || facts.problems.iter().any(|it| is_about_manifests(&it)) {
            return Err(duplicate());
        }
        let mut section = Vec::new();
        push_length(&mut section, SECTION.len());
        section.extend(SECTION.as_bytes());
        section.extend(json);
        let mut bytes = component.to_owned();
        bytes.push(CUSTOM_SECTION);
        push_length(&mut bytes, section.len());
        bytes.extend(section);
        Ok(bytes)
    }

    /// The manifest of a component, if it has one.
    ///
    /// # Errors
    ///
    /// When `component` cannot be read, or its manifest cannot.
    pub fn of(component: &[u8]) -> Result<Option<Self>, ComponentError> {
        let facts = examine(component)?;
        let about_manifests = |error: &ComponentError| error.code().starts_with("manifest-");
        match facts.problems.into_iter().find(about_manifests) {
            Some(error) => Err(error),
            None => Ok(facts.manifest),
        }
    }
}

impl DeclaredLimits {
    /// The operator's limits, where the component declares less, as it declares.
    pub(crate) fn narrow(&self, limits: &mut Limits) {
        lower(&mut limits.max_read_bytes, self.max_read_bytes);
        lower(&mut limits.max_call_read_bytes, self.max_call_read_bytes);
        lower(&mut limits.max_write_bytes, self.max_write_bytes);
        lower(&mut limits.max_output_bytes, self.max_output_bytes);
        lower(&mut limits.max_memory, self.max_memory);
        lower(&mut limits.max_depth, self.max_depth);
        lower(&mut limits.max_entries, self.max_entries);
        lower(&mut limits.max_handles, self.max_handles);
        let timeout = self.timeout_ms.map(Duration::from_millis);
        lower(&mut limits.timeout, timeout);
    }

    fn to_json(&self) -> Value {
        let declared = [
            ("max_read_bytes", self.max_read_bytes),
            ("max_call_read_bytes", self.max_call_read_bytes),
            ("max_write_bytes", self.max_write_bytes),
            ("max_output_bytes", self.max_output_bytes),
            ("max_memory", self.max_memory),
            ("max_depth", self.max_depth.map(u64::from)),
            ("max_entries", self.max_entries),
            ("max_handles", self.max_handles.map(u64::from)),
            ("timeout_ms", self.timeout_ms),
        ];
        let declared = declared.into_iter();
        let declared: Map<String, Value> = declared
            .filter_map(|(name, value)| Some((name.to_owned(), json!(value?))))
            .collect();
        Value::Object(declared)
    }
}

fn lower<T: Ord>(limit: &mut T, declared: Option<T>) {
    if let Some(declared) = declared
        && declared < *limit
    {
        *limit = declared;
    }
}

pub(super) fn duplicate() -> ComponentError {
    ComponentError::new(code::MANIFEST_DUPLICATE, "it has more than one manifest")
        .hint_of("a component has one manifest at most")
}

fn malformed(why: impl std::fmt::Display) -> ComponentError {
    let message = format!("the manifest is not what it should be: {why}");
    ComponentError::new(code::MANIFEST_MALFORMED, message)
        .hint_of("`docs/components.md` describes the manifest")
}

/// A length as the binary format writes it (LEB128).
fn push_length(bytes: &mut Vec<u8>, mut length: usize) {
    while length > 0x7f {
        bytes.push(length as u8 & 0x7f | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_says_what_is_needed_and_nothing_else() {
        let json =
            br#"{"manifest":1,"read":true,"imports":["clocks","stdio"],"limits":{"max_depth":3}}"#;
        let manifest = Manifest::parse(json).unwrap();
        assert!(manifest.read && !manifest.write);
        assert_eq!(manifest.limits.max_depth, Some(3));
        let again = Manifest::parse(manifest.to_json().to_string().as_bytes());
        assert_eq!(again, Ok(manifest));
    }

    /// Each with a word of what is told, and where.
    #[test]
    fn what_is_no_manifest_is_refused() {
        for (json, told) in [
            ("", "EOF"),
            ("[]", "expected a JSON object at line 1 column 0"),
            ("[1,true]", "expected a JSON object"),
            ("1", "expected a JSON object"),
            ("null", "expected a JSON object"),
            ("{}", "missing field `manifest`"),
            ("{\"manifest\":null}", "invalid type: null"),
            ("{\"manifest\":1.0}", "invalid type"),
            ("{\"manifest\":\"1\"}", "invalid type"),
            (
                "{\"manifest\":2,\"net\":true}",
                "`manifest` is 2, and this host knows 1",
            ),
            (
                "{\"manifest\":1,\"manifest\":1}",
                "duplicate field `manifest`",
            ),
            (
                "{\"manifest\":1,\n\"read\":true,\"read\":false}",
                "at line 2",
            ),
            ("{\"manifest\":1,\"net\":true}", "unknown field `net`"),
            (
                "{\"manifest\":1,\"read\":\"yes\"}",
                "expected a boolean at line 1 column 26",
            ),
            ("{\"manifest\":1,\"read\":null}", "expected a boolean"),
            ("{\"manifest\":1,\"imports\":null}", "invalid type: null"),
            (
                "{\"manifest\":1,\"imports\":\"stdio\"}",
                "expected a sequence",
            ),
            ("{\"manifest\":1,\"imports\":[null]}", "invalid type: null"),
            (
                "{\"manifest\":1,\"imports\":[\"sockets\"]}",
                "no import `sockets`",
            ),
            (
                "{\"manifest\":1,\"imports\":[\"exit\",\"exit\"]}",
                "`exit` is there twice",
            ),
            ("{\"manifest\":1,\"limits\":null}", "expected a JSON object"),
            ("{\"manifest\":1,\"limits\":[3]}", "expected a JSON object"),
            (
                "{\"manifest\":1,\"limits\":{\"max_depth\":-1}}",
                "expected u32",
            ),
            (
                "{\"manifest\":1,\"limits\":{\"max_depth\":null}}",
                "invalid type: null",
            ),
            (
                "{\"manifest\":1,\"limits\":{\"max_depth\":\"3\"}}",
                "expected u32",
            ),
            (
                "{\"manifest\":1,\"limits\":{\"max_depth\":4294967296}}",
                "expected u32",
            ),
            (
                "{\"manifest\":1,\"limits\":{\"depth\":1}}",
                "unknown field `depth`",
            ),
            (
                "{\"manifest\":1,\"limits\":{\"max_depth\":1,\"max_depth\":9}}",
                "duplicate field `max_depth`",
            ),
            (
                "{\"manifest\":1,\"limits\":{\"max_handles\":0}}",
                "`max_handles` of 0",
            ),
            (
                "{\"manifest\":1,\"limits\":{\"timeout_ms\":0}}",
                "`timeout_ms` of 0",
            ),
            ("{\"manifest\":1} x", "trailing characters"),
            ("\u{feff}{\"manifest\":1}", "line 1 column 1"),
        ] {
            let error = Manifest::parse(json.as_bytes()).unwrap_err();
            assert_eq!(error.code(), code::MANIFEST_MALFORMED, "{json}");
            assert!(error.message().contains(told), "{json}: {error}");
        }
        let code = |json: &[u8]| Manifest::parse(json).unwrap_err().code();
        assert_eq!(code(b"\xff"), code::MANIFEST_MALFORMED);
        assert_eq!(
            code(&[b' '; MAX_MANIFEST_BYTES + 1]),
            code::MANIFEST_TOO_LARGE
        );
        let deep = "[".repeat(MAX_MANIFEST_BYTES);
        assert_eq!(code(deep.as_bytes()), code::MANIFEST_MALFORMED);
    }

    #[test]
    fn a_limit_is_lowered_and_never_raised() {
        let mut limits = Limits::default();
        let declared = DeclaredLimits {
            max_depth: Some(3),
            max_handles: Some(u32::MAX),
            timeout_ms: Some(1),
            ..DeclaredLimits::default()
        };
        declared.narrow(&mut limits);
        assert_eq!(limits.max_depth, 3);
        assert_eq!(limits.max_handles, Limits::default().max_handles);
        assert_eq!(limits.timeout, Duration::from_millis(1));
    }
}
