use super::*;
use crate::ooxml::zip::tests::archive;
use serde_json::json;
use std::io::Cursor;

const SPACES: &str = r#"xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships""#;

const THREADS: &str = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments";

fn relationships(entries: &[(&str, &str, &str)]) -> String {
    let entry = |(id, kind, target): &(&str, &str, &str)| {
        format!(
            "<Relationship Id='{id}' Target='{target}' \
             Type='{}{kind}'/>",
            match kind.contains(':') {
                true => "",
                false => "http://schemas.openxmlformats.org/officeDocument/2006/relationships/",
            }
        )
    };
    let entries: String = entries.iter().map(entry).collect();
    format!(
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{entries}</Relationships>"
    )
}

fn worksheet(rows: &str, more: &str) -> String {
    format!("<worksheet {SPACES}><sheetData>{rows}</sheetData>{more}</worksheet>")
}

/// A workbook of two sheets, the second one hidden.
fn book(first: &str, second: &str) -> Vec<u8> {
    book_with(first, second, &[])
}

/// The same with further parts.
fn book_with(first: &str, second: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let sheets =
        "<sheets><sheet name='One' r:id='a'/><sheet name='Two' state='hidden' r:id='b'/></sheets>";
    let links = [
        ("a", "worksheet", "1.xml"),
        ("b", "worksheet", "2.xml"),
        ("s", "sharedStrings", "s.xml"),
        ("f", "styles", "f.xml"),
        (
            "p",
            "http://schemas.microsoft.com/office/2017/10/relationships/person",
            "p.xml",
        ),
    ];
    let strings = "<si><t>shared</t></si><si><t>_x0041_</t></si>";
    let styles = "<cellXfs><xf numFmtId='0'/><xf numFmtId='14'/></cellXfs>";
    let main_links = relationships(&[("m", "officeDocument", "b.xml")]);
    let workbook = format!("<workbook {SPACES}><workbookPr/>{sheets}</workbook>");
    let links = relationships(&links);
    let strings = format!("<sst {SPACES}>{strings}</sst>");
    let styles = format!("<styleSheet {SPACES}>{styles}</styleSheet>");
    let persons = format!(
        "<personList xmlns='{THREADS}'><person id='{{p}}' displayName='Bob'/></personList>"
    );
    let mut parts = vec![
        ("_rels/.rels", &*main_links),
        ("b.xml", &workbook),
        ("_rels/b.xml.rels", &links),
        ("s.xml", &strings),
        ("f.xml", &styles),
        ("1.xml", first),
        ("2.xml", second),
        ("p.xml", &persons),
    ];
    parts.extend(more);
    archive(&parts)
}

fn read(bytes: Vec<u8>, options: &WorkbookOptions<'_>) -> Workbook {
    read_xlsx(Cursor::new(bytes), options).unwrap()
}

/// Rows with a number in the first column each.
fn numbered(rows: std::ops::RangeInclusive<u32>) -> String {
    let row = |row: u32| format!("<row r='{row}'><c r='A{row}'><v>{row}</v></c></row>");
    worksheet(&rows.map(row).collect::<String>(), "")
}

fn row_numbers(book: &Workbook) -> Vec<(String, Vec<u32>)> {
    let numbers = |sheet: &Sheet| sheet.rows.iter().map(|row| row.row).collect();
    let sheets = book.sheets.iter();
    sheets
        .map(|sheet| (sheet.name.clone(), numbers(sheet)))
        .collect()
}

#[test]
fn cells_have_values_by_their_type() {
    let cells = "<c r='A1' t='s'><v>0</v></c><c t='s'><v>1</v></c><c t='s'><v>9</v></c>\
        <c r='D1' t='inlineStr'><is><r><t>in</t></r><r><t>line</t></r><rPh><t>no</t></rPh></is></c>\
        <c r='E1' t='b'><v>1</v></c><c r='F1' t='e'><v>#DIV/0!</v></c>\
        <c r='G1' t='str'><f>A1&amp;\"\"</f><v>text</v></c><c r='H1'><f>1/2</f><v>0.5</v></c>\
        <c r='I1' s='1'><v>46205</v></c><c r='J1' t='d'><v>2026-07-02</v></c><c r='K1' s='1'/>";
    let bytes = book(
        &worksheet(&format!("<row>{cells}</row>"), ""),
        &worksheet("", ""),
    );
    let options = WorkbookOptions {
        with_formulas: true,
        ..WorkbookOptions::default()
    };
    let book = serde_json::to_value(read(bytes, &options)).unwrap();
    assert_eq!(
        book["sheets"][0]["rows"][0],
        json!({
            "row": 1,
            "cells": {
                "A": "shared", "B": "A", "C": null, "D": "inline", "E": true, "F": "#DIV/0!", "G": "text",
                "H": 0.5, "I": "2026-07-02", "J": "2026-07-02",
            },
            "formulas": { "G": "=A1&\"\"", "H": "=1/2" },
        })
    );
    assert_eq!(book["sheets"][0]["dimension"], "A1:K1");
    assert_eq!(book["sheets"][1]["visibility"], "hidden");
    assert_eq!(book["sheets"][1]["dimension"], json!(null));
}

#[test]
fn what_merged_cells_cover_is_left_out() {
    let rows = "<row r='1'><c r='A1'><v>1</v></c><c r='B1'><v>2</v></c></row>\
        <row r='2'><c r='A2'><v>3</v></c><c r='C2'><v>4</v></c></row>";
    let merged = "<mergeCells><mergeCell ref='A1:B2'/></mergeCells>";
    let bytes = book(&worksheet(rows, merged), &worksheet("", ""));
    let book = serde_json::to_value(read(bytes, &WorkbookOptions::default())).unwrap();
    let sheet = &book["sheets"][0];
    assert_eq!(
        sheet["rows"],
        json!([{ "row": 1, "cells": { "A": 1 } }, { "row": 2, "cells": { "C": 4 } }])
    );
    assert_eq!(sheet["merged"], json!(["A1:B2"]));
}

#[test]
fn merged_ranges_are_told_of_where_they_reach_into_what_is_answered() {
    let rows: String = (1..=9)
        .map(|row| format!("<row r='{row}'><c r='A{row}'><v>1</v></c></row>"))
        .collect();
    let merged = "<mergeCells><mergeCell ref='A1:B2'/><mergeCell ref='B4:C6'/>\
        <mergeCell ref='E8:F9'/></mergeCells>";
    let bytes = book(&worksheet(&rows, merged), &worksheet("", ""));
    let all = ["A1:B2", "B4:C6", "E8:F9"];
    for (range, start, limit, expected) in [
        ("A:F", 0, usize::MAX, &all[..]),
        ("A:D", 0, usize::MAX, &all[..2]),
        ("C5:D7", 0, usize::MAX, &all[1..2]),
        ("A:F", 0, 3, &all[..1]),
        ("A:F", 3, 1, &[]),
        ("A:F", 6, 9, &all[1..]),
    ] {
        let options = WorkbookOptions {
            range: Range::parse(range).unwrap(),
            start: Position {
                sheet: 0,
                row: start,
            },
            limit,
            ..WorkbookOptions::default()
        };
        let book = read(bytes.clone(), &options);
        assert_eq!(book.sheets[0].merged, expected, "{range} {start} {limit}");
    }
}

#[test]
fn far_cells_cost_nothing() {
    let rows = "<row r='1048576'><c r='XFD1048576'><v>1</v></c></row>";
    let book = read(
        book(&worksheet(rows, ""), &worksheet("", "")),
        &WorkbookOptions::default(),
    );
    assert_eq!(
        book.sheets[0].dimension.as_deref(),
        Some("XFD1048576:XFD1048576")
    );
}

#[test]
fn rows_come_in_windows_across_sheets() {
    let bytes = book(&numbered(1..=3), &numbered(5..=6));
    let mut start = Position::default();
    let mut windows = Vec::new();
    loop {
        let options = WorkbookOptions {
            limit: 2,
            start,
            ..WorkbookOptions::default()
        };
        let book = read(bytes.clone(), &options);
        windows.push(row_numbers(&book));
        match book.next {
            Some(next) => start = next,
            None => break,
        }
    }
    let one = |rows: &[u32]| ("One".to_owned(), rows.to_vec());
    let two = |rows: &[u32]| ("Two".to_owned(), rows.to_vec());
    assert_eq!(
        windows,
        [
            vec![one(&[1, 2])],
            vec![one(&[3]), two(&[5])],
            vec![two(&[6])]
        ]
    );
}

/// All windows of a sheet, one behind the other; at most twenty.
fn windows(bytes: &[u8], limit: usize) -> (Vec<serde_json::Value>, Vec<String>) {
    let mut rows = Vec::new();
    let mut start = Position::default();
    for _ in 0..20 {
        let options = WorkbookOptions {
            limit,
            start,
            ..WorkbookOptions::default()
        };
        let book = read(bytes.to_vec(), &options);
        let read = book.sheets.iter().flat_map(|sheet| &sheet.rows);
        rows.extend(read.map(|row| serde_json::to_value(row).unwrap()));
        match book.next {
            Some(next) => start = next,
            None => return (rows, book.warnings),
        }
    }
    panic!("the windows have no end");
}

#[test]
fn rows_out_of_order_come_once_each_in_the_order_of_their_numbers() {
    let row = |row: u32| format!("<row r='{row}'><c r='A{row}'><v>{row}</v></c></row>");
    let rows: String = [5, 1, 3, 4, 2].map(row).concat();
    let bytes = book(&worksheet(&rows, ""), &worksheet("", ""));
    for limit in 1..7 {
        let (rows, _) = windows(&bytes, limit);
        let numbers: Vec<_> = rows
            .iter()
            .map(|row| row["row"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5], "{limit}");
    }
}

#[test]
fn rows_and_cells_that_are_repeated_are_one_and_the_last_counts() {
    let rows = "<row r='1'><c r='A1'><v>1</v></c><c r='B1'><v>2</v></c></row>\
        <row r='2'><c r='A2'><v>1</v></c><c r='A2'><v>2</v></c></row>\
        <row r='1'><c r='A1'><v>3</v></c><c r='C1'><v>4</v></c></row>";
    let bytes = book(&worksheet(rows, ""), &worksheet("", ""));
    let expected = [
        json!({ "row": 1, "cells": { "A": 3, "B": 2, "C": 4 } }),
        json!({ "row": 2, "cells": { "A": 2 } }),
    ];
    for limit in 1..3 {
        assert_eq!(windows(&bytes, limit).0, expected);
    }
    assert_eq!(
        windows(&bytes, 9).1,
        [
            "sheet `One`: 2 cells stand where another one stands; the last one is shown",
            "sheet `One`: 1 rows have the number of another one; they are shown as one row",
        ]
    );
}

#[test]
fn rows_that_no_sheet_has_are_told_of() {
    let row = |row: u32| format!("<row r='{row}'><c r='A{row}'><v>7</v></c></row>");
    let rows: String = [0, 2, u32::MAX, 1_048_577].map(row).concat();
    let book = read(
        book(&worksheet(&rows, ""), &worksheet("", "")),
        &WorkbookOptions::default(),
    );
    assert_eq!(row_numbers(&book)[0].1, [2]);
    assert_eq!(book.sheets[0].dimension.as_deref(), Some("A2:A2"));
    assert!(
        book.warnings[0].contains("3 rows have a number"),
        "{:?}",
        book.warnings
    );
}

#[test]
fn a_text_that_is_missing_is_shown_as_null_and_told_of() {
    let rows = "<row r='1'><c r='A1' t='s'><v>99</v></c><c r='B1' t='s'><v>x</v></c><c r='C1' t='s'/></row>";
    let book = read(
        book(&worksheet(rows, ""), &worksheet("", "")),
        &WorkbookOptions::default(),
    );
    let row = serde_json::to_value(&book.sheets[0].rows[0]).unwrap();
    assert_eq!(row["cells"], json!({ "A": null, "B": null }));
    assert_eq!(
        book.warnings,
        [
            "sheet `One`: 2 cells refer to a text that the workbook does not hold; they are shown as null"
        ]
    );
}

#[test]
fn rows_end_a_page_by_their_bytes() {
    let long = "x".repeat(1000);
    let row = |row: u32| format!("<row r='{row}'><c r='A{row}' t='str'><v>{long}</v></c></row>");
    let rows: String = (1..10).map(row).collect();
    let options = WorkbookOptions {
        page_bytes: Some(2500),
        ..WorkbookOptions::default()
    };
    let book = read(book(&worksheet(&rows, ""), &worksheet("", "")), &options);
    assert_eq!(row_numbers(&book), [("One".to_owned(), vec![1, 2])]);
    assert_eq!(book.next, Some(Position { sheet: 0, row: 3 }));
}

#[test]
fn tags_of_a_sheet_that_are_passed_over_are_no_reason_to_refuse_it() {
    let passed = format!("<x>{}</x>", "<y/>".repeat(6_100_000));
    let bytes = book(
        &worksheet("<row r='7'><c><v>1</v></c></row>", &passed),
        "<x/>",
    );
    let options = WorkbookOptions {
        sheet: Some("One"),
        ..WorkbookOptions::default()
    };
    assert_eq!(
        row_numbers(&read(bytes, &options)),
        [("One".to_owned(), vec![7])]
    );
}

#[test]
fn sheets_and_ranges_are_selected() {
    let bytes = book(&numbered(1..=3), &numbered(5..=9));
    let options = WorkbookOptions {
        sheet: Some("Two"),
        range: Range::parse("A6:B7").unwrap(),
        ..WorkbookOptions::default()
    };
    let book = read(bytes.clone(), &options);
    assert_eq!(row_numbers(&book), [("Two".to_owned(), vec![6, 7])]);
    let options = WorkbookOptions {
        sheet: Some("Three"),
        ..WorkbookOptions::default()
    };
    let missing = read_xlsx(Cursor::new(bytes), &options);
    assert!(matches!(missing, Err(WorkbookError::NoSuchSheet(names)) if names == ["One", "Two"]));
}

#[test]
fn one_broken_sheet_is_a_warning() {
    let bytes = book("<worksheet", &numbered(1..=1));
    let book = read(bytes, &WorkbookOptions::default());
    assert_eq!(row_numbers(&book), [("Two".to_owned(), vec![1])]);
    assert!(
        book.warnings[0].starts_with("sheet `One`: `1.xml`"),
        "{:?}",
        book.warnings
    );
    let bytes = super::tests::book("<worksheet", "<x/>");
    let broken = read_xlsx(Cursor::new(bytes), &WorkbookOptions::default());
    assert!(matches!(
        broken,
        Err(WorkbookError::Document(Error::Malformed { .. }))
    ));
}

#[test]
fn markdown_has_tables_and_lists_what_is_far_apart() {
    let rows = "<row r='2'><c r='B2'><v>1</v></c><c r='D2' t='s'><v>0</v></c></row><row r='4'><c r='B4'><v>2</v></c></row>";
    let sheet = worksheet(rows, "");
    let diagonal = |place: u32| {
        let column = place::letters(place);
        format!("<row r='{place}'><c r='{column}{place}'><v>{place}</v></c></row>")
    };
    let sparse = worksheet(&(1..200).map(diagonal).collect::<String>(), "");
    let text = read(book(&sheet, &sparse), &WorkbookOptions::default()).markdown();
    assert!(
        text.starts_with(
            "## Sheet One\n\n|  | B | D |\n| --- | --- | --- |\n| 2 | 1 | shared |\n| 4 | 2 |  |"
        ),
        "{text}"
    );
    assert!(
        text.contains("## Sheet Two (hidden)\n\n- A1: 1\n- B2: 2\n"),
        "{text}"
    );
}

const SHEET_LINKS: [(&str, &str, &str); 3] = [
    ("c", "comments", "c.xml"),
    ("d", "drawing", "d.xml"),
    (
        "t",
        "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment",
        "t.xml",
    ),
];

/// A first sheet with notes, a thread, a text box and a chart.
fn commented() -> Vec<u8> {
    let spaces = "xmlns:xdr='http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing' \
        xmlns:a='http://schemas.openxmlformats.org/drawingml/2006/main' \
        xmlns:c='http://schemas.openxmlformats.org/drawingml/2006/chart' \
        xmlns:r='http://schemas.openxmlformats.org/officeDocument/2006/relationships'";
    let rows = "<row r='1'><c r='A1'><v>1</v></c></row><row r='2'><c r='A2'><f>1+1</f></c></row>";
    book_with(
        &worksheet(rows, ""),
        &worksheet("", ""),
        &[
            ("_rels/1.xml.rels", &relationships(&SHEET_LINKS)),
            (
                "c.xml",
                &format!(
                    "<comments {SPACES}><authors><author>Ada</author><author>tc={{1}}</author></authors><commentList>\
                     <comment ref='A2' authorId='0'><text><r><t>a </t></r><r><t>note</t></r></text></comment>\
                     <comment ref='A1' authorId='1'><text><t>[Threaded comment]</t></text></comment>\
                     </commentList></comments>"
                ),
            ),
            (
                "t.xml",
                &format!(
                    "<ThreadedComments xmlns='{THREADS}'>\
                     <threadedComment ref='A1' personId='{{p}}'><text>why?</text></threadedComment>\
                     <threadedComment ref='nowhere'><text>lost</text></threadedComment></ThreadedComments>"
                ),
            ),
            (
                "d.xml",
                &format!(
                    "<xdr:wsDr {spaces}><xdr:twoCellAnchor><xdr:sp><xdr:txBody><a:p><a:r><a:t>boxed</a:t></a:r></a:p>\
                     </xdr:txBody></xdr:sp></xdr:twoCellAnchor><xdr:graphicFrame><c:chart r:id='h'/></xdr:graphicFrame></xdr:wsDr>"
                ),
            ),
            (
                "_rels/d.xml.rels",
                &relationships(&[("h", "chart", "h.xml")]),
            ),
            (
                "h.xml",
                &format!(
                    "<c:chartSpace {spaces}><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title></c:chartSpace>"
                ),
            ),
        ],
    )
}

#[test]
fn comments_threads_text_boxes_and_charts_stand_beside_the_cells() {
    let book = read(commented(), &WorkbookOptions::default());
    let sheet = serde_json::to_value(&book.sheets[0]).unwrap();
    assert_eq!(
        sheet["comments"],
        json!([
            { "cell": "A1", "author": "Bob", "text": "why?" },
            { "cell": "A2", "author": "Ada", "text": "a note" },
        ])
    );
    assert_eq!(sheet["drawings"], json!(["boxed", "Sales"]));
    let text = book.markdown();
    assert!(
        text.contains("> Drawing: Sales\n\n> Comment on A1 by Bob: why?"),
        "{text}"
    );
}

#[test]
fn a_range_has_the_comments_on_its_cells_and_no_drawings() {
    let options = WorkbookOptions {
        range: Range::parse("A2:B9").unwrap(),
        ..WorkbookOptions::default()
    };
    let book = read(commented(), &options);
    let cells = book.sheets[0].comments.iter().map(|comment| &*comment.cell);
    assert_eq!(cells.collect::<Vec<_>>(), ["A2"]);
    assert!(book.sheets[0].drawings.is_empty());
}

#[test]
fn formulas_without_a_value_are_told_of() {
    let book = read(commented(), &WorkbookOptions::default());
    assert_eq!(
        book.warnings,
        [
            "sheet `One`: 1 formulas were saved without a value; `read_xlsx` with `formulas: true` shows them"
        ]
    );
    let options = WorkbookOptions {
        with_formulas: true,
        ..WorkbookOptions::default()
    };
    let book = read(commented(), &options);
    assert!(book.warnings.is_empty());
    let row = serde_json::to_value(&book.sheets[0].rows[1]).unwrap();
    assert_eq!(row["formulas"], json!({ "A": "=1+1" }));
}

#[test]
fn a_formula_that_cells_share_is_told_of_each() {
    let cell = |row: u32, formula: &str| {
        format!("<row r='{row}'><c r='B{row}'>{formula}<v>{row}</v></c></row>")
    };
    let rows = cell(1, "<f t='shared' ref='B1:B3' si='0'>A1*2</f>")
        + &cell(2, "<f t='shared' si='0'/>")
        + &cell(3, "<f t='shared' si='0'/>")
        + &cell(4, "<f t='shared' si='7'/>");
    for start in [0, 2] {
        let options = WorkbookOptions {
            with_formulas: true,
            start: Position {
                sheet: 0,
                row: start,
            },
            ..WorkbookOptions::default()
        };
        let bytes = book(&worksheet(&rows, ""), &worksheet("", ""));
        let book = serde_json::to_value(read(bytes, &options)).unwrap();
        let rows = book["sheets"][0]["rows"].as_array().unwrap();
        let formulas = rows.iter().map(|row| row["formulas"]["B"].clone());
        let formulas: Vec<_> = formulas.collect();
        let all = [json!("=A1*2"), json!("=A2*2"), json!("=A3*2"), json!(null)];
        let from = (start as usize).saturating_sub(1);
        assert_eq!(formulas, all[from..]);
    }
}

#[test]
fn markdown_says_where_cells_lead() {
    let link = |id: &str, target: &str| {
        format!("<Relationship Id='{id}' Type='x' Target='{target}' TargetMode='External'/>")
    };
    let links = format!(
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{}{}</Relationships>",
        link("a", "https://a.example/"),
        link("b", "https://b.example/")
    );
    let rows = "<row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1'><v>1</v></c></row>\
        <row r='2'><c r='A2' t='s'><v>0</v></c><c r='B2'><v>2</v></c></row>";
    let more = "<hyperlinks><hyperlink ref='A1' r:id='a' location='there'/>\
        <hyperlink ref='B1:B9' r:id='b'/><hyperlink ref='A1:C9' r:id='none'/>\
        <hyperlink ref='A2' location='Two!A1'/><hyperlink ref='B2' r:id='a'/></hyperlinks>";
    let bytes = || {
        let parts = [("_rels/1.xml.rels", &*links)];
        book_with(&worksheet(rows, more), &worksheet("", ""), &parts)
    };
    let options = WorkbookOptions {
        with_links: true,
        ..WorkbookOptions::default()
    };
    let text = read(bytes(), &options).markdown();
    let expected = "| 1 | [shared](https://a.example/#there) | [1](https://b.example/) |\n\
        | 2 | shared | [2](https://b.example/) |";
    assert!(text.contains(expected), "{text}");
    let plain = read(bytes(), &WorkbookOptions::default()).markdown();
    assert!(plain.contains("| 1 | shared | 1 |"), "{plain}");
}
