//! The text of charts (ECMA-376 part 1, 21.2, and Office's later `chartex`): titles, and each
//! series as the values that were last shown.

use super::Error;
use super::drawing::{is_true, joined, paragraphs};
use super::workbook::dates::{Meaning, iso};
use super::workbook::formats::meaning;
use super::xml::{Element, Space, Xml};
use std::collections::BTreeMap;

/// Points that a series may have; more are data, not text.
const MAX_POINTS: usize = 100_000;

/// Titles, then series, on a line each.
pub(super) fn read(part: &str, text: &str) -> Result<String, Error> {
    let mut xml = Xml::new(part, text);
    let root = xml.root()?;
    let mut chart = Chart::default();
    chart.walk(&mut xml, &root)?;
    append(&mut chart.titles, "\n", &chart.series);
    Ok(chart.titles)
}

#[derive(Default)]
struct Chart {
    titles: String,
    series: String,
    dates_from_1904: bool,
}

#[derive(Default)]
struct Series {
    name: String,
    /// Of categories in several levels the innermost comes first.
    categories: Vec<Points>,
    values: Points,
}

/// Points by their index: a cache leaves out what is empty.
type Points = BTreeMap<u64, String>;

impl Chart {
    fn walk(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            match child.name() {
                // `chartex` keeps the name of a series, in `series`, apart from its data.
                (Space::Chart, "title" | "series") => {
                    words(xml, &child, "\n", &mut self.titles)?;
                }
                (Space::Chart, "date1904") => {
                    let value = xml.attribute(&child, "val")?;
                    self.dates_from_1904 = value.is_none_or(|value| is_true(&value));
                }
                (Space::Chart, "ser" | "data") => {
                    let line = series(xml, &child, self.dates_from_1904)?.line();
                    append(&mut self.series, "\n", &line);
                }
                (_, "extLst") => {}
                _ => self.walk(xml, &child)?,
            }
        }
        Ok(())
    }
}

impl Series {
    /// Such as `Millimetres: January 81.5, February 64`.
    fn line(&self) -> String {
        let innermost = self.categories.first();
        let points = match innermost.filter(|_| self.values.is_empty()) {
            Some(categories) => categories.keys().map(|index| (*index, "")).collect(),
            None => self
                .values
                .iter()
                .map(|(index, value)| (*index, &**value))
                .collect::<Vec<_>>(),
        };
        let mut line = self.name.clone();
        let mut separator = ": ";
        for (index, value) in points {
            let mut point = self.category(index);
            append(&mut point, " ", value);
            append(&mut line, separator, &point);
            separator = ", ";
        }
        line
    }

    /// What a point stands for, the outermost level first: a level that is not the innermost says
    /// only where something new begins.
    fn category(&self, index: u64) -> String {
        let mut category = String::new();
        for (level, points) in self.categories.iter().enumerate().rev() {
            let first = if level == 0 { index } else { 0 };
            let label = points.range(first..=index).next_back();
            append(&mut category, " ", label.map_or("", |(_, label)| label));
        }
        category
    }
}

/// Appends what is not blank, with the separator before it unless it comes first.
fn append(text: &mut String, separator: &str, more: &str) {
    if more.trim().is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push_str(separator);
    }
    text.push_str(more);
}

fn series(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    dates_from_1904: bool,
) -> Result<Series, Error> {
    let mut series = Series::default();
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Chart, "tx") => words(xml, &child, " ", &mut series.name)?,
            (Space::Chart, "cat" | "xVal" | "strDim") => {
                let mut cache = Cache::new(dates_from_1904);
                cache.read(xml, &child)?;
                series.categories = cache.levels;
            }
            (Space::Chart, "val" | "yVal" | "numDim") => {
                let mut cache = Cache::new(dates_from_1904);
                cache.read(xml, &child)?;
                series.values = cache.levels.swap_remove(0);
            }
            _ => {}
        }
    }
    Ok(series)
}

/// The points that were last shown.
struct Cache {
    /// Never empty; the first one is the innermost.
    levels: Vec<Points>,
    count: usize,
    /// What numbers are by their format.
    meaning: Meaning,
    dates_from_1904: bool,
}

impl Cache {
    fn new(dates_from_1904: bool) -> Self {
        Self {
            levels: vec![Points::new()],
            count: 0,
            meaning: Meaning::Number,
            dates_from_1904,
        }
    }

    fn read(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Chart, "pt") => self.point(xml, &child)?,
                (Space::Chart, "formatCode") => {
                    let mut code = String::new();
                    xml.text(&child, &mut code)?;
                    self.meaning = meaning(&code);
                }
                (Space::Chart, "lvl") => {
                    // The first level takes the place of none.
                    if self.levels.last().is_some_and(|level| !level.is_empty()) {
                        self.levels.push(Points::new());
                    }
                    self.read(xml, &child)?;
                }
                _ => self.read(xml, &child)?,
            }
        }
        Ok(())
    }

    fn point(&mut self, xml: &mut Xml<'_>, point: &Element<'_>) -> Result<(), Error> {
        if self.count == MAX_POINTS {
            return Err(xml.malformed(format!("a series has more than {MAX_POINTS} points")));
        }
        self.count += 1;
        let index = xml.attribute(point, "idx")?;
        let index = index.and_then(|index| index.parse().ok());
        let code = xml.attribute(point, "formatCode")?;
        let meaning = code.map_or(self.meaning, |code| meaning(&code));
        let text = point_text(xml, point)?;
        let date = match text.parse() {
            Ok(number) if meaning != Meaning::Number => iso(number, meaning, self.dates_from_1904),
            _ => None,
        };
        if let Some(level) = self.levels.last_mut() {
            let index = index.unwrap_or(level.len() as u64);
            level.entry(index).or_insert(date.unwrap_or(text));
        }
        Ok(())
    }
}

/// A point holds its text in a `v`, in `chartex` directly.
fn point_text(xml: &mut Xml<'_>, point: &Element<'_>) -> Result<String, Error> {
    let mut text = String::new();
    xml.deep_text(point, &mut text)?;
    Ok(shortened(text.trim()))
}

/// A number as Office shows it: with 15 significant digits, without the noise behind them.
fn shortened(value: &str) -> String {
    // One digit more than that, and a point.
    const NOISY: usize = 17;
    match value.parse::<f64>() {
        Ok(number) if value.len() >= NOISY && (1e-5..1e15).contains(&number.abs()) => {
            let rounded = format!("{number:.14e}").parse::<f64>();
            rounded.map_or_else(|_| value.to_owned(), |number| number.to_string())
        }
        _ => value.to_owned(),
    }
}

/// Rich text and cached values, each paragraph or value behind a separator.
fn words(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    separator: &str,
    text: &mut String,
) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Chart, "rich") => append(text, separator, &joined(&paragraphs(xml, &child)?)),
            (Space::Chart, "v") => {
                let mut value = String::new();
                xml.text(&child, &mut value)?;
                append(text, separator, &value);
            }
            // A series of `chartex` has its labels and formats behind its name.
            (Space::Chart, "dataLabels" | "dataPt") | (_, "extLst") => {}
            _ => words(xml, &child, separator, text)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(inside: &str) -> String {
        let text = format!(
            r#"<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"
            xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">{inside}</c:chartSpace>"#
        );
        read("chart.xml", &text).unwrap()
    }

    fn title(text: &str) -> String {
        format!(
            "<c:title><c:tx><c:rich><a:p><a:r><a:t>{text}</a:t></a:r></a:p></c:rich></c:tx></c:title>"
        )
    }

    #[test]
    fn titles_stand_before_series() {
        let inside = format!(
            "<c:chart>{}<c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:f>Sheet1!B1</c:f><c:strCache>\
             <c:pt idx=\"0\"><c:v>Millimetres</c:v></c:pt></c:strCache></c:strRef></c:tx>\
             <c:cat><c:strRef><c:strCache><c:pt idx=\"0\"><c:v>January</c:v></c:pt>\
             <c:pt idx=\"1\"><c:v>February</c:v></c:pt></c:strCache></c:strRef></c:cat>\
             <c:val><c:numRef><c:numCache><c:formatCode>General</c:formatCode><c:ptCount val=\"2\"/>\
             <c:pt idx=\"0\"><c:v>81.5</c:v></c:pt><c:pt idx=\"1\"><c:v>64</c:v></c:pt></c:numCache></c:numRef></c:val>\
             </c:ser></c:barChart><c:catAx>{}</c:catAx></c:plotArea></c:chart>",
            title("Rainfall"),
            title("Month"),
        );
        assert_eq!(
            lines(&inside),
            "Rainfall\nMonth\nMillimetres: January 81.5, February 64"
        );
    }

    #[test]
    fn numbers_lose_their_noise_only() {
        for (value, shown) in [
            ("4.4000000000000004", "4.4"),
            ("8.200000000000001", "8.2"),
            ("-0.30000000000000004", "-0.3"),
            ("2.0", "2.0"),
            ("0.333333333333333", "0.333333333333333"),
            ("a long category name", "a long category name"),
            ("1.0000000000000000e300", "1.0000000000000000e300"),
        ] {
            assert_eq!(shortened(value), shown);
        }
    }

    #[test]
    fn series_without_names_or_categories_still_count() {
        let values = "<c:val><c:numLit><c:pt idx=\"1\"><c:v>2</c:v></c:pt></c:numLit></c:val>";
        assert_eq!(lines(&format!("<c:ser>{values}</c:ser><c:ser/>")), "2");
    }

    fn cache(kind: &str, format: &str, points: &[(u64, &str)]) -> String {
        let point = |(index, value): &(u64, &str)| {
            format!("<c:pt idx=\"{index}\"><c:v>{value}</c:v></c:pt>")
        };
        let points: String = points.iter().map(point).collect();
        format!(
            "<c:{kind}><c:numRef><c:numCache><c:formatCode>{format}</c:formatCode>{points}</c:numCache></c:numRef></c:{kind}>"
        )
    }

    #[test]
    fn dates_are_told_by_their_format() {
        let series = |before: &str, format: &str| {
            let days = cache("cat", format, &[(0, "46204"), (1, "46205")]);
            let values = cache("val", "General", &[(0, "1"), (1, "2")]);
            lines(&format!("{before}<c:ser>{days}{values}</c:ser>"))
        };
        assert_eq!(series("", "d/m/yyyy"), "2026-07-01 1, 2026-07-02 2");
        assert_eq!(series("", "General"), "46204 1, 46205 2");
        let later = series("<c:date1904 val=\"1\"/>", "yyyy");
        assert_eq!(later, "2030-07-02 1, 2030-07-03 2");
    }

    #[test]
    fn points_without_a_category_stand_apart() {
        let categories = cache("cat", "General", &[(0, "Jan"), (1, " ")]);
        let values = cache("val", "General", &[(0, "1"), (1, "2"), (2, "3")]);
        assert_eq!(
            lines(&format!("<c:ser>{categories}{values}</c:ser>")),
            "Jan 1, 2, 3"
        );
    }

    #[test]
    fn categories_in_levels_name_all_of_them() {
        let level = |points: &[(u64, &str)]| {
            let point = |(index, text): &(u64, &str)| {
                format!("<c:pt idx=\"{index}\"><c:v>{text}</c:v></c:pt>")
            };
            format!(
                "<c:lvl>{}</c:lvl>",
                points.iter().map(point).collect::<String>()
            )
        };
        let inner = level(&[(0, "Q1"), (1, "Q2"), (2, "Q1"), (3, "Q2")]);
        let outer = level(&[(0, "2025"), (2, "2026")]);
        let categories = format!(
            "<c:cat><c:multiLvlStrRef><c:multiLvlStrCache>{inner}{outer}</c:multiLvlStrCache></c:multiLvlStrRef></c:cat>"
        );
        let values = cache("val", "General", &[(0, "1"), (1, "2"), (2, "3"), (3, "4")]);
        assert_eq!(
            lines(&format!("<c:ser>{categories}{values}</c:ser>")),
            "2025 Q1 1, 2025 Q2 2, 2026 Q1 3, 2026 Q2 4"
        );
    }
}
