use super::*;
use crate::ooxml::warnings::MAX_WARNINGS;
use crate::ooxml::zip::tests::archive;
use std::io::Cursor;

const SPACES: &str = r#"xmlns="http://schemas.openxmlformats.org/presentationml/2006/main"
    xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"
    xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships""#;

fn relationships(entries: &[(&str, &str, &str)]) -> String {
    let entry = |(id, kind, target): &(&str, &str, &str)| {
        format!(
            "<Relationship Id='{id}' Target='{target}' \
             Type='http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}'/>"
        )
    };
    let entries: String = entries.iter().map(entry).collect();
    format!(
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>{entries}</Relationships>"
    )
}

fn slide(text: &str) -> String {
    format!(
        "<sld {SPACES}><cSld><spTree><sp><txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></txBody></sp></spTree></cSld></sld>"
    )
}

/// A deck whose slide list names `ids`, with two slides in it.
fn deck_of(ids: &[&str], first: &str, second: &str) -> Result<Deck, Error> {
    let list: String = ids
        .iter()
        .map(|id| format!("<sldId r:id='{id}'/>"))
        .collect();
    let bytes = archive(&[
        (
            "_rels/.rels",
            &relationships(&[("m", "officeDocument", "p.xml")]),
        ),
        (
            "p.xml",
            &format!("<presentation {SPACES}><sldIdLst>{list}</sldIdLst></presentation>"),
        ),
        (
            "_rels/p.xml.rels",
            &relationships(&[("a", "slide", "1.xml"), ("b", "slide", "2.xml")]),
        ),
        ("1.xml", first),
        ("2.xml", second),
    ]);
    read(Cursor::new(bytes), true)
}

fn read(file: impl BufRead + Seek, with_notes: bool) -> Result<Deck, Error> {
    let options = DeckOptions {
        with_notes,
        ..DeckOptions::default()
    };
    read_deck(file, &options)
}

fn data(name: &str, with_notes: bool) -> Deck {
    let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap();
    read(Cursor::new(bytes), with_notes).unwrap()
}

fn texts(deck: &Deck) -> Vec<String> {
    deck.slides.iter().map(Slide::text).collect()
}

#[test]
fn slides_stand_in_the_order_of_the_show() {
    let deck = data("B04_reordered_orphan_custom.pptx", true);
    assert_eq!(
        texts(&deck),
        ["Summary first", "Product intro second", "Closing third"]
    );
    let indexes: Vec<_> = deck.slides.iter().map(|slide| slide.index).collect();
    assert_eq!(indexes, [1, 2, 3]);
}

#[test]
fn notes_belong_to_their_slide() {
    let deck = data("B05_notes_crossed.pptx", true);
    let notes: Vec<_> = deck
        .slides
        .iter()
        .map(|slide| slide.notes.clone().flatten())
        .collect();
    let first = "Notes of the first slide\nsecond line".to_owned();
    assert_eq!(
        notes,
        [
            Some(first),
            None,
            Some("Notes of the third slide".to_owned())
        ]
    );
    let without = data("B05_notes_crossed.pptx", false);
    assert!(
        !serde_json::to_string(&without)
            .unwrap()
            .contains("\"notes\"")
    );
}

#[test]
fn every_kind_of_text_stands_in_its_place() {
    assert_eq!(
        texts(&data("B09_smartart_and_chart.pptx", true)),
        [
            "Before\nFirst step\nSecond step\n  Child of second\nThird step\n\
          Rainfall by month\nMonth\nMillimetres: January 81.5, February 64\nAfter"
        ]
    );
    assert_eq!(
        texts(&data("B07_groups_tables_separate.pptx", true)),
        [
            "FIRST BOX\nSECOND BOX\nHEADER A\tHEADER B\nCELL A\tCELL B\n\
          GROUPED ONE\nGROUPED TWO DEEP\nIN GROUP TABLE"
        ]
    );
    assert_eq!(texts(&data("X08_math.pptx", true)), ["x=1"]);
}

#[test]
fn titles_and_hidden_slides_are_told() {
    let deck = data("X13_titles_and_placeholders.pptx", true);
    assert_eq!(deck.slides[0].title.as_deref(), Some("The title"));
    assert!(!deck.slides[0].hidden);
    let hidden = slide("x").replacen("<sld", "<sld show='0'", 1);
    assert!(deck_of(&["a"], &hidden, "").unwrap().slides[0].hidden);
}

#[test]
fn slides_are_selected_by_their_index() {
    let options = DeckOptions {
        selection: Some(&|index| index == 2),
        ..DeckOptions::default()
    };
    let bytes = include_bytes!("../../../tests/data/B04_reordered_orphan_custom.pptx");
    let deck = read_deck(Cursor::new(bytes), &options).unwrap();
    assert_eq!(texts(&deck), ["Product intro second"]);
    assert_eq!((deck.slides[0].index, deck.count), (2, Some(3)));
}

#[test]
fn markdown_has_headings_lists_tables_and_notes() {
    let deck = data("B05_notes_crossed.pptx", true);
    let text = deck.markdown();
    assert!(text.starts_with("## Slide 1"), "{text}");
    assert!(
        text.contains("> Notes: Notes of the first slide\n> second line"),
        "{text}"
    );
    let table = data("B07_groups_tables_separate.pptx", true).markdown();
    assert!(
        table.contains("| HEADER A | HEADER B |\n| --- | --- |\n| CELL A | CELL B |"),
        "{table}"
    );
}

#[test]
fn links_are_in_the_markdown_only() {
    let linked = slide("x").replace("<a:r>", "<a:r><a:rPr><a:hlinkClick r:id='l'/></a:rPr>");
    let links = "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>\
        <Relationship Id='l' Type='x' Target='https://example.org/' TargetMode='External'/></Relationships>";
    let list = "<sldIdLst><sldId r:id='a'/></sldIdLst>";
    let bytes = archive(&[
        (
            "_rels/.rels",
            &relationships(&[("m", "officeDocument", "p.xml")]),
        ),
        (
            "p.xml",
            &format!("<presentation {SPACES}>{list}</presentation>"),
        ),
        (
            "_rels/p.xml.rels",
            &relationships(&[("a", "slide", "1.xml")]),
        ),
        ("1.xml", &linked),
        ("_rels/1.xml.rels", links),
    ]);
    let rendered = crate::ooxml::render(Cursor::new(&bytes)).unwrap();
    assert_eq!(rendered.text, "## Slide 1\n\n[x](https://example.org/)");
    assert_eq!(texts(&read(Cursor::new(&bytes), true).unwrap()), ["x"]);
}

#[test]
fn one_broken_slide_is_a_warning() {
    let deck = deck_of(&["a", "b", "none"], "<sld", &slide("whole")).unwrap();
    assert_eq!(texts(&deck), ["whole"]);
    assert_eq!(deck.slides[0].index, 2);
    assert!(deck.warnings[0].starts_with("slide 1: `1.xml`: "));
    assert_eq!(
        deck.warnings[1],
        "slide 3: the presentation: the slide list names `none`, which leads nowhere"
    );
}

#[test]
fn a_deck_of_broken_slides_is_malformed() {
    let broken = deck_of(&["a", "b"], "<sld", "<notes/>");
    assert!(matches!(broken, Err(Error::Malformed { .. })));
    assert_eq!(deck_of(&[], "", "").unwrap().slides.len(), 0);
}

#[test]
fn warnings_are_bounded() {
    let ids = [&["a"][..], &["none"; 100]].concat();
    let deck = deck_of(&ids, &slide("x"), "").unwrap();
    assert_eq!(deck.warnings.len(), MAX_WARNINGS + 1);
    assert_eq!(
        deck.warnings[MAX_WARNINGS],
        "80 more warnings are not shown"
    );
}

#[test]
fn a_slide_listed_too_often_is_limited() {
    let limit_of = |times: usize, slide: &str| match deck_of(&vec!["a"; times], slide, "") {
        Err(Error::Limit { limit, .. }) => Some(limit),
        _ => None,
    };
    let long = slide(&"x".repeat(400_000));
    let padded = format!("{}<!--{}-->", slide("x"), " ".repeat(2 * 1024 * 1024));
    let tagged = format!("{}<!--{}-->", slide("x"), "<".repeat(400_000));
    for (times, slide, limit) in [
        (64, slide("x"), None),
        (65, slide("x"), Some("readings of one part")),
        (60, long, Some("text bytes")),
        (60, padded, Some("inflated bytes")),
        (60, tagged, Some("XML tags")),
    ] {
        assert_eq!(limit_of(times, &slide), limit);
    }
}

#[test]
fn other_documents_are_named() {
    let word = include_bytes!("../../../tests/corpus/hostile_office/docx_named_pptx.pptx");
    let error = read(Cursor::new(word), true).unwrap_err();
    assert_eq!(error.message(), "the file is a Word document (.docx)");
    let text = archive(&[("mimetype", "application/vnd.oasis.opendocument.text")]);
    let error = read(Cursor::new(text), true).unwrap_err();
    assert_eq!(error.message(), "the file is an OpenDocument text (.odt)");
}
