//! Equations (ECMA-376 part 1, 22.1) on one line, as one would type them: `(a+b)/2`, `x^2`, `√(x)`.

use super::Error;
use super::xml::{Element, Space, Xml};
use std::borrow::Cow;

/// Appends an equation.
pub(super) fn push(
    xml: &mut Xml<'_>,
    element: &Element<'_>,
    text: &mut String,
) -> Result<(), Error> {
    match element.name() {
        (Space::Math, "t") => xml.text(element, text)?,
        (Space::Math, "f") => parts(xml, element)?.fraction(text),
        (Space::Math, "sSup" | "sSub" | "sSubSup" | "limLow" | "limUpp" | "sPre") => {
            parts(xml, element)?.script(text);
        }
        (Space::Math, "rad") => parts(xml, element)?.root(text),
        (Space::Math, "nary") => parts(xml, element)?.operator(text),
        (Space::Math, "d") => parts(xml, element)?.enclosed(text),
        (Space::Math, "m") => parts(xml, element)?.listed("[", "]", "; ", text),
        (Space::Math, "mr") => parts(xml, element)?.listed("", "", ", ", text),
        (Space::Math, "eqArr") => parts(xml, element)?.listed("", "", "; ", text),
        (Space::Math, name) if name.ends_with("Pr") => {}
        // Runs, functions, boxes, accents: what they hold, in order.
        (Space::Math, _) => {
            while let Some(child) = xml.child(element)? {
                push(xml, &child, text)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The parts of a construct by what they are for.
#[derive(Default)]
struct Parts {
    bases: Vec<String>,
    numerator: String,
    denominator: String,
    lower: String,
    upper: String,
    degree: String,
    /// Signs that its properties name: the operator, or what encloses.
    sign: Option<String>,
    begin: Option<String>,
    end: Option<String>,
    separator: Option<String>,
}

fn parts(xml: &mut Xml<'_>, element: &Element<'_>) -> Result<Parts, Error> {
    let mut parts = Parts::default();
    while let Some(child) = xml.child(element)? {
        let (space, name) = child.name();
        if space == Space::Math && name.ends_with("Pr") {
            parts.properties(xml, &child)?;
            continue;
        }
        let name = name.to_owned();
        let mut text = String::new();
        push(xml, &child, &mut text)?;
        match &*name {
            "num" => parts.numerator = text,
            "den" => parts.denominator = text,
            "sub" => parts.lower = text,
            "sup" => parts.upper = text,
            "lim" => parts.lower = text,
            "deg" => parts.degree = text,
            _ => parts.bases.push(text),
        }
    }
    Ok(parts)
}

impl Parts {
    fn properties(&mut self, xml: &mut Xml<'_>, element: &Element<'_>) -> Result<(), Error> {
        while let Some(child) = xml.child(element)? {
            let value = xml.attribute_in(&child, Space::Math, "val")?;
            match child.name() {
                (Space::Math, "chr") => self.sign = value.map(Cow::into_owned),
                (Space::Math, "begChr") => self.begin = value.map(Cow::into_owned),
                (Space::Math, "endChr") => self.end = value.map(Cow::into_owned),
                (Space::Math, "sepChr") => self.separator = value.map(Cow::into_owned),
                _ => {}
            }
        }
        Ok(())
    }

    fn fraction(&self, text: &mut String) {
        group(&self.numerator, text);
        text.push('/');
        group(&self.denominator, text);
    }

    fn script(&self, text: &mut String) {
        self.bases.iter().for_each(|base| text.push_str(base));
        self.scripts(text);
    }

    fn scripts(&self, text: &mut String) {
        for (mark, part) in [('_', &self.lower), ('^', &self.upper)] {
            if !part.is_empty() {
                text.push(mark);
                group(part, text);
            }
        }
    }

    fn root(&self, text: &mut String) {
        text.push('√');
        if !self.degree.is_empty() {
            text.push('[');
            text.push_str(&self.degree);
            text.push(']');
        }
        text.push('(');
        self.bases.iter().for_each(|base| text.push_str(base));
        text.push(')');
    }

    fn operator(&self, text: &mut String) {
        // Without one it is an integral (22.1.2.70).
        text.push_str(self.sign.as_deref().unwrap_or("∫"));
        self.scripts(text);
        text.push(' ');
        self.bases.iter().for_each(|base| text.push_str(base));
    }

    fn enclosed(&self, text: &mut String) {
        let begin = self.begin.as_deref().unwrap_or("(");
        let end = self.end.as_deref().unwrap_or(")");
        let separator = self.separator.as_deref().unwrap_or("|");
        self.listed(begin, end, separator, text);
    }

    fn listed(&self, begin: &str, end: &str, separator: &str, text: &mut String) {
        text.push_str(begin);
        text.push_str(&self.bases.join(separator));
        text.push_str(end);
    }
}

/// A part, in parentheses unless it is one number or one word.
fn group(part: &str, text: &mut String) {
    let part = part.trim();
    if part.chars().all(|c| c.is_alphanumeric() || c == '.') {
        text.push_str(part);
    } else {
        text.push('(');
        text.push_str(part);
        text.push(')');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(inside: &str) -> String {
        let text = format!(
            r#"<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">{inside}</m:oMath>"#
        );
        let mut xml = Xml::new("math", &text);
        let root = xml.root().unwrap();
        let mut line = String::new();
        push(&mut xml, &root, &mut line).unwrap();
        line
    }

    fn part(name: &str, text: &str) -> String {
        format!("<m:{name}><m:r><m:t>{text}</m:t></m:r></m:{name}>")
    }

    #[test]
    fn equations_are_one_line() {
        let fraction = |top: &str, bottom: &str| {
            format!(
                "<m:f><m:fPr/>{}{}</m:f>",
                part("num", top),
                part("den", bottom)
            )
        };
        let power = format!("<m:sSup>{}{}</m:sSup>", part("e", "x"), part("sup", "n+1"));
        let sum = format!(
            "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr>{}{}{}</m:nary>",
            part("sub", "k=1"),
            part("sup", "n"),
            part("e", "k")
        );
        for (inside, expected) in [
            (part("r", "x"), "x"),
            (fraction("a+b", "2"), "(a+b)/2"),
            (power, "x^(n+1)"),
            (sum, "∑_(k=1)^n k"),
            (format!("<m:rad><m:deg/>{}</m:rad>", part("e", "x")), "√(x)"),
            (
                format!("<m:d>{}{}</m:d>", part("e", "n"), part("e", "k")),
                "(n|k)",
            ),
            (
                format!(
                    "<m:func>{}{}</m:func>",
                    part("fName", "log "),
                    part("e", "x")
                ),
                "log x",
            ),
            (
                format!(
                    "<m:m><m:mr>{}{}</m:mr><m:mr>{}</m:mr></m:m>",
                    part("e", "a"),
                    part("e", "b"),
                    part("e", "c")
                ),
                "[a, b; c]",
            ),
        ] {
            assert_eq!(line(&inside), expected);
        }
    }
}
