//! Which components there are, and by which names their tools go.

use std::collections::HashMap;
use std::sync::Arc;

use super::{HostError, HostedTool, ToolHost};
use crate::component::{Definition, ToolComponent};
use crate::session::Session;
use crate::toolset::Toolset;

/// What stands between a component's name and a tool's.
const SEPARATOR: &str = "__";
/// Letters of a component's name.
pub(super) const MAX_NAME: usize = 32;
/// Letters of a tool's name, by the contract and with the models' interfaces.
const MAX_TOOL_NAME: usize = 64;

/// A component that was loaded under a name.
#[derive(Debug)]
pub(super) struct Hosted {
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) component: ToolComponent,
    /// With whose grants it runs, if not with the tenant's.
    pub(super) session: Option<Session>,
    tools: Vec<Definition>,
}

/// All of them at one time.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) hosted: Vec<Arc<Hosted>>,
    pub(super) tools: Arc<[HostedTool]>,
}

impl Hosted {
    pub(super) fn new(
        number: u64,
        name: &str,
        component: ToolComponent,
        session: Option<Session>,
    ) -> Result<Self, HostError> {
        ToolHost::check_name(name)?;
        let toolset = (session.as_ref()).map_or(Toolset::Files, Session::toolset);
        let listed = component.definitions().map_err(|error| HostError::Tools {
            component: name.to_owned(),
            error,
        })?;
        let offered = listed
            .iter()
            .filter(|tool| toolset.offers(&component, &tool.name));
        Ok(Self {
            number,
            name: name.to_owned(),
            tools: offered.cloned().collect(),
            component,
            session,
        })
    }

    fn full_name(&self, tool: &str) -> String {
        format!("{}{SEPARATOR}{tool}", self.name)
    }
}

/// No name can be read as another's with a tool behind it: the first `__` of a tool's full
/// name ends the component's.
pub(super) fn is_name(name: &str) -> bool {
    let is_edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    name.len() <= MAX_NAME
        && is_edge(name.chars().next())
        && is_edge(name.chars().next_back())
        && !name.contains(SEPARATOR)
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

impl Table {
    /// The list of tools, each under the name by which it can be called.
    pub(super) fn listed(&self) -> Result<Arc<[HostedTool]>, HostError> {
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for tool in self.hosted.iter().flat_map(|hosted| &hosted.tools) {
            *uses.entry(&tool.name).or_default() += 1;
        }
        let mut tools = Vec::new();
        for hosted in &self.hosted {
            for tool in &hosted.tools {
                let alone = uses.get(tool.name.as_str()) == Some(&1);
                let name = match alone && self.by_full_name(&tool.name).is_none() {
                    true => tool.name.clone(),
                    false => hosted.full_name(&tool.name),
                };
                if name.len() > MAX_TOOL_NAME {
                    return Err(HostError::LongName {
                        component: hosted.name.clone(),
                        tool: tool.name.clone(),
                    });
                }
                tools.push(HostedTool {
                    component: hosted.name.clone(),
                    own_name: tool.name.clone(),
                    definition: Definition {
                        name,
                        ..tool.clone()
                    },
                });
            }
        }
        Ok(tools.into())
    }

    /// The component that a name means, and the tool's name within it. A full name counts
    /// before any other, so that no tool can take another's.
    pub(super) fn find<'a>(&'a self, tool: &'a str) -> Option<(&'a Arc<Hosted>, &'a str)> {
        if let Some(found) = self.by_full_name(tool) {
            return Some(found);
        }
        if let Some(listed) = self.tools.iter().find(|it| it.definition.name == tool) {
            let hosted = self.hosted.iter().find(|it| it.name == listed.component)?;
            return Some((hosted, &listed.own_name));
        }
        match self.hosted.as_slice() {
            // It knows the other names of its tools, and what a wrong one was meant to be.
            [only] => Some((only, tool)),
            many => Self::by_other_name(many, tool),
        }
    }

    /// The tool with this other name, if it is the only one. What more than one tool is called by
    /// has to be said in full, whichever of them says that it is listed by another name.
    fn by_other_name<'a>(
        hosted: &'a [Arc<Hosted>],
        tool: &'a str,
    ) -> Option<(&'a Arc<Hosted>, &'a str)> {
        let is_listed = |hosted: &Arc<Hosted>| hosted.tools.iter().any(|it| it.name == tool);
        if hosted.iter().any(is_listed) {
            return None;
        }
        let mut found = hosted.iter().filter_map(|hosted| {
            let listed = hosted.component.listed_name(tool).ok()?;
            (listed != tool).then_some((hosted, listed))
        });
        found.next().filter(|_| found.next().is_none())
    }

    /// Whether a component that was loaded under this number still is.
    pub(super) fn has(&self, number: u64) -> bool {
        self.hosted.iter().any(|hosted| hosted.number == number)
    }

    fn by_full_name<'a>(&'a self, full: &'a str) -> Option<(&'a Arc<Hosted>, &'a str)> {
        let (name, tool) = full.split_once(SEPARATOR)?;
        let hosted = self.hosted.iter().find(|hosted| hosted.name == name)?;
        let known = hosted.tools.iter().any(|it| it.name == tool)
            || hosted
                .component
                .listed_name(tool)
                .is_ok_and(|it| it != tool);
        known.then_some((hosted, tool))
    }
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn a_name_cannot_be_read_as_a_name_and_a_tool() {
        for name in [
            "a",
            "files",
            "csv-to-markdown",
            "a_b",
            "A9",
            &"x".repeat(32),
        ] {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "_",
            "a_",
            "_a",
            "-a",
            "a-",
            "a__b",
            "a b",
            "ä",
            "a.b",
            "a/b",
            &"x".repeat(33),
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
