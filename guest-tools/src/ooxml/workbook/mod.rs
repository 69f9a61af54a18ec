//! Excel workbooks (ECMA-376 part 1, 12 and 18): the values of cells as they were last saved.
//!
//! Read on the package and XML layers of this module and not with a crate of its own: their
//! budgets hold here as well, and only the sheets that are asked for are inflated.

mod beside;
mod collected;
pub(super) mod dates;
pub(super) mod formats;
mod formulas;
mod links;
mod markdown;
mod place;
mod sheet;
mod strings;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use place::Range;
#[cfg(test)]
pub(crate) use place::letters;
#[cfg(test)]
pub(crate) use sheet::Row;
pub(crate) use sheet::Sheet;

use super::package::Package;
use super::relationships::Relationships;
use super::sniff::{self, Kind};
use super::warnings::Warnings;
use super::xml::{Element, Space, Xml};
use super::zip::MAX_ENTRIES;
use super::{Error, check};
use beside::Persons;
use formats::Formats;
use schemars::JsonSchema;
use serde::Serialize;
use sheet::{Book, Window};
use std::borrow::Cow;
use std::io::{BufRead, Seek};
use strings::Strings;

/// What of a workbook is read.
pub(crate) struct WorkbookOptions<'a> {
    /// The name of one sheet; all when there is none.
    pub(crate) sheet: Option<&'a str>,
    pub(crate) range: Range,
    /// Rows that are answered at most, of all sheets together.
    pub(crate) limit: usize,
    /// Bytes of JSON that their rows may take; as many as fit when there is none.
    pub(crate) page_bytes: Option<usize>,
    /// Where to go on.
    pub(crate) start: Position,
    /// Formulas too, beside the values that they had.
    pub(crate) with_formulas: bool,
    /// Where links lead, written into the values as in Markdown.
    pub(crate) with_links: bool,
}

impl Default for WorkbookOptions<'_> {
    /// All sheets from the start, as many rows as fit.
    fn default() -> Self {
        Self {
            sheet: None,
            range: Range::default(),
            limit: usize::MAX,
            page_bytes: None,
            start: Position::default(),
            with_formulas: false,
            with_links: false,
        }
    }
}

/// A row of a workbook: its sheet, by its place among all of them, and its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) sheet: usize,
    pub(crate) row: u32,
}

/// A workbook.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Workbook {
    pub(crate) sheets: Vec<Sheet>,
    /// How many sheets there are, whether they were read or not.
    pub(crate) count: usize,
    /// The first row that there was no room for.
    #[serde(skip)]
    pub(crate) next: Option<Position>,
    /// What could not be read.
    pub(crate) warnings: Vec<String>,
}

/// Why the sheet that was asked for is not read.
#[derive(Debug)]
pub(crate) enum WorkbookError {
    Document(Error),
    /// There is no sheet of that name, but there are these.
    NoSuchSheet(Vec<String>),
}

impl From<Error> for WorkbookError {
    fn from(error: Error) -> Self {
        Self::Document(error)
    }
}

/// A sheet as the workbook lists it.
#[derive(Clone, Debug)]
struct Listed {
    name: String,
    visibility: String,
    /// The relationship that leads to its part.
    id: String,
}

/// Reads a workbook.
///
/// # Errors
/// [`Error::Malformed`] when the package or every one of its sheets is broken,
/// [`Error::Unsupported`] for other documents, [`Error::Limit`] for bombs; and when the sheet
/// that was asked for does not exist.
pub(crate) fn read_xlsx(
    reader: impl BufRead + Seek,
    options: &WorkbookOptions<'_>,
) -> Result<Workbook, WorkbookError> {
    let mut package = Package::open(reader)?;
    let main = package.main_part()?;
    let text = package.part(&main)?;
    read_main(package, &main, &text, options)
}

/// Reads a workbook whose main part has been read.
pub(super) fn read_main(
    mut package: Package<impl BufRead + Seek>,
    main: &str,
    text: &str,
    options: &WorkbookOptions<'_>,
) -> Result<Workbook, WorkbookError> {
    let (listed, dates_from_1904) = list(main, text)?;
    let links = package.relationships(main)?;
    let mut reading = Reading {
        package,
        links,
        warnings: Warnings::default(),
        book: Book {
            strings: Strings::default(),
            formats: Formats::default(),
            dates_from_1904,
        },
        window: Window::new(options),
        persons: Persons::default(),
        sheets: Vec::new(),
    };
    reading.definitions()?;
    reading.sheets(&listed, options)?;
    reading.finish(listed.len())
}

/// The sheets in their order, and whether dates count from 1904.
fn list(main: &str, text: &str) -> Result<(Vec<Listed>, bool), Error> {
    let mut xml = Xml::new(main, text);
    let root = xml.root()?;
    if Kind::of_root(root.name()) != Some(Kind::Workbook) {
        return Err(sniff::other_main_part(main, root.name()));
    }
    let mut sheets = Vec::new();
    let mut dates_from_1904 = false;
    while let Some(child) = xml.child(&root)? {
        match child.name() {
            (Space::Sheet, "workbookPr") => {
                let value = xml.attribute(&child, "date1904")?;
                dates_from_1904 = value.is_some_and(|value| value == "1" || value == "true");
            }
            (Space::Sheet, "sheets") => {
                while let Some(sheet) = xml.child(&child)? {
                    check("sheets", MAX_ENTRIES, sheets.len() as u64 + 1)?;
                    sheets.push(listed(&xml, &sheet)?);
                }
            }
            _ => {}
        }
    }
    Ok((sheets, dates_from_1904))
}

fn listed(xml: &Xml<'_>, sheet: &Element<'_>) -> Result<Listed, Error> {
    let id = xml.attribute_in(sheet, Space::Relationships, "id")?;
    let visibility = xml.attribute(sheet, "state")?;
    let name = xml.attribute(sheet, "name")?;
    Ok(Listed {
        name: name.unwrap_or_default().into_owned(),
        visibility: visibility.unwrap_or(Cow::Borrowed("visible")).into_owned(),
        id: id.unwrap_or_default().into_owned(),
    })
}

/// A workbook that is being read.
struct Reading<R> {
    package: Package<R>,
    links: Relationships,
    warnings: Warnings,
    book: Book,
    window: Window,
    persons: Persons,
    sheets: Vec<Sheet>,
}

impl<R: BufRead + Seek> Reading<R> {
    fn definitions(&mut self) -> Result<(), Error> {
        let part = self.package.first_linked(&self.links, "sharedStrings");
        let strings = part.and_then(|part| match part {
            Some((part, text)) => Strings::parse(&part, &text),
            None => Ok(Strings::default()),
        });
        let strings = self.warnings.unless("its strings", strings)?;
        self.book.strings = strings.unwrap_or_default();
        let part = self.package.first_linked(&self.links, "styles");
        let formats = part.and_then(|part| match part {
            Some((part, text)) => Formats::parse(&part, &text),
            None => Ok(Formats::default()),
        });
        let formats = self.warnings.unless("its formats", formats)?;
        self.book.formats = formats.unwrap_or_default();
        let persons = Persons::read(&mut self.package, &self.links);
        let persons = self.warnings.unless("its persons", persons)?;
        self.persons = persons.unwrap_or_default();
        Ok(())
    }

    /// Reads the sheets. One that cannot be read is a warning as long as another one can.
    fn sheets(
        &mut self,
        listed: &[Listed],
        options: &WorkbookOptions<'_>,
    ) -> Result<(), WorkbookError> {
        let is_wanted = |sheet: &Listed| options.sheet.is_none_or(|name| sheet.name == name);
        if !listed.iter().any(is_wanted) && options.sheet.is_some() {
            let names = listed.iter().map(|sheet| sheet.name.clone());
            return Err(WorkbookError::NoSuchSheet(names.collect()));
        }
        let mut first_error = None;
        for (index, sheet) in listed.iter().enumerate().skip(options.start.sheet) {
            if !is_wanted(sheet) || self.window.is_closed() {
                continue;
            }
            self.window.enter(index, options);
            let read = self.sheet(sheet, options);
            match read {
                Ok(read) => self.sheets.push(read),
                Err(error) if error.concerns_one_part() => {
                    self.warn(sheet, &error.message());
                    first_error.get_or_insert(error);
                }
                Err(error) => return Err(error.into()),
            }
        }
        match first_error {
            Some(error) if self.sheets.is_empty() => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn sheet(&mut self, listed: &Listed, options: &WorkbookOptions<'_>) -> Result<Sheet, Error> {
        let part = self.links.by_id(&listed.id).ok_or_else(|| {
            let id = super::shown(&listed.id);
            let problem = format!("the list of sheets names `{id}`, which leads nowhere");
            Error::malformed("the workbook", problem)
        })?;
        let text = self.package.sheet(part)?;
        let mut xml = Xml::new(part, &text);
        let root = xml.root()?;
        let mut sheet = Sheet::new(&listed.name, &listed.visibility);
        let mut is_drawing = false;
        match root.name() {
            (Space::Sheet, "worksheet") => {
                sheet.read(&mut xml, &root, &self.book, &mut self.window)?
            }
            (Space::Sheet, "chartsheet" | "dialogsheet") => is_drawing = true,
            (_, name) => {
                let problem = format!("its root element is `{}`", super::shown(name));
                return Err(Error::in_part(part, problem));
            }
        }
        let (part, package, warnings) = (part.to_owned(), &mut self.package, &mut self.warnings);
        beside::read(
            &mut sheet,
            &part,
            package,
            &self.persons,
            &self.window,
            warnings,
        )?;
        if is_drawing && sheet.drawings.is_empty() {
            self.warn(listed, "it is a chart or a dialog, and has no cells");
        }
        for warning in sheet.oddities.warnings(options.with_formulas) {
            self.warn(listed, &warning);
        }
        Ok(sheet)
    }

    fn warn(&mut self, sheet: &Listed, what: &str) {
        let name = super::shown(&sheet.name);
        self.warnings.push(&format!("sheet `{name}`: {what}"));
    }

    fn finish(mut self, count: usize) -> Result<Workbook, WorkbookError> {
        if self.sheets.iter().all(Sheet::is_empty) {
            self.warnings
                .push("no cell in what was asked for holds anything");
        }
        Ok(Workbook {
            sheets: self.sheets,
            count,
            next: self.window.next,
            warnings: self.warnings.into_list(),
        })
    }
}
