//! `read_xlsx`: the cells of a workbook.

use super::shared::Positive;
use crate::files::open;
use crate::ooxml::{Position, Range, Workbook, WorkbookError, WorkbookOptions, read_xlsx};
use crate::rows::PAGE_BYTES;
use crate::tool::{Error, Failure, Output, PathArgument, Risk, Tool, quoted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool.
pub(crate) struct ReadXlsx;

/// Rows that are answered when nothing is said about it.
const ROWS: usize = 10_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
    sheet: Option<String>,
    /// Such as `B2:D10` or `A:C`
    range: Option<String>,
    /// Rows
    limit: Option<Positive>,
    /// From `next_cursor`
    cursor: Option<String>,
    formulas: Option<bool>,
}

/// What was read.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    #[serde(flatten)]
    book: Workbook,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Tool for ReadXlsx {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "read_xlsx";
    const TITLE: &'static str = "Read a workbook";
    const DESCRIPTION: &'static str = "Returns the cells of an Excel file (.xlsx) by sheet, row \
        and column letter; dates as ISO 8601, formulas as their last value.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
    const EXAMPLE: &'static str = r#"{"path":"budget.xlsx","range":"A1:F50"}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let options = arguments.options()?;
        let file = open(&arguments.path)?;
        let book = read_xlsx(file.into_blocks(), &options);
        let book = book.map_err(|error| arguments.explain(error))?;
        let path = arguments.path;
        let next_cursor = book.next.map(cursor);
        let truncated = next_cursor.is_some();
        Ok(Output::new(Fields {
            path,
            book,
            truncated,
            next_cursor,
        }))
    }
}

impl Arguments {
    fn options(&self) -> Result<WorkbookOptions<'_>, Failure> {
        Ok(WorkbookOptions {
            sheet: self.sheet.as_deref(),
            range: self.range.as_deref().map_or(Ok(Range::default()), range)?,
            limit: self.limit.map_or(ROWS, usize::from),
            page_bytes: Some(PAGE_BYTES),
            start: self
                .cursor
                .as_deref()
                .map_or(Ok(Position::default()), position)?,
            with_formulas: self.formulas.unwrap_or(false),
            with_links: false,
        })
    }

    fn explain(&self, error: WorkbookError) -> Error {
        let names = match error {
            WorkbookError::Document(error) => return error.into(),
            WorkbookError::NoSuchSheet(names) => names,
        };
        let sheet = self.sheet.as_deref().unwrap_or_default();
        // Enough to choose from.
        let shown = names.iter().take(20).map(String::as_str);
        Failure::invalid_arguments(format!("there is no sheet `{sheet}`"))
            .hint(format!("the sheets are {}", quoted(shown)))
            .into()
    }
}

fn range(text: &str) -> Result<Range, Failure> {
    Range::parse(text).ok_or_else(|| {
        Failure::invalid_arguments(format!("`range` is `{text}`, which names no cells"))
            .hint("give a range such as `B2:D10`, columns such as `A:C` or rows such as `2:5`")
    })
}

/// Where to go on, as callers carry it.
fn cursor(position: Position) -> String {
    format!("{}:{}", position.sheet, position.row)
}

fn position(text: &str) -> Result<Position, Failure> {
    let position = text.split_once(':').and_then(|(sheet, row)| {
        let (sheet, row) = (sheet.parse().ok()?, row.parse().ok()?);
        Some(Position { sheet, row })
    });
    position.ok_or_else(|| {
        Failure::invalid_arguments(format!("`cursor` is `{text}`, which no answer gave"))
            .hint("pass `next_cursor` of the answer before, with the other arguments as they were")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn cursors_lead_back_to_where_they_come_from() {
        let place = Position { sheet: 3, row: 17 };
        assert_eq!(position(&cursor(place)), Ok(place));
        for text in ["", "3", "a:1", "1:", "-1:2"] {
            assert_eq!(position(text).unwrap_err().code, "invalid-arguments");
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_before_the_file_is_opened() {
        let refusal = |arguments: Value| {
            let arguments: Arguments = serde_json::from_value(arguments).unwrap();
            arguments.options().err().unwrap().message
        };
        let range = refusal(json!({ "path": "a", "range": "1A" }));
        assert_eq!(range, "`range` is `1A`, which names no cells");
    }
}
