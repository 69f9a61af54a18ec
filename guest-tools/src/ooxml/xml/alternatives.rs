//! `mc:AlternateContent` (ECMA-376 part 3): one of several branches, the rest is passed over.

use super::{Element, Error, MAX_DEPTH, Space, Xml, check};
use quick_xml::events::BytesStart;
use quick_xml::name::{Namespace, QName, ResolveResult};
use quick_xml::reader::NsReader;

/// What the namespaces of Office's own extensions start with.
const OFFICE_EXTENSIONS: &str = "http://schemas.microsoft.com/office/";

/// Bytes of a branch passed over that count as one node of XML.
pub(super) const SKIPPED_NODE: u64 = 8;

/// An open element, with its name as it stands in the part.
pub(super) enum Open<'a> {
    /// One that the caller sees.
    Element(&'a str),
    /// `mc:AlternateContent`, of which a branch has been taken or not.
    Alternatives {
        name: &'a str,
        taken: bool,
        /// Where the first choice begins, in case none is understood and there is no fallback.
        first: Option<(&'a str, Box<NsReader<&'a [u8]>>)>,
    },
    /// The branch that was taken.
    Branch(&'a str),
}

impl<'a> Xml<'a> {
    /// Notes that an element is open, and hands it out if the caller is to see it.
    pub(super) fn open(&mut self, start: BytesStart<'a>) -> Result<Option<Element<'a>>, Error> {
        check("XML depth", MAX_DEPTH as u64, self.open.len() as u64 + 1)?;
        self.check_attributes(&start)?;
        let space = self.space_of(&start)?;
        match (space, start.local_name().into_inner()) {
            (Space::Compatibility, "AlternateContent") => {
                self.open.push(Open::Alternatives {
                    name: self.name_in_part(&start),
                    taken: false,
                    first: None,
                });
                Ok(None)
            }
            (Space::Compatibility, "Choice") => self.choice(&start).map(|()| None),
            (Space::Compatibility, "Fallback") => self.branch(&start, true).map(|()| None),
            _ => {
                self.open.push(Open::Element(self.name_in_part(&start)));
                self.level += 1;
                let level = self.level;
                Ok(Some(Element {
                    space,
                    start,
                    level,
                }))
            }
        }
    }

    /// Notes that the innermost element has ended, and says whether the caller saw it.
    pub(super) fn close(&mut self) -> bool {
        match self.open.pop() {
            Some(Open::Element(_)) => {
                self.level -= 1;
                true
            }
            Some(Open::Alternatives {
                name,
                taken: false,
                first: Some((branch, first)),
            }) => {
                self.reader = *first;
                let (taken, first) = (true, None);
                self.open.push(Open::Alternatives { name, taken, first });
                self.open.push(Open::Branch(branch));
                false
            }
            _ => false,
        }
    }

    fn choice(&mut self, start: &BytesStart<'a>) -> Result<(), Error> {
        let is_understood = self.understands(start)?;
        let name = self.name_in_part(start);
        if let Some(Open::Alternatives {
            taken: false,
            first: first @ None,
            ..
        }) = self.open.last_mut()
            && !is_understood
        {
            *first = Some((name, Box::new(self.reader.clone())));
        }
        self.branch(start, is_understood)
    }

    /// Takes a branch if it is acceptable and the first one that is, else passes over it.
    fn branch(&mut self, start: &BytesStart<'a>, is_acceptable: bool) -> Result<(), Error> {
        let name = self.name_in_part(start);
        if let Some(Open::Alternatives { taken, first, .. }) = self.open.last_mut()
            && !*taken
            && is_acceptable
        {
            *taken = true;
            // Readers are large: at most one is kept, however deep alternatives are nested.
            *first = None;
            self.open.push(Open::Branch(name));
            return Ok(());
        }
        let skipped = self.reader.read_to_end(start.name());
        let skipped = skipped.map_err(|error| self.malformed(error))?;
        // A branch that is passed over and taken after all is read again, and so are those in it.
        self.nodes += (skipped.end - skipped.start) / SKIPPED_NODE;
        Ok(())
    }

    /// Whether a choice is better than what stands in for it.
    ///
    /// Extensions by Office itself are: they hold the text in full, as with equations, where
    /// their fallback is a picture or "this chart isn't available in your version". VML, which
    /// Office gave up, has the same text in its fallback.
    fn understands(&self, start: &BytesStart<'_>) -> Result<bool, Error> {
        let requires = start.try_get_attribute("Requires");
        let requires = requires.map_err(|error| self.malformed(error))?;
        let Some(requires) = requires else {
            return Ok(false);
        };
        let is_ours = |prefix: &str| {
            let name = format!("{prefix}:any");
            let (resolved, _) = self.reader.resolver().resolve_element(QName(&name));
            matches!(resolved, ResolveResult::Bound(Namespace(uri)) if uri.starts_with(OFFICE_EXTENSIONS))
        };
        Ok(requires.value.split_ascii_whitespace().all(is_ours))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::walked;

    #[test]
    fn exactly_one_branch_is_taken() {
        let content = |choice: &str, fallback: &str| {
            format!("<mc:AlternateContent>{choice}{fallback}</mc:AlternateContent><z/>")
        };
        let ours = r#"<mc:Choice Requires="a14"><c>ours</c></mc:Choice>"#;
        let foreign = r#"<mc:Choice Requires="a14 x"><c>foreign</c></mc:Choice>"#;
        let fallback = "<mc:Fallback><f>fallback</f></mc:Fallback>";
        for (content, taken) in [
            (content(ours, fallback), "c=ours z= "),
            (content(foreign, fallback), "f=fallback z= "),
            (content(&format!("{foreign}{ours}"), fallback), "c=ours z= "),
            (content(&format!("{ours}{foreign}"), ""), "c=ours z= "),
            (content(foreign, ""), "c=foreign z= "),
            (content(&format!("{foreign}{foreign}"), ""), "c=foreign z= "),
            (content("", ""), "z= "),
            (
                content("<mc:Choice Requires=\"v\"/>", fallback),
                "f=fallback z= ",
            ),
        ] {
            assert_eq!(walked(&content).as_deref(), Ok(taken), "{content}");
        }
    }

    #[test]
    fn alternatives_stand_inside_one_another() {
        let inner = r#"<mc:AlternateContent><mc:Choice Requires="x"><c>in</c></mc:Choice></mc:AlternateContent>"#;
        let outer = format!(
            r#"<mc:AlternateContent><mc:Choice Requires="x">{inner}</mc:Choice></mc:AlternateContent><z/>"#
        );
        assert_eq!(walked(&outer).as_deref(), Ok("c=in z= "));
    }
}
