//! An answer with a long list, written as it is made: ten thousand entries are an ordinary
//! case.

use crate::tool::Output;
use serde::Serialize;
use serde_json::Value;

/// Bytes of a list after which a page ends: with what stands around it, what MCP takes in
/// one result (256 KiB).
pub(crate) const PAGE_BYTES: usize = 192 * 1024;

/// A JSON object up to the last row of its list.
pub(crate) struct Rows {
    text: Vec<u8>,
    count: u64,
}

impl Rows {
    /// Starts an answer with a few texts, and the list under its name.
    pub(crate) fn new(head: &[(&str, &str)], list: &str) -> Self {
        let mut text = String::from("{");
        for (name, value) in head {
            text.push_str(&format!("\"{name}\":{},", Value::from(*value)));
        }
        text.push_str(&format!("\"{list}\":["));
        Self {
            text: text.into_bytes(),
            count: 0,
        }
    }

    pub(crate) fn push(&mut self, row: &impl Serialize) {
        if self.count > 0 {
            self.text.push(b',');
        }
        serde_json::to_writer(&mut self.text, row).expect("a row has string keys only");
        self.count += 1;
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Whether the list has grown to what a result of MCP carries.
    pub(crate) fn fill_a_page(&self) -> bool {
        self.room() == 0
    }

    /// Bytes that are left in the page.
    pub(crate) fn room(&self) -> usize {
        PAGE_BYTES.saturating_sub(self.text.len())
    }

    /// Ends the list and adds the other fields.
    pub(crate) fn finish<F>(mut self, tail: &impl Serialize) -> Output<F> {
        let tail = serde_json::to_string(tail).expect("fields have string keys only");
        self.text.extend_from_slice(b"],");
        self.text.extend_from_slice(&tail.as_bytes()[1..]);
        Output::written(String::from_utf8(self.text).expect("JSON is written as UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields_of(output: Output<()>) -> String {
        output.into_parts().0
    }

    #[test]
    fn rows_stand_between_head_and_tail() {
        let mut rows = Rows::new(&[("path", "d\"x"), ("root", "/read/0")], "entries");
        rows.push(&json!({ "name": "a" }));
        rows.push(&json!("b"));
        assert_eq!(rows.count(), 2);
        assert_eq!(
            fields_of(rows.finish(&json!({ "count": 2 }))),
            r#"{"path":"d\"x","root":"/read/0","entries":[{"name":"a"},"b"],"count":2}"#
        );
    }

    #[test]
    fn a_page_is_full_before_a_result_is_too_large() {
        let mut rows = Rows::new(&[], "rows");
        while !rows.fill_a_page() {
            rows.push(&"x".repeat(1000));
        }
        let fields = fields_of(rows.finish(&json!({ "count": 0 })));
        assert!(fields.len() < 256 * 1024);
    }
}
