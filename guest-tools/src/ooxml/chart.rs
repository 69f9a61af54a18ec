//! The text of charts (ECMA-376 part 1, 21.2, and Office's later `chartex`): titles, and each
//! series as the values that were last shown.

use super::Error;
use super::drawing::paragraphs;
use super::xml::{Element, Space, Xml};
use std::collections::BTreeMap;

/// Points that a chart may have; more are no text for anybody.
const MAX_POINTS: usize = 100_000;

/// One line for each title, then one for each series.
pub(super) fn read(part: &str, text: &str) -> Result<String, Error> {
    let mut xml = Xml::new(part, text);
    let root = xml.root()?;
    let mut chart = Chart::default();
    chart.walk(&mut xml, &root)?;
    if chart.points > MAX_POINTS {
        let problem = format!("it has more than {MAX_POINTS} points");
        return Err(Error::in_part(part, problem));
    }
    chart.titles.append(&mut chart.series);
    Ok(chart.titles.join("\n"))
}

/// Points by their index: a cache leaves out what is empty.
type Points = BTreeMap<u64, String>;

#[derive(Default)]
struct Chart {
    titles: Vec<String>,
    series: Vec<String>,
    /// Counted on even when there are too many to be kept.
    points: usize,
}

#[derive(Default)]
struct Series {
    name: String,
    categories: Points,
    values: Points,
}

impl Chart {
    fn walk(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            match child.name() {
                (Space::Chart, "title") => self.titles.extend(words(xml, &child)?),
                // `chartex` keeps the names of series apart from their data.
                (Space::Chart, "series") => self.titles.extend(words(xml, &child)?),
                (Space::Chart, "ser" | "data") => self.series.extend(series(xml, &child)?.line()),
                (_, "extLst") => {}
                _ => self.walk(xml, &child)?,
            }
        }
        Ok(())
    }
}

impl Series {
    /// Such as `Millimetres: January 81.5, February 64`.
    fn line(&self) -> Option<String> {
        let points = if self.values.is_empty() {
            &self.categories
        } else {
            &self.values
        };
        let points: Vec<_> = points
            .iter()
            .map(|(index, value)| self.point(*index, value))
            .collect();
        let points = points.join(", ");
        match (self.name.is_empty(), points.is_empty()) {
            (true, true) => None,
            (true, false) => Some(points),
            (false, true) => Some(self.name.clone()),
            (false, false) => Some(format!("{}: {points}", self.name)),
        }
    }

    fn point(&self, index: u64, value: &str) -> String {
        match self.categories.get(&index) {
            Some(category) if !self.values.is_empty() => format!("{category} {value}"),
            _ => value.to_owned(),
        }
    }
}

fn series(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Series, Error> {
    let mut series = Series::default();
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Chart, "tx") => series.name = words(xml, &child)?.join(" "),
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
fn points(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    found: &mut Points,
) -> Result<(), Error> {
    while let Some(child) = xml.child(element)? {
        if child.name() != (Space::Chart, "pt") {
            points(xml, &child, found)?;
            continue;
        }
        let index = xml.attribute(&child, "idx")?;
        let index = index.and_then(|index| index.parse().ok());
        let text = point_text(xml, &child)?;
        found
            .entry(index.unwrap_or(found.len() as u64))
            .or_insert(text);
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
        Ok(number) if value.len() >= NOISY && number.is_finite() => {
            let rounded = format!("{number:.14e}").parse::<f64>();
            rounded.map_or_else(|_| value.to_owned(), |number| number.to_string())
        }
        _ => value.to_owned(),
    }
}

/// Rich text and cached values, each paragraph or value on its own.
fn words(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Vec<String>, Error> {
    let mut words = Vec::new();
    while let Some(child) = xml.child(element)? {
        match child.name() {
            (Space::Chart, "rich") => words.extend(paragraphs(xml, &child)?),
            (Space::Chart, "v") => {
                let mut value = String::new();
                xml.text(&child, &mut value)?;
                words.push(value);
            }
            // A series of `chartex` has its labels and formats behind its name.
            (Space::Chart, "dataLabels" | "dataPt") | (_, "extLst") => {}
            _ => words.extend(self::words(xml, &child)?),
        }
    }
    words.retain(|word| !word.trim().is_empty());
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(inside: &str) -> Vec<String> {
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
            [
                "Rainfall",
                "Month",
                "Millimetres: January 81.5, February 64"
            ]
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
            ("12345678901234567890123", "12345678901234600000000"),
        ] {
            assert_eq!(shortened(value), shown);
        }
    }

    #[test]
    fn series_without_names_or_categories_still_count() {
        let values = "<c:val><c:numLit><c:pt idx=\"1\"><c:v>2</c:v></c:pt></c:numLit></c:val>";
        assert_eq!(lines(&format!("<c:ser>{values}</c:ser><c:ser/>")), ["2"]);
    }
}
