//! What a successful call answers.

use serde::Serialize;

/// Fields and, where the tool has one, a payload.
///
/// The payload stands beside the fields, so that it crosses to the host once and is escaped
/// once.
#[derive(Debug, PartialEq, Eq)]
pub struct Output<F> {
    fields: Fields<F>,
    content: Content,
}

#[derive(Debug, PartialEq, Eq)]
enum Fields<F> {
    Values(F),
    Written(String),
}

/// The payload of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The result has fields only.
    None,
    /// Text.
    Text(String),
    /// Anything else.
    Bytes {
        /// The bytes themselves.
        data: Vec<u8>,
        /// Their media type, such as `image/png`.
        mime_type: String,
    },
}

impl<F> Output<F> {
    /// A result of fields only.
    pub fn new(fields: F) -> Self {
        Self::with(fields, Content::None)
    }

    /// A result with a text payload.
    pub fn text(fields: F, text: impl Into<String>) -> Self {
        Self::with(fields, Content::Text(text.into()))
    }

    /// A result with a payload of bytes of a media type, such as `image/png`.
    pub fn bytes(fields: F, data: Vec<u8>, mime_type: impl Into<String>) -> Self {
        let mime_type = mime_type.into();
        Self::with(fields, Content::Bytes { data, mime_type })
    }

    /// A result with a payload of any kind.
    pub fn with(fields: F, content: Content) -> Self {
        let fields = Fields::Values(fields);
        Self { fields, content }
    }

    /// Fields that are written already: a JSON object as compact text, for long lists that
    /// are made row by row. It has to fit `F`; nothing here looks whether it does.
    pub fn written(fields: String) -> Self {
        Self {
            fields: Fields::Written(fields),
            content: Content::None,
        }
    }
}

impl<F: Serialize> Output<F> {
    /// The fields as compact JSON, and the payload.
    ///
    /// # Panics
    /// When the fields have keys that are no strings, which JSON cannot have.
    #[must_use]
    pub fn into_parts(self) -> (String, Content) {
        let fields = match self.fields {
            Fields::Written(text) => text,
            Fields::Values(fields) => {
                serde_json::to_string(&fields).expect("fields have string keys only")
            }
        };
        (fields, self.content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_compact_json() {
        let output = Output::text(json!({ "path": "a", "size": 2 }), "hi");
        let text = Content::Text("hi".to_owned());
        assert_eq!(
            output.into_parts(),
            (r#"{"path":"a","size":2}"#.to_owned(), text)
        );
    }

    #[test]
    fn what_is_written_already_passes_as_it_is() {
        let output = Output::<()>::written(r#"{"rows":[]}"#.to_owned());
        assert_eq!(output.into_parts().0, r#"{"rows":[]}"#);
    }
}
