//! `mc:AlternateContent` (ECMA-376 part 3): one of several branches, the rest is passed over.

use super::{Element, Error, MAX_DEPTH, Space, Tag, Xml, check};

/// An open element, and the name that its end tag has to have.
pub(super) struct Opened<'a> {
    pub(super) name: &'a str,
    kind: Open<'a>,
}

/// What an open element is.
enum Open<'a> {
    /// One that the caller sees.
    Element,
    /// `mc:AlternateContent`, of which a branch has been taken or not.
    Alternatives {
        taken: bool,
        /// Where the first choice begins, in case none is understood and there is no fallback.
        first: Option<Box<Branch<'a>>>,
    },
    /// A branch, whether it is taken or passed over.
    Branch,
}

impl Open<'_> {
    /// Takes one of the branches, if that has not been done.
    fn take_branch(&mut self) -> bool {
        let Open::Alternatives { taken, first } = self else {
            return false;
        };
        *first = None;
        !std::mem::replace(taken, true)
    }
}

/// A branch, and what stands behind its start tag.
struct Branch<'a> {
    tag: Tag<'a>,
    rest: &'a str,
    next_declaration: usize,
}

impl<'a> Xml<'a> {
    /// Notes that an element is open, and hands it out if the caller is to see it.
    pub(super) fn open(&mut self, tag: Tag<'a>) -> Result<Option<Element<'a>>, Error> {
        check("XML depth", MAX_DEPTH as u64, self.open.len() as u64 + 1)?;
        self.check_attributes(&tag)?;
        self.open.push(Opened {
            name: tag.name(),
            kind: Open::Element,
        });
        self.is_closed = tag.is_closed;
        self.declare(&tag)?;
        let space = self.space_of(&tag)?;
        if space == Space::Compatibility {
            match tag.local_name() {
                "AlternateContent" => {
                    self.alternatives();
                    return Ok(None);
                }
                "Choice" => return self.choice(&tag).map(|()| None),
                "Fallback" => return self.branch(true).map(|()| None),
                _ => {}
            }
        }
        self.level += 1;
        let level = self.level;
        Ok(Some(Element { space, tag, level }))
    }

    /// Notes that the innermost element has ended, and says whether the caller saw it.
    pub(super) fn close(&mut self) -> Result<bool, Error> {
        let closed = self.open.pop();
        self.spaces.leave(self.open.len());
        let Some(Opened { name, kind }) = closed else {
            return Ok(false);
        };
        match kind {
            Open::Element => {
                self.level -= 1;
                Ok(true)
            }
            Open::Alternatives {
                taken: false,
                first: Some(first),
            } => self.go_back(name, *first).map(|()| false),
            _ => Ok(false),
        }
    }

    /// Says what the innermost element is, if not one that the caller sees.
    fn is(&mut self, kind: Open<'a>) {
        if let Some(innermost) = self.open.last_mut() {
            innermost.kind = kind;
        }
    }

    fn alternatives(&mut self) {
        let (taken, first) = (false, None);
        self.is(Open::Alternatives { taken, first });
    }

    /// Takes a branch after all, once it is known that there is no better one.
    fn go_back(&mut self, name: &'a str, branch: Branch<'a>) -> Result<(), Error> {
        self.rest = branch.rest;
        self.next_declaration = branch.next_declaration;
        let (taken, first) = (true, None);
        let kind = Open::Alternatives { taken, first };
        self.open.push(Opened { name, kind });
        let (name, kind) = (branch.tag.name(), Open::Branch);
        self.open.push(Opened { name, kind });
        self.declare_those_of(&branch.tag)
    }

    fn choice(&mut self, tag: &Tag<'a>) -> Result<(), Error> {
        let is_understood = self.understands(tag)?;
        let branch = Branch {
            tag: *tag,
            rest: self.rest,
            next_declaration: self.next_declaration,
        };
        if let [.., around, _] = self.open.as_mut_slice()
            && let Open::Alternatives {
                taken: false,
                first: first @ None,
            } = &mut around.kind
            && !is_understood
            && !tag.is_closed
        {
            *first = Some(Box::new(branch));
        }
        self.branch(is_understood)
    }

    /// Takes a branch if it is acceptable and the first one that is, else passes over it.
    fn branch(&mut self, is_acceptable: bool) -> Result<(), Error> {
        self.is(Open::Branch);
        let is_taken = match self.open.as_mut_slice() {
            [.., around, _] => is_acceptable && around.kind.take_branch(),
            _ => false,
        };
        match is_taken {
            true => Ok(()),
            // A branch that is passed over and taken after all is read again, and so are those
            // in it; the budget of nodes counts both.
            false => self.skip(),
        }
    }

    /// Whether a choice is better than what stands in for it.
    ///
    /// Extensions by Office itself are: they hold the text in full, as with equations, where
    /// their fallback is a picture or "this chart isn't available in your version". VML, which
    /// Office gave up, has the same text in its fallback.
    fn understands(&self, tag: &Tag<'a>) -> Result<bool, Error> {
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| self.malformed(error))?;
            if attribute.name == "Requires" {
                let mut prefixes = attribute.value.split_ascii_whitespace();
                return Ok(prefixes.all(|prefix| self.spaces.is_extension(prefix)));
            }
        }
        Ok(false)
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
