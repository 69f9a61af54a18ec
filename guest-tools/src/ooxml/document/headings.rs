//! Headings, told by the names of styles.

/// What heading styles are called where an application wrote its own language into the file;
/// Word itself writes `heading 1` in every language (ECMA-376 part 1, 17.7.4.9).
const WORDS: [&str; 24] = [
    "heading",
    "überschrift",
    "titre",
    "título",
    "titulo",
    "encabezado",
    "titolo",
    "kop",
    "rubrik",
    "overskrift",
    "otsikko",
    "nagłówek",
    "nadpis",
    "címsor",
    "titlu",
    "başlık",
    "заголовок",
    "επικεφαλίδα",
    "標題",
    "标题",
    "見出し",
    "제목",
    "naslov",
    "virsraksts",
];

/// The level of a heading style, from 1 to 9, by its name or id.
pub(super) fn level(name: &str) -> Option<u8> {
    let name = name.trim().to_lowercase();
    let digit = name.chars().next_back()?;
    let level = u8::try_from(digit.to_digit(10)?).ok()?;
    let word = name.strip_suffix(digit)?.trim();
    let is_heading = WORDS.contains(&word);
    (is_heading && level > 0).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn headings_are_known_in_many_languages() {
        for (name, expected) in [
            ("heading 1", Some(1)),
            ("Heading9", Some(9)),
            ("Überschrift 2", Some(2)),
            ("Заголовок 3", Some(3)),
            ("見出し 1", Some(1)),
            ("heading", None),
            ("heading 0", None),
            ("heading 11", None),
            ("List 1", None),
            ("", None),
        ] {
            assert_eq!(level(name), expected, "{name}");
        }
    }
}
