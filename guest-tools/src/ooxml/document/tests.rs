use super::*;
use crate::ooxml::zip::tests::archive;
use std::io::Cursor;

const SPACES: &str = r#"xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"
    xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
    xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
    xmlns:v="urn:schemas-microsoft-com:vml""#;

fn relationships(entries: &[(&str, &str, &str)]) -> String {
    let entry = |(id, kind, target): &(&str, &str, &str)| {
        let mode = if target.contains(':') {
            "TargetMode='External'"
        } else {
            ""
        };
        format!(
            "<Relationship Id='{id}' Target='{target}' {mode} \
             Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}'/>"
        )
    };
    let entries: String = entries.iter().map(entry).collect();
    format!(
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{entries}</Relationships>"
    )
}

fn part(root: &str, inside: &str) -> String {
    format!("<w:{root} {SPACES}>{inside}</w:{root}>")
}

/// A document with this body, and with these styles, footnotes and header beside it.
fn read_with(body: &str, options: DocumentOptions) -> Document {
    let style = |id: &str, name: &str, more: &str| {
        format!(
            "<w:style w:type='paragraph' w:styleId='{id}'><w:name w:val='{name}'/>{more}</w:style>"
        )
    };
    let styles = [
        style("H1", "heading 1", ""),
        style("My", "My heading", "<w:basedOn w:val='H1'/>"),
        style("O", "Outlined", "<w:pPr><w:outlineLvl w:val='2'/></w:pPr>"),
        style("T", "Title", ""),
        style(
            "L2",
            "List Bullet 2",
            "<w:pPr><w:numPr><w:numId w:val='9'/></w:numPr></w:pPr>",
        ),
        style(
            "L",
            "List",
            "<w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr>",
        ),
    ];
    let numbering = "<w:abstractNum w:abstractNumId='0'><w:lvl w:ilvl='0'><w:start w:val='1'/><w:numFmt w:val='decimal'/>\
        <w:lvlText w:val='%1.'/></w:lvl></w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>";
    let footnotes = "<w:footnote w:type='separator' w:id='-1'><w:p><w:r><w:separator/></w:r></w:p></w:footnote>\
        <w:footnote w:id='2'><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnote>\
        <w:footnote w:id='5'><w:p/></w:footnote>\
        <w:footnote w:id='7'><w:p><w:r><w:t>another</w:t></w:r></w:p></w:footnote>";
    let comments =
        "<w:comment w:id='0' w:author='Ada'><w:p><w:r><w:t>why?</w:t></w:r></w:p></w:comment>";
    let links = [
        ("h", "header", "h.xml"),
        ("l", "hyperlink", "https://example.org/"),
        ("s", "styles", "s.xml"),
        ("n", "numbering", "n.xml"),
        ("f", "footnotes", "f.xml"),
        ("c", "comments", "c.xml"),
    ];
    let bytes = archive(&[
        (
            "_rels/.rels",
            &relationships(&[("m", "officeDocument", "d.xml")]),
        ),
        (
            "d.xml",
            &part("document", &format!("<w:body>{body}</w:body>")),
        ),
        ("_rels/d.xml.rels", &relationships(&links)),
        ("s.xml", &part("styles", &styles.concat())),
        ("n.xml", &part("numbering", numbering)),
        ("f.xml", &part("footnotes", footnotes)),
        ("c.xml", &part("comments", comments)),
        (
            "h.xml",
            &part("hdr", "<w:p><w:r><w:t>top</w:t></w:r></w:p>"),
        ),
    ]);
    read_docx(Cursor::new(bytes), options).unwrap()
}

fn read(body: &str) -> Document {
    read_with(body, DocumentOptions::default())
}

fn run(text: &str) -> String {
    format!("<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>")
}

fn paragraph(properties: &str, inside: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr>{inside}</w:p>")
}

/// Kind, level, label and text of the blocks in the body.
fn shown(document: &Document) -> Vec<String> {
    let beside = [BlockKind::Footnote, BlockKind::Comment, BlockKind::Header];
    let body = document
        .blocks
        .iter()
        .filter(|block| !beside.contains(&block.kind));
    let shown = body.map(|block| {
        let level = block.level.map(|level| level.to_string());
        let label = block.label.clone().unwrap_or_default();
        format!(
            "{:?}{} {label}{}",
            block.kind,
            level.unwrap_or_default(),
            block.lines()
        )
    });
    shown.collect()
}

#[test]
fn headings_come_from_styles_and_outline_levels() {
    let styled = |style: &str| paragraph(&format!("<w:pStyle w:val='{style}'/>"), &run("x"));
    let outlined = paragraph("<w:outlineLvl w:val='0'/>", &run("x"));
    let not = paragraph("<w:pStyle w:val='H1'/><w:outlineLvl w:val='9'/>", &run("x"));
    let body = ["H1", "My", "O", "T", "Heading4", "None"]
        .map(styled)
        .concat()
        + &outlined
        + &not;
    assert_eq!(
        shown(&read(&body)),
        [
            "Heading1 x",
            "Heading1 x",
            "Heading3 x",
            "Title x",
            "Heading4 x",
            "Paragraph x",
            "Heading1 x",
            "Paragraph x"
        ]
    );
}

#[test]
fn list_items_have_level_and_number() {
    let direct = "<w:numPr><w:ilvl w:val='1'/><w:numId w:val='9'/></w:numPr>";
    let none = "<w:pStyle w:val='L'/><w:numPr><w:numId w:val='0'/></w:numPr>";
    let body = paragraph("<w:pStyle w:val='L'/>", &run("a"))
        + &paragraph("<w:pStyle w:val='L'/>", &run("b"))
        + &paragraph(direct, &run("c"))
        + &paragraph("<w:pStyle w:val='L2'/>", &run("further in"))
        + &paragraph(none, &run("d"));
    assert_eq!(
        shown(&read(&body)),
        [
            "ListItem1 1.a",
            "ListItem1 2.b",
            "ListItem2 c",
            "ListItem2 further in",
            "Paragraph d"
        ]
    );
}

#[test]
fn breaks_tabs_fields_and_equations_stand_in_order() {
    let inside = "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:br w:type='page'/><w:noBreakHyphen/></w:r>\
        <w:r><w:fldChar w:fldCharType='begin'/><w:instrText>PAGE</w:instrText></w:r><w:r><w:fldChar w:fldCharType='end'/></w:r><w:fldSimple><w:r><w:t>7</w:t></w:r></w:fldSimple>\
        <m:oMath><m:r><m:t>x=1</m:t></m:r></m:oMath><w:ruby><w:rt><w:r><w:t>aid</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>base</w:t></w:r></w:rubyBase></w:ruby>\
        <w:r><w:sym w:font='Wingdings' w:char='F0FC'/></w:r>";
    assert_eq!(
        shown(&read(&paragraph("", inside))),
        ["Paragraph a\tb\n\n-7x=1base✓"]
    );
}

#[test]
fn changes_are_accepted_or_marked() {
    let inside = run("it costs ")
        + &format!(
            "<w:del><w:r><w:delText>100</w:delText></w:r></w:del><w:ins>{}</w:ins>",
            run("120")
        )
        + &format!("<w:moveFrom>{}</w:moveFrom>", run(" old"));
    let body = paragraph("", &inside);
    assert_eq!(shown(&read(&body)), ["Paragraph it costs 120"]);
    let options = DocumentOptions {
        with_changes: true,
        ..DocumentOptions::default()
    };
    assert_eq!(
        shown(&read_with(&body, options)),
        ["Paragraph it costs {--100--}{++120++}{-- old--}"]
    );
}

#[test]
fn a_paragraph_whose_end_is_deleted_goes_on_in_the_next_one() {
    let body = paragraph("<w:rPr><w:del/></w:rPr>", &run("one "))
        + &paragraph("<w:pStyle w:val='H1'/>", &run("two"))
        + &paragraph("<w:rPr><w:del/></w:rPr>", &run("last"));
    assert_eq!(shown(&read(&body)), ["Heading1 one two", "Paragraph last"]);
}

#[test]
fn content_controls_are_walked_wherever_they_stand() {
    let control = |inside: &str| {
        format!(
            "<w:sdt><w:sdtPr><w:alias w:val='x'/></w:sdtPr><w:sdtContent>{inside}</w:sdtContent></w:sdt>"
        )
    };
    let cell = control(&format!("<w:tc>{}</w:tc>", paragraph("", &run("cell"))));
    let row = control(&format!("<w:tr>{cell}</w:tr>"));
    let body = control(&paragraph("", &control(&run("inline")))) + &format!("<w:tbl>{row}</w:tbl>");
    assert_eq!(shown(&read(&body)), ["Paragraph inline", "Table cell"]);
}

#[test]
fn tables_keep_their_columns_and_hold_tables() {
    let cell = |properties: &str, inside: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr>{inside}</w:tc>")
    };
    let text = |text: &str| paragraph("", &run(text));
    let inner = format!(
        "<w:tbl><w:tr>{}{}</w:tr></w:tbl>",
        cell("", &text("i")),
        cell("", &text("j"))
    );
    let body = format!(
        "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}{}</w:tr><w:tr><w:trPr><w:gridBefore w:val='1'/></w:trPr>{}</w:tr>\
         <w:tr><w:trPr><w:del/></w:trPr>{}</w:tr></w:tbl>",
        cell("<w:gridSpan w:val='2'/>", &text("wide")),
        cell("<w:vMerge w:val='restart'/>", &text("tall")),
        cell("", &(text("one") + &text("two"))),
        cell("", &inner),
        cell("<w:vMerge/>", &text("hidden")),
        cell("<w:gridSpan w:val='2147483647'/>", &text("z")),
        cell("", &text("deleted")),
    );
    let document = read(&body);
    let json = serde_json::to_value(&document.blocks[0]).unwrap();
    assert_eq!(json["rows"][0], serde_json::json!(["wide", "", "tall"]));
    assert_eq!(json["rows"][1], serde_json::json!(["one\ntwo", "i\tj", ""]));
    assert_eq!(json["rows"][2][1], "z");
    assert_eq!(json["rows"].as_array().unwrap().len(), 3);
}

#[test]
fn text_boxes_are_read_once() {
    let text = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>";
    let inside = run("before ")
        + &format!(
            "<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx>{text}</wps:txbx></w:drawing></mc:Choice>\
             <mc:Fallback><w:pict><v:textbox>{text}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
        )
        + &run("after");
    assert_eq!(
        shown(&read(&paragraph("", &inside))),
        ["Paragraph before after", "TextBox boxed"]
    );
}

#[test]
fn what_stands_beside_the_text_follows_it() {
    let body = paragraph("", &run("x"))
        + "<w:sectPr><w:headerReference w:type='default' r:id='h'/><w:headerReference w:type='first' r:id='h'/>\
           <w:footerReference r:id='none'/></w:sectPr>";
    let document = read(&body);
    let kinds: Vec<_> = document.blocks.iter().map(|block| block.kind).collect();
    assert_eq!(
        kinds,
        [
            BlockKind::Paragraph,
            BlockKind::Footnote,
            BlockKind::Footnote,
            BlockKind::Comment,
            BlockKind::Header
        ]
    );
    assert_eq!(document.blocks[1].text, "a note");
    assert_eq!(document.blocks[3].author.as_deref(), Some("Ada"));
    assert!(
        document.warnings[0].contains("header or footer"),
        "{:?}",
        document.warnings
    );
}

#[test]
fn notes_stand_in_the_order_and_under_the_numbers_of_their_references() {
    let reference = |id: u8| format!("<w:r><w:footnoteReference w:id='{id}'/></w:r>");
    let inside = [7, 5, 2, 7].map(reference).concat();
    let document = read(&paragraph("", &(run("x") + &inside)));
    let notes = document.blocks.iter();
    let notes = notes.filter(|block| block.kind == BlockKind::Footnote);
    let notes: Vec<_> = notes
        .map(|note| (note.label.as_deref().unwrap(), &*note.text))
        .collect();
    assert_eq!(notes, [("1", "another"), ("3", "a note")]);
}

#[test]
fn a_document_without_text_says_so() {
    let bytes = archive(&[
        (
            "_rels/.rels",
            &relationships(&[("m", "officeDocument", "d.xml")]),
        ),
        ("d.xml", &part("document", "<w:body><w:p/></w:body>")),
    ]);
    let document = read_docx(Cursor::new(bytes), DocumentOptions::default()).unwrap();
    assert_eq!(document.warnings, ["the document holds no text"]);
}

#[test]
fn markdown_has_links_notes_lists_and_tables() {
    let item = |text: &str| paragraph("<w:pStyle w:val='L'/>", &run(text));
    let table = format!(
        "<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>",
        paragraph("", &run("cell"))
    );
    let link = format!(
        "<w:hyperlink r:id='l'>{}</w:hyperlink><w:r><w:footnoteReference w:id='2'/></w:r>",
        run("here")
    );
    let body = paragraph("<w:pStyle w:val='H1'/>", &run("Head"))
        + &item("a")
        + &item("b")
        + &paragraph("", &link)
        + &table;
    let options = DocumentOptions {
        with_links: true,
        ..DocumentOptions::default()
    };
    assert_eq!(
        read_with(&body, options).markdown(),
        "# Head\n\n1. a\n2. b\n\n[here](https://example.org/)[^1]\n\n| cell |\n| --- |\n\n\
         [^1]: a note\n\n> Note: another\n\n> Comment by Ada: why?"
    );
    assert_eq!(shown(&read(&body))[3], "Paragraph here");
}

/// The file's paragraphs say what Word shows before each of them: ordinal numbers, levels that are
/// skipped, go on or start anew where they say, are written otherwise in one list, or have no number.
#[test]
fn labels_are_those_that_word_shows() {
    let file = include_bytes!(
        "../../../tests/corpus/office/docx/tika__testWORD_override_list_numbering.docx"
    );
    let document = read_docx(Cursor::new(file), DocumentOptions::default()).unwrap();
    let items = document.blocks.iter();
    let items = items.filter(|block| block.kind == BlockKind::ListItem && block.text != "·");
    let items: Vec<_> = items
        .map(|item| (item.label.as_deref().unwrap_or_default(), item.text.trim()))
        .collect();
    assert_eq!(items.len(), 43);
    for (label, text) in items {
        assert_eq!(label, text);
    }
}

fn marks(kind: &str, inside: &str) -> String {
    format!("<w:r><w:fldChar w:fldCharType='{kind}'>{inside}</w:fldChar></w:r>")
}

/// A field with an instruction, in any runs, and a result.
fn field(instruction: &str, result: &str) -> String {
    [
        &marks("begin", ""),
        instruction,
        &marks("separate", ""),
        result,
        &marks("end", ""),
    ]
    .map(|piece| piece.to_owned())
    .concat()
}

fn instruction(text: &str) -> String {
    format!("<w:r><w:instrText xml:space='preserve'>{text}</w:instrText></w:r>")
}

const LINKED: DocumentOptions = DocumentOptions {
    with_links: true,
    with_changes: false,
};

#[test]
fn of_fields_only_the_result_is_text() {
    let inner = field(&instruction(" MERGEFIELD x "), &run("INNER"));
    let outer = field(
        &(instruction(" IF ") + &inner + &run("typed") + &instruction(" = 1 ")),
        &run("yes"),
    );
    let without_result =
        marks("begin", "") + &instruction("TC x") + &run("hidden") + &marks("end", "");
    let body = paragraph("", &(run("A ") + &outer + &without_result + &run(" Z")));
    assert_eq!(shown(&read(&body)), ["Paragraph A yes Z"]);
}

#[test]
fn what_a_field_without_end_hides_comes_to_light() {
    let body =
        paragraph("", &(run("a") + &marks("begin", "") + &run("b"))) + &paragraph("", &run("c"));
    let document = read(&body);
    assert_eq!(shown(&document), ["Paragraph a", "Paragraph b\nc"]);
    assert!(
        document.warnings[0].contains("has no end"),
        "{:?}",
        document.warnings
    );
}

#[test]
fn marks_of_fields_in_any_order_do_no_harm() {
    let all = [
        "end", "separate", "begin", "separate", "separate", "end", "end", "begin",
    ];
    let body = paragraph("", &(all.map(|kind| marks(kind, "")).concat() + &run("x")));
    assert_eq!(shown(&read(&body)), ["Paragraph x"]);
    let deep = read(&paragraph("", &marks("begin", "").repeat(200)));
    assert!(shown(&deep).is_empty());
}

#[test]
fn boxes_and_lists_of_forms_show_what_they_are_set_to() {
    let form = |data: &str| {
        marks("begin", &format!("<w:ffData>{data}</w:ffData>"))
            + &instruction("FORM")
            + &marks("end", "")
    };
    let inside = form("<w:checkBox><w:default w:val='1'/></w:checkBox>")
        + &form("<w:checkBox><w:default w:val='1'/><w:checked w:val='0'/></w:checkBox>")
        + &form("<w:checkBox><w:checked/></w:checkBox>")
        + &form(
            "<w:ddList><w:result w:val='1'/><w:listEntry w:val='one'/><w:listEntry w:val='two'/></w:ddList>",
        )
        + &form("<w:ddList><w:result w:val='9'/><w:listEntry w:val='one'/></w:ddList>");
    assert_eq!(shown(&read(&paragraph("", &inside))), ["Paragraph ☒☐☒two"]);
}

#[test]
fn signs_that_are_not_known_are_shown_by_number_and_told_of() {
    let sign =
        |font: &str, code: &str| format!("<w:r><w:sym w:font='{font}' w:char='{code}'/></w:r>");
    let inside = sign("Symbol", "F0B3") + &sign("Wingdings", "F0FE") + &sign("Dingbats", "F0C3");
    let document = read(&paragraph("", &inside));
    assert_eq!(shown(&document), ["Paragraph ≥☑[Dingbats F0C3]"]);
    assert!(
        document.warnings[0].contains("1 signs"),
        "{:?}",
        document.warnings
    );
}

#[test]
fn breaks_of_pages_and_columns_part_words() {
    let inside = |kind: &str| {
        format!(
            "{}<w:r><w:br w:type='{kind}'/></w:r>{}",
            run("one"),
            run("two")
        )
    };
    for kind in ["page", "column"] {
        assert_eq!(
            shown(&read(&paragraph("", &inside(kind)))),
            ["Paragraph one\ntwo"]
        );
    }
    let first = paragraph("", &format!("<w:r><w:br w:type='page'/></w:r>{}", run("x")));
    assert_eq!(shown(&read(&first)), ["Paragraph x"]);
}

#[test]
fn cells_and_notes_have_the_numbers_and_bullets_of_their_paragraphs() {
    let list = |id: u8, text: &str| {
        let properties = format!("<w:numPr><w:ilvl w:val='0'/><w:numId w:val='{id}'/></w:numPr>");
        paragraph(&properties, text)
    };
    let cell = |inside: &str| format!("<w:tc>{inside}</w:tc>");
    let row = |inside: &str| format!("<w:tr>{inside}</w:tr>");
    let body = format!(
        "<w:tbl>{}{}</w:tbl>{}",
        row(&(cell(&list(1, "")) + &cell(&list(1, &run("x"))))),
        row(&cell(&(list(9, &run("y")) + &list(9, "")))),
        list(1, &run("after"))
    );
    assert_eq!(
        shown(&read(&body)),
        ["Table 1.\t2. x\n• y", "ListItem1 3.after"]
    );
}

#[test]
fn links_stand_beside_the_text_of_their_block() {
    let link = format!("<w:hyperlink r:id='l'>{}</w:hyperlink>", run("here"));
    let simple = format!(
        "<w:fldSimple w:instr='HYPERLINK \"http://s.example/\"'>{}</w:fldSimple>",
        run("simple")
    );
    let complex = field(
        &(instruction(" HYPER") + &instruction("LINK \"http://c.example/a b(c)\" ")),
        &run("complex"),
    );
    let body = paragraph("", &(run("see ") + &link + &simple))
        + &format!(
            "<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>",
            paragraph("", &complex)
        )
        + &paragraph("", &run("none"));
    let json = serde_json::to_value(read(&body)).unwrap();
    assert_eq!(
        json["blocks"][0]["links"],
        serde_json::json!([
            { "text": "here", "target": "https://example.org/" },
            { "text": "simple", "target": "http://s.example/" },
        ])
    );
    assert_eq!(
        json["blocks"][1]["links"],
        serde_json::json!([{ "text": "complex", "target": "http://c.example/a b(c)" }])
    );
    assert_eq!(json["blocks"][2]["links"], serde_json::json!(null));
    let text = read_with(&body, LINKED).markdown();
    assert!(
        text.contains("[simple](http://s.example/)")
            && text.contains("| [complex](http://c.example/a%20b%28c%29) |"),
        "{text}"
    );
}

#[test]
fn a_link_to_a_place_elsewhere_keeps_the_place() {
    let link = |attributes: &str| {
        let text = run("here");
        let link = format!("<w:hyperlink {attributes}>{text}</w:hyperlink>");
        let blocks = read(&paragraph("", &link)).blocks;
        blocks[0].links.first().map(|link| link.target.clone())
    };
    for (attributes, target) in [
        ("r:id='l' w:anchor='p 2'", Some("https://example.org/#p 2")),
        ("r:id='l' w:anchor=''", Some("https://example.org/")),
        ("w:anchor='p'", None),
    ] {
        assert_eq!(link(attributes).as_deref(), target, "{attributes}");
    }
}

#[test]
fn letters_in_fonts_of_signs_are_what_they_show() {
    let run = |font: &str, text: &str| {
        let fonts = format!("<w:rPr><w:b/><w:rFonts {font}/></w:rPr>");
        format!("<w:r>{fonts}<w:t>{text}</w:t></w:r>")
    };
    let body = paragraph(
        "",
        &(run("w:ascii='Symbol' w:hAnsi='Symbol'", "\u{f061} &#xF0B3; a")
            + &run("w:hAnsi='Wingdings'", "\u{f0fc}\u{f0c3}")
            + &run("w:ascii='Arial'", "\u{f061}")),
    );
    let document = read(&body);
    let text = "α ≥ a✓[Wingdings F0C3]\u{f061}";
    assert_eq!(document.blocks[0].text, text);
    assert!(document.warnings[0].contains("1 signs"));
}

#[test]
fn a_link_whose_text_is_in_pieces_keeps_its_target() {
    let begin = marks("begin", "")
        + &instruction("HYPERLINK \"http://a.example/\"")
        + &marks("separate", "");
    let body =
        paragraph("", &(begin + &run("one"))) + &paragraph("", &(run("two") + &marks("end", "")));
    let document = read(&body);
    assert_eq!(document.blocks[1].links[0].target, "http://a.example/");
    let text = read_with(&body, LINKED).markdown();
    assert!(text.starts_with("one\n\ntwo <http://a.example/>"), "{text}");
}

#[test]
fn changes_of_rows_cells_paragraphs_and_blocks_are_marked() {
    let cell = |properties: &str, text: &str| {
        format!(
            "<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>",
            paragraph("", text)
        )
    };
    let row = |properties: &str, cells: &str| {
        format!("<w:tr><w:trPr>{properties}</w:trPr>{cells}</w:tr>")
    };
    let inserted = format!("<w:ins>{}</w:ins>", run("b"));
    let body = format!(
        "<w:tbl>{}{}{}</w:tbl>{}<w:ins>{}</w:ins><w:del>{}</w:del>",
        row("<w:ins/>", &(cell("", &run("a")) + &cell("", &inserted))),
        row("<w:del/>", &cell("", &run("c"))),
        row(
            "",
            &(cell("<w:cellIns/>", &run("d")) + &cell("<w:cellDel/>", &run("e")))
        ),
        paragraph("<w:rPr><w:del/></w:rPr>", &run("f")),
        paragraph("", &run("g")),
        paragraph("", &run("h")),
    );
    let options = DocumentOptions {
        with_changes: true,
        ..DocumentOptions::default()
    };
    assert_eq!(
        shown(&read_with(&body, options)),
        [
            "Table {++a++}\t{++b++}\n{--c--}\n{++d++}\t{--e--}",
            "Paragraph f{--¶--}",
            "Paragraph {++g++}",
            "Paragraph {--h--}",
        ]
    );
    assert_eq!(shown(&read(&body)), ["Table a\tb\nd", "Paragraph fg"]);
}

/// A document with this body, and with parts of styles and of numbering as they stand here.
fn read_defined(body: &str, styles: &str, numbering: &str) -> Document {
    let bytes = archive(&[
        (
            "_rels/.rels",
            &relationships(&[("m", "officeDocument", "d.xml")]),
        ),
        (
            "d.xml",
            &part("document", &format!("<w:body>{body}</w:body>")),
        ),
        (
            "_rels/d.xml.rels",
            &relationships(&[
                ("s", "styles", "s.xml"),
                ("n", "numbering", "n.xml"),
                ("h", "header", "h.xml"),
            ]),
        ),
        ("s.xml", styles),
        ("n.xml", numbering),
        (
            "h.xml",
            &part(
                "hdr",
                &paragraph("<w:pStyle w:val='Late'/>", &run("top")).replace('\'', "\""),
            ),
        ),
    ]);
    read_docx(Cursor::new(bytes), DocumentOptions::default()).unwrap()
}

#[test]
fn of_many_styles_those_are_read_that_paragraphs_have() {
    let style = |id: &str, more: &str| {
        format!("<w:style w:type='paragraph' w:styleId='{id}' {more}</w:style>")
    };
    let normal = style("Normal", "w:default='1'><w:name w:val='Normal'/>");
    let early = style("Early", "><w:name w:val='heading 1'/>");
    let late_too = style("Based", "><w:name w:val='x'/><w:basedOn w:val='Late'/>");
    let tables = "<w:style w:type='table' w:styleId='T'><w:tblPr/></w:style>".repeat(2000);
    let late = style("Late", "><w:name w:val='heading 2'/>");
    let plain = normal.clone() + &early + &late_too + &tables + &late;
    let without_default = early.clone() + &late_too + &tables + &late + &normal;
    let damaged = plain.clone() + "</w:oops>";
    let header = "<w:sectPr><w:headerReference r:id='h'/></w:sectPr>";
    for (id, more, styles, blocks, has_warning) in [
        ("Early", "", &plain, "Heading1 x", false),
        ("Late", "", &plain, "Heading2 x", false),
        ("Based", "", &plain, "Heading2 x", false),
        ("None", "", &plain, "Paragraph x", false),
        ("Early", "", &without_default, "Heading1 x", false),
        // What nobody needs may be wrong.
        ("Early", "", &damaged, "Heading1 x", false),
        ("Late", "", &damaged, "Paragraph x", true),
        ("Early", header, &damaged, "Heading1 x", true),
    ] {
        let body = paragraph(&format!("<w:pStyle w:val=\"{id}\"/>"), &run("x")) + more;
        let document = read_defined(&body, &part("styles", styles), &part("numbering", ""));
        assert_eq!(shown(&document), [blocks], "{id} {more}");
        assert_eq!(!document.warnings.is_empty(), has_warning, "{id} {more}");
    }
    // Written in another way than everybody's.
    let body = paragraph("<w:pStyle w:val='Late'></w:pStyle>", &run("x"));
    let document = read_defined(&body, &part("styles", &plain), &part("numbering", ""));
    assert_eq!(shown(&document), ["Heading2 x"]);
}

#[test]
fn lists_are_read_where_a_paragraph_is_in_one() {
    let styles = part("styles", "");
    for (list, has_warning) in [("", false), ("0", false), ("1", true)] {
        let numbered = format!("<w:numPr><w:numId w:val='{list}'/></w:numPr>");
        let properties = if list.is_empty() { "" } else { &numbered };
        let body = paragraph(properties, &run("x"));
        let document = read_defined(&body, &styles, "<w:numbering");
        assert_eq!(!document.warnings.is_empty(), has_warning, "{list}");
    }
}

#[test]
fn styles_that_a_list_links_to_its_levels_stand_on_them() {
    let style = |id: &str, more: &str| {
        format!(
            "<w:style w:type='paragraph' w:styleId='{id}'><w:name w:val='{id}'/>{more}</w:style>"
        )
    };
    let listed = "<w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr>";
    let styles = style("A", listed) + &style("B", listed) + &style("C", "<w:basedOn w:val='B'/>");
    let level = |level: u8, style: &str, text: &str| {
        format!(
            "<w:lvl w:ilvl='{level}'><w:start w:val='1'/><w:numFmt w:val='decimal'/><w:pStyle w:val='{style}'/>\
             <w:lvlText w:val='{text}'/></w:lvl>"
        )
    };
    let numbering = format!(
        "<w:abstractNum w:abstractNumId='0'>{}{}</w:abstractNum><w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num>",
        level(0, "A", "%1."),
        level(1, "B", "%1.%2")
    );
    let body = ["A", "B", "C", "A"]
        .map(|style| paragraph(&format!("<w:pStyle w:val='{style}'/>"), &run("x")));
    let document = read_defined(
        &body.concat(),
        &part("styles", &styles),
        &part("numbering", &numbering),
    );
    let labels = document
        .blocks
        .iter()
        .map(|block| block.label.as_deref().unwrap());
    assert_eq!(labels.collect::<Vec<_>>(), ["1.", "1.1", "1.2", "2."]);
}
