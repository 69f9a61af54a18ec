//! Numbers in words, as Word writes them before items of lists (ECMA-376 part 1, 17.18.59,
//! `cardinalText` and `ordinalText`); in English, whatever the language of the text.

/// Beyond this nobody counts in words.
const MOST: u64 = 999_999;

const SMALL: [(&str, &str); 20] = [
    ("zero", "zeroth"),
    ("one", "first"),
    ("two", "second"),
    ("three", "third"),
    ("four", "fourth"),
    ("five", "fifth"),
    ("six", "sixth"),
    ("seven", "seventh"),
    ("eight", "eighth"),
    ("nine", "ninth"),
    ("ten", "tenth"),
    ("eleven", "eleventh"),
    ("twelve", "twelfth"),
    ("thirteen", "thirteenth"),
    ("fourteen", "fourteenth"),
    ("fifteen", "fifteenth"),
    ("sixteen", "sixteenth"),
    ("seventeen", "seventeenth"),
    ("eighteen", "eighteenth"),
    ("nineteen", "nineteenth"),
];
const TENS: [&str; 8] = [
    "twent", "thirt", "fort", "fift", "sixt", "sevent", "eight", "ninet",
];

/// `Twenty-one`.
pub(super) fn cardinal(number: u64) -> String {
    capital(words(number, false))
}

/// `Twenty-first`.
pub(super) fn ordinal(number: u64) -> String {
    capital(words(number, true))
}

fn words(number: u64, is_ordinal: bool) -> String {
    match number {
        0..20 => {
            let (cardinal, ordinal) = SMALL[number as usize];
            if is_ordinal { ordinal } else { cardinal }.to_owned()
        }
        20..100 => {
            let ten = TENS[(number / 10 - 2) as usize];
            match number % 10 {
                0 if is_ordinal => format!("{ten}ieth"),
                0 => format!("{ten}y"),
                one => format!("{ten}y-{}", words(one, is_ordinal)),
            }
        }
        100..1000 => composed(number, 100, "hundred", is_ordinal),
        1000..=MOST => composed(number, 1000, "thousand", is_ordinal),
        _ => number.to_string(),
    }
}

fn composed(number: u64, unit: u64, name: &str, is_ordinal: bool) -> String {
    let count = words(number / unit, false);
    match number % unit {
        0 if is_ordinal => format!("{count} {name}th"),
        0 => format!("{count} {name}"),
        rest => format!("{count} {name} {}", words(rest, is_ordinal)),
    }
}

fn capital(mut words: String) -> String {
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_words() {
        for (number, one, first) in [
            (0, "Zero", "Zeroth"),
            (1, "One", "First"),
            (12, "Twelve", "Twelfth"),
            (20, "Twenty", "Twentieth"),
            (21, "Twenty-one", "Twenty-first"),
            (80, "Eighty", "Eightieth"),
            (100, "One hundred", "One hundredth"),
            (345, "Three hundred forty-five", "Three hundred forty-fifth"),
            (2_012, "Two thousand twelve", "Two thousand twelfth"),
            (
                999_999,
                "Nine hundred ninety-nine thousand nine hundred ninety-nine",
                "Nine hundred ninety-nine thousand nine hundred ninety-ninth",
            ),
            (1_000_000, "1000000", "1000000"),
        ] {
            assert_eq!((&*cardinal(number), &*ordinal(number)), (one, first));
        }
    }
}
