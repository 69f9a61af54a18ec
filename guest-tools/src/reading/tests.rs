//! Windows of files without a host: what they hold, what they cost, and that they add up.

use super::part::{From, Part, read_with};
use super::{Facts, Reading, Wish};
use crate::files::ErrorCode;
use crate::text::{Choice, Place, Style};
use crate::tool::{Content, Error, Failure};

/// A file in the host's hands.
struct File {
    bytes: Vec<u8>,
    /// Bytes that the host hands out, altogether.
    budget: u64,
    given: u64,
}

impl File {
    fn of(bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            bytes: bytes.into(),
            budget: u64::MAX,
            given: 0,
        }
    }

    fn read(&mut self, wish: &Wish) -> Result<Reading, Error> {
        let size = self.bytes.len() as u64;
        let facts = Facts::about("/read/0".to_owned(), size, String::new());
        let part = wish.part.clone().unwrap();
        let mut read = |length: u64, offset: u64| {
            let rest = &self.bytes[self.bytes.len().min(offset as usize)..];
            let left = self.budget - self.given;
            if left == 0 && !rest.is_empty() {
                return Err(ErrorCode::Quota);
            }
            let length = length.min(left).min(rest.len() as u64);
            self.given += length;
            Ok((rest[..length as usize].to_vec(), rest.is_empty()))
        };
        read_with("f", &mut read, wish, &part, facts)
    }

    fn answer(&mut self, wish: &Wish) -> (String, Facts) {
        match self.read(wish) {
            Ok(Reading {
                facts,
                content: Content::Text(text),
            }) => (text, facts),
            Ok(_) => panic!("{wish:?} is no text"),
            Err(error) => panic!("{wish:?}: {error:?}"),
        }
    }

    fn failure(&mut self, wish: &Wish) -> Failure {
        match self.read(wish) {
            Err(Error::Tool(failure)) => failure,
            Err(Error::Host) => panic!("{wish:?} was blamed on the host"),
            Ok(_) => panic!("{wish:?} was answered"),
        }
    }
}

fn wish(from: From, lines: Option<u64>) -> Wish {
    Wish {
        choice: Choice::Detected,
        replace: false,
        part: Some(Part {
            from,
            lines,
            most: None,
            style: Style::default(),
        }),
        hash: false,
    }
}

impl Wish {
    fn part_mut(&mut self) -> &mut Part {
        self.part.as_mut().unwrap()
    }

    fn most(mut self, most: usize) -> Self {
        self.part_mut().most = Some(most);
        self
    }

    fn style(mut self, numbers: bool, clip: Option<usize>) -> Self {
        self.part_mut().style = Style { numbers, clip };
        self
    }

    fn in_encoding(mut self, label: &str) -> Self {
        self.choice = Choice::named(label).unwrap();
        self
    }
}

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\nten\n";

#[test]
fn a_window_holds_the_lines_that_were_asked_for() {
    for (from, lines, text, next) in [
        (From::Line(1), Some(2), "1\n2\n", Some(3)),
        (From::Line(9), Some(2), "9\nten\n", None),
        (From::Line(9), None, "9\nten\n", None),
        (From::Line(9), Some(99), "9\nten\n", None),
        (From::Last(1), None, "ten\n", None),
        (From::Last(3), Some(1), "8\n", Some(9)),
        (From::Last(99), Some(1), "1\n", Some(2)),
    ] {
        let (answer, facts) = File::of(TEN).answer(&wish(from, lines));
        assert_eq!(answer, text, "{from:?}");
        assert_eq!(facts.next_offset, next, "{from:?}");
        assert_eq!(facts.truncated, next.is_some(), "{from:?}");
        assert_eq!(facts.lines, Some(10), "{from:?}");
    }
}

#[test]
fn the_last_line_needs_no_ending() {
    let text = "x1\nx2\nx3";
    for (from, answer) in [
        (From::Line(3), "x3"),
        (From::Last(1), "x3"),
        (From::Last(2), "x2\nx3"),
    ] {
        let (got, facts) = File::of(text).answer(&wish(from, None));
        assert_eq!((&*got, facts.lines), (answer, Some(3)), "{from:?}");
    }
    let failure = File::of(text).failure(&wish(From::Line(4), None));
    assert_eq!(
        failure.message,
        "line 4 lies behind the end: `f` has 3 lines"
    );
    let failure = File::of(TEN).failure(&wish(From::Line(11), None));
    assert_eq!(
        failure.message,
        "line 11 lies behind the end: `f` has 10 lines"
    );
    assert_eq!(failure.details, r#"{"lines":10}"#);
}

#[test]
fn an_empty_file_has_no_lines_and_can_be_read() {
    for from in [From::Line(1), From::Last(5)] {
        let (text, facts) = File::of("").answer(&wish(from, Some(1)));
        assert_eq!((&*text, facts.lines, facts.truncated), ("", Some(0), false));
    }
    let failure = File::of("").failure(&wish(From::Line(2), None));
    assert_eq!(
        failure.message,
        "line 2 lies behind the end: `f` has 0 lines"
    );
}

/// Twenty thousand lines of a hundred bytes.
fn long() -> Vec<u8> {
    let line = |number| format!("{number:0>99}\n");
    (1..=20_000).map(line).collect::<String>().into_bytes()
}

#[test]
fn a_window_costs_what_leads_to_it() {
    let mut file = File::of(long());
    for (from, at_most) in [
        (From::Line(1), 64 << 10),
        (From::Line(10_000), 1_000_000 + (300 << 10)),
        (From::Last(10), (64 << 10) + 4),
        (From::Last(1000), (192 << 10) + 4),
    ] {
        file.given = 0;
        let (text, facts) = file.answer(&wish(from, Some(5)));
        assert_eq!(text.len(), 500, "{from:?}");
        assert!(file.given <= at_most, "{from:?} cost {}", file.given);
        assert_eq!(facts.lines, None, "{from:?}");
    }
}

#[test]
fn lines_that_were_not_counted_are_numbered_from_the_end() {
    let window = wish(From::Last(3), Some(2)).style(true, None);
    let (text, facts) = File::of(long()).answer(&window);
    assert!(
        text.starts_with("-3\t") && text.contains("\n-2\t"),
        "{text}"
    );
    assert_eq!((facts.first_line, facts.next_offset), (Some(-3), Some(-1)));
}

#[test]
fn the_hosts_limit_ends_an_answer_where_it_can_be_resumed() {
    let mut file = File::of(long());
    file.budget = 1_000_050;
    let (text, facts) = file.answer(&wish(From::Line(9_999), None));
    assert!(
        text.ends_with(&format!("10000\n{}", "0".repeat(50))),
        "{text}"
    );
    let cursor: Place = facts.next_cursor.unwrap().parse().unwrap();
    assert_eq!(cursor.byte, 1_000_050);
    assert_eq!((cursor.line, cursor.inside), (10_001, true));

    // It may end exactly where a block does.
    let mut exact = File::of(long());
    exact.budget = 64 << 10;
    let (text, facts) = exact.answer(&wish(From::Line(1), None));
    assert_eq!(text.len(), 64 << 10);
    assert!(facts.truncated);

    file.given = 0;
    let failure = file.failure(&wish(From::Line(15_000), None));
    assert_eq!(failure.code, "limit-exceeded");
    assert!(
        failure.hint.contains("`cursor: \"10001+:1000050\"`"),
        "{}",
        failure.hint
    );
    let place = "10001+:1000050".parse().unwrap();
    file.given = 0;
    let (text, _) = file.answer(&wish(From::Cursor(place, Some(10_002)), Some(1)));
    assert!(text.ends_with("10002\n"), "{text}");
}

/// Numbers without a pattern (xorshift, Marsaglia 2003), the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn text(&mut self, pieces: &[&str]) -> String {
        let length = self.below(200);
        let pieces: Vec<&str> = (0..length)
            .map(|_| pieces[self.below(pieces.len())])
            .collect();
        pieces.concat()
    }
}

/// Reads from window to window, and puts together what they hold.
fn walk(file: &mut File, first: &Wish) -> String {
    let mut wish = first.clone();
    let mut whole = String::new();
    loop {
        file.given = 0;
        let (text, facts) = file.answer(&wish);
        let most = wish.part_mut().most.unwrap_or(usize::MAX);
        assert!(text.len() <= most, "{} bytes for {wish:?}", text.len());
        assert!(!text.is_empty() || !facts.truncated, "nothing for {wish:?}");
        whole.push_str(&text);
        let Some(cursor) = facts.next_cursor else {
            return whole;
        };
        // Where a line follows, its number leads to the same place.
        if let Some(line) = facts.next_offset.filter(|line| *line > 0) {
            let mut by_number = wish.clone();
            by_number.part_mut().from = From::Line(line as u64);
            let mut by_cursor = wish.clone();
            by_cursor.part_mut().from = From::Cursor(cursor.parse().unwrap(), None);
            assert_eq!(file.answer(&by_number).0, file.answer(&by_cursor).0);
        }
        wish.part_mut().from = From::Cursor(cursor.parse().unwrap(), None);
    }
}

const PIECES: &[&str] = &[
    "\n",
    "\n",
    "\r\n",
    "\r\n",
    "\r",
    "a",
    "word ",
    "é",
    "あ",
    "\u{10ffff}",
    "\0",
    "\u{feff}",
    "a line that is long enough to be cut somewhere in its middle",
];

#[test]
fn windows_of_utf_8_add_up_to_the_whole() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for _ in 0..200 {
        let text = random.text(PIECES);
        let mut file = File::of(text.clone());
        let lines = (random.below(2) == 0).then(|| 1 + random.below(9) as u64);
        let window = wish(From::Line(1), lines).most(32 + random.below(40));
        assert_eq!(walk(&mut file, &window), text);
        // Numbered windows add up to the whole in numbers.
        let numbered = wish(From::Line(1), lines).style(true, None);
        let whole = file.answer(&wish(From::Line(1), None).style(true, None)).0;
        assert_eq!(
            walk(&mut file, &numbered.most(32 + random.below(40))),
            whole
        );
    }
}

#[test]
fn windows_of_other_encodings_add_up_to_the_whole() {
    const WORDS: &[&str] = &[
        "\n",
        "\r\n",
        "a",
        "Maße ",
        "\r",
        "some words of plain letters ",
    ];
    const JAPANESE: &[&str] = &["\n", "\r\n", "a", "日本語", "テキスト", "ﾃｷｽﾄ", "、"];
    let utf_16 = |order: fn(u16) -> [u8; 2]| {
        move |text: &str| -> Vec<u8> {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            units.flat_map(order).collect()
        }
    };
    let (le, be) = (utf_16(u16::to_le_bytes), utf_16(u16::to_be_bytes));
    let encoded = |encoding: &'static encoding_rs::Encoding| {
        move |text: &str| encoding.encode(text).0.into_owned()
    };
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut check = |label: Option<&str>, pieces: &[&str], encode: &dyn Fn(&str) -> Vec<u8>| {
        for _ in 0..60 {
            let text = random.text(pieces);
            let mut file = File::of(encode(&text));
            for numbers in [false, true] {
                let lines = (random.below(2) == 0).then(|| 1 + random.below(9) as u64);
                let mut window = wish(From::Line(1), None).style(numbers, None);
                if let Some(label) = label {
                    window = window.in_encoding(label);
                }
                let whole = file.answer(&window).0;
                window.part_mut().lines = lines;
                let window = window.most(32 + random.below(40));
                assert_eq!(walk(&mut file, &window), whole, "{label:?}");
                assert!(numbers || whole == text, "{label:?}");
            }
        }
    };
    // A NUL behind the mark would make it the mark of UTF-32.
    let without_nul: Vec<&str> = PIECES
        .iter()
        .copied()
        .filter(|piece| *piece != "\0")
        .collect();
    check(None, &without_nul, &le);
    check(None, &without_nul, &be);
    check(
        Some("windows-1252"),
        WORDS,
        &encoded(encoding_rs::WINDOWS_1252),
    );
    check(
        Some("shift_jis"),
        JAPANESE,
        &encoded(encoding_rs::SHIFT_JIS),
    );
    check(Some("euc-jp"), JAPANESE, &encoded(encoding_rs::EUC_JP));
    check(Some("gb18030"), PIECES, &encoded(encoding_rs::GB18030));
}

#[test]
fn what_is_replaced_adds_up_too() {
    let mut random = Random(77);
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..random.below(300))
            .map(|_| [b'\n', b'\r', b'a', 0xff, 0xe3, 0x81, 0x82, 0xed][random.below(8)])
            .collect();
        let mut window = wish(From::Line(1), None);
        window.replace = true;
        let mut file = File::of(bytes.clone());
        let whole = file.answer(&window).0;
        assert_eq!(whole, String::from_utf8_lossy(&bytes));
        assert_eq!(walk(&mut file, &window.most(32 + random.below(40))), whole);
    }
}

#[test]
fn the_tail_is_what_a_look_at_the_whole_finds() {
    let mut random = Random(123);
    for round in 0..100 {
        let mut text = random.text(PIECES);
        if round % 3 == 0 {
            text = text.repeat(1 + random.below(200));
        }
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let wanted = 1 + random.below(lines.len() + 5);
        let expected = lines[lines.len().saturating_sub(wanted)..].concat();
        let utf_16: Vec<u8> = std::iter::once(0xfeff)
            .chain(text.encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        let window = wish(From::Last(wanted as u64), None);
        assert_eq!(File::of(text.clone()).answer(&window).0, expected);
        if !text.starts_with('\0') {
            assert_eq!(File::of(utf_16).answer(&window).0, expected);
        }
    }
}

#[test]
fn a_clipped_line_costs_no_answer() {
    let text = format!("short\n{}\nlast", "x".repeat(400_000));
    let window = wish(From::Line(1), None).style(true, Some(10)).most(100);
    let (shown, facts) = File::of(text).answer(&window);
    assert_eq!(shown, "1\tshort\n2\txxxxxxxxxx…[+399990]\n3\tlast");
    assert!(!facts.truncated);
}

#[test]
fn bytes_that_are_not_text_are_named_by_their_place_in_the_file() {
    let bytes = [
        b"line\n".repeat(3),
        b"caf\xe9\n".to_vec(),
        b"more\n".to_vec(),
    ]
    .concat();
    let mut file = File::of(bytes);
    assert_eq!(file.answer(&wish(From::Line(1), Some(3))).0.len(), 15);
    assert_eq!(file.answer(&wish(From::Last(1), None)).0, "more\n");
    for from in [From::Line(1), From::Line(4), From::Last(2)] {
        let failure = file.failure(&wish(from, None));
        assert_eq!(failure.code, "not-text");
        assert!(
            failure.details.starts_with(r#"{"offset":18,"#),
            "{}",
            failure.details
        );
        assert!(failure.hint.contains("windows-1252"), "{}", failure.hint);
    }
}

#[test]
fn bytes_are_read_in_parts() {
    let bytes: Vec<u8> = (0..=255).collect();
    let mut file = File::of(bytes.clone());
    let mut window = wish(From::Line(1), None).in_encoding("base64").most(100);
    let mut whole = Vec::new();
    loop {
        let reading = file.read(&window).unwrap_or_else(|_| panic!("{window:?}"));
        let Content::Bytes { data, .. } = reading.content else {
            panic!("bytes came back as text");
        };
        whole.extend(data);
        match reading.facts.next_cursor {
            Some(cursor) => window.part_mut().from = From::Cursor(cursor.parse().unwrap(), None),
            None => break,
        }
    }
    assert_eq!(whole, bytes);
}

#[test]
fn a_cursor_of_another_file_is_refused() {
    for cursor in ["1:99", "3:23"] {
        let window = wish(From::Cursor(cursor.parse().unwrap(), None), None);
        let failure = File::of(TEN).failure(&window);
        assert_eq!(failure.code, "invalid-arguments", "{cursor}");
    }
    let odd = wish(From::Cursor("1+:3".parse().unwrap(), None), None);
    assert_eq!(
        File::of(b"\xff\xfea\0b\0").failure(&odd).code,
        "invalid-arguments"
    );
}
