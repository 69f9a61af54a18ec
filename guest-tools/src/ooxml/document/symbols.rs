//! Signs of symbol fonts (ECMA-376 part 1, 17.3.3.30) as the characters that they stand for.

/// Where symbol fonts keep their signs, which are numbered by one byte.
const PRIVATE: u32 = 0xf000;

/// The fonts that have signs in the place of letters.
const FONTS: [&str; 5] = [
    "symbol",
    "wingdings",
    "wingdings 2",
    "wingdings 3",
    "webdings",
];

/// Whether a font has signs in the place of letters.
pub(super) fn is_font_of_signs(font: &str) -> bool {
    let font = font.trim();
    FONTS.iter().any(|known| font.eq_ignore_ascii_case(known))
}

/// Whether a character has a meaning in fonts of signs only.
pub(super) fn is_private(character: char) -> bool {
    (PRIVATE..PRIVATE + 0x100).contains(&character.into())
}

/// The font `Symbol` from 20 to 7E, after Adobe's table of it.
const SYMBOL_LOW: &str = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\
    ‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
/// The same from A0 to FE.
const SYMBOL_HIGH: &str = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑\
    ⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\0〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";

/// The character that a sign of a font stands for, where that is known.
pub(super) fn character(font: &str, code: u32) -> Option<char> {
    let sign = code.checked_sub(PRIVATE).unwrap_or(code);
    match font.trim().to_ascii_lowercase().as_str() {
        "symbol" => symbol(sign),
        "wingdings 2" => wingdings_2(sign),
        "webdings" => webdings(sign),
        "wingdings" => wingdings(sign),
        _ if code >= PRIVATE => wingdings(sign),
        _ => char::from_u32(code).filter(|character| !character.is_control()),
    }
}

fn symbol(sign: u32) -> Option<char> {
    let (table, first) = match sign {
        0x20..=0x7e => (SYMBOL_LOW, 0x20),
        0xa0..=0xfe => (SYMBOL_HIGH, 0xa0),
        _ => return None,
    };
    let character = table.chars().nth((sign - first) as usize);
    character.filter(|character| *character != '\0')
}

/// Common ones.
fn wingdings(sign: u32) -> Option<char> {
    Some(match sign {
        0x20 => ' ',
        0x22 => '✂',
        0x28 => '☎',
        0x2a => '✉',
        0x41 => '✌',
        0x45 => '☜',
        0x46 => '☞',
        0x47 => '☝',
        0x48 => '☟',
        0x4a => '☺',
        0x4c => '☹',
        0x52 => '☼',
        0x54 => '❄',
        0x6c => '●',
        0x6e => '■',
        0x6f | 0xa8 => '☐',
        0x71 => '❑',
        0x72 => '❒',
        0x75 => '◆',
        0x76 => '❖',
        0x80 => '⓪',
        0x81..=0x8a => char::from_u32(0x2460 + sign - 0x81)?,
        0x8c..=0x95 => char::from_u32(0x2776 + sign - 0x8c)?,
        0x9e => '·',
        0x9f | 0xb7 => '•',
        0xa7 => '▪',
        0xab => '★',
        0xd8 => '➢',
        0xdf => '←',
        0xe0 => '→',
        0xe1 => '↑',
        0xe2 => '↓',
        0xe8 => '➔',
        0xef => '⇦',
        0xf0 => '⇨',
        0xfb => '✗',
        0xfc => '✓',
        0xfd => '☒',
        0xfe => '☑',
        _ => return None,
    })
}

fn wingdings_2(sign: u32) -> Option<char> {
    Some(match sign {
        0x4f => '✗',
        0x50 => '✓',
        0x51 | 0x53 | 0x54 => '☒',
        0x52 => '☑',
        0xa3 => '☐',
        _ => return None,
    })
}

fn webdings(sign: u32) -> Option<char> {
    Some(match sign {
        0x61 => '✓',
        0x63 => '☐',
        0x72 => '✗',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::character;

    #[test]
    fn signs_of_symbol_fonts_are_characters() {
        for (font, code, expected) in [
            ("Symbol", 0xf061, Some('α')),
            ("Symbol", 0xf057, Some('Ω')),
            ("Symbol", 0xf07e, Some('∼')),
            ("Symbol", 0xb3, Some('≥')),
            ("symbol", 0xf0a3, Some('≤')),
            ("Symbol", 0xf0b9, Some('≠')),
            ("Symbol", 0xf0b4, Some('×')),
            ("Symbol", 0xf0b8, Some('÷')),
            ("Symbol", 0xf0b1, Some('±')),
            ("Symbol", 0xf0ae, Some('→')),
            ("Symbol", 0xf0e5, Some('∑')),
            ("Symbol", 0xf0f2, Some('∫')),
            ("Symbol", 0xf0fe, Some('⎭')),
            ("Symbol", 0xf0f0, None),
            ("Symbol", 0x1234_5678, None),
            ("Wingdings", 0xf0fc, Some('✓')),
            ("Wingdings", 0xf083, Some('③')),
            ("Wingdings 2", 0xf052, Some('☑')),
            ("Wingdings", 0xf0c3, None),
            ("Arial", 0x41, Some('A')),
            ("Arial", 0x07, None),
            ("", 0xf0e0, Some('→')),
        ] {
            assert_eq!(character(font, code), expected, "{font} {code:x}");
        }
    }
}
