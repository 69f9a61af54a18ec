//! The text of charts (ECMA-376 part 1, 21.2, and Office's later `chartex`): titles, and each
//! series as the values that were last shown.

use super::Error;
use super::drawing::{joined, paragraphs};
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
}

#[derive(Default)]
struct Series {
    name: String,
    categories: Points,
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
                (Space::Chart, "ser" | "data") => {
                    let line = series(xml, &child)?.line();
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
        let no_values = self.values.is_empty();
        let points = if no_values {
            &self.categories
        } else {
            &self.values
        };
        let mut line = self.name.clone();
        let mut separator = ": ";
        for (index, value) in points {
            match self.categories.get(index) {
                Some(category) if !no_values => {
                    append(&mut line, separator, category);
                    append(&mut line, " ", value);
                }
                _ => append(&mut line, separator, value),
            }
            separator = ", ";
        }
        line
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

fn series(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Series, Error> {
    let mut series = Series::default();
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Chart, "tx") => words(xml, &child, " ", &mut series.name)?,
            (Space::Chart, "cat" | "xVal" | "strDim") => {
                points(xml, &child, &mut series.categories)?;
            }
            (Space::Chart, "val" | "yVal" | "numDim") => points(xml, &child, &mut series.values)?,
            _ => {}
        }
    }
    Ok(series)
}

/// The cached points. Of categories in several levels the first, which is the innermost, counts.
fn points(xml: &mut Xml<'_>, element: &Element<'_>, found: &mut Points) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        if child.name() != (Space::Chart, "pt") {
            points(xml, &child, found)?;
            continue;
        }
        if found.len() == MAX_POINTS {
            return Err(xml.malformed(format!("a series has more than {MAX_POINTS} points")));
        }
        let index = xml.attribute(&child, "idx")?;
        let index = index.and_then(|index| index.parse().ok());
        let text = point_text(xml, &child)?;
        let index = index.unwrap_or(found.len() as u64);
        found.entry(index).or_insert(text);
    }
    Ok(())
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
}
