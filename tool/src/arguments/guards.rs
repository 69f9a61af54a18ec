//! The arguments that are for the host and not for the tool, passed over.

use crate::schema::GUARDS;
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use std::borrow::Cow;
use std::fmt;

/// Reads a struct from a map, without `expected_version` and `expected_sha256`.
///
/// # Errors
/// The deserializer's; and when one of the two is no string, or stands there twice.
pub(super) fn without_guards<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    T::deserialize(Unguarded(deserializer))
}

struct Unguarded<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Unguarded<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Passing(visitor))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map struct enum
        identifier ignored_any
    }
}

struct Passing<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Passing<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        let seen = [false; GUARDS.len()];
        self.0.visit_map(Filtered { map, seen })
    }
}

struct Filtered<A> {
    map: A,
    seen: [bool; GUARDS.len()],
}

impl<'de, A: MapAccess<'de>> Filtered<A> {
    fn pass(&mut self, guard: usize) -> Result<(), A::Error> {
        self.map.next_value::<Option<Cow<'_, str>>>()?;
        match std::mem::replace(&mut self.seen[guard], true) {
            true => Err(A::Error::duplicate_field(GUARDS[guard])),
            false => Ok(()),
        }
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Filtered<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<Cow<'de, str>>()? {
            match GUARDS.iter().position(|guard| *guard == key) {
                Some(guard) => self.pass(guard)?,
                None => return seed.deserialize(StrDeserializer::new(&key)).map(Some),
            }
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        path: String,
        #[serde(default)]
        number: u8,
    }

    fn read(text: &str) -> Result<Arguments, String> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        without_guards(&mut deserializer).map_err(|error| error.to_string())
    }

    #[test]
    fn the_hosts_arguments_are_passed_over_wherever_they_stand() {
        let arguments = Arguments {
            path: "a".to_owned(),
            number: 7,
        };
        for text in [
            r#"{"path":"a","number":7}"#,
            r#"{"expected_version":"1","path":"a","number":7,"expected_sha256":null}"#,
            r#"{"path":"a","expected\u005fversion":"1","number":7}"#,
        ] {
            assert_eq!(read(text).as_ref(), Ok(&arguments), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_stays_wrong() {
        for (text, said) in [
            (r#"{"path":"a","expected_version":1}"#, "invalid type"),
            (
                r#"{"expected_sha256":"a","path":"a","expected_sha256":"b"}"#,
                "duplicate field `expected_sha256`",
            ),
            (r#"{"path":"a","path":"b"}"#, "duplicate field `path`"),
            (r#"{"path":"a","other":1}"#, "unknown field `other`"),
            (r#"{"expected_version":"1"}"#, "missing field `path`"),
            (r#"["a"]"#, "invalid type"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
