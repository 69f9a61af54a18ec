//! For people who come from tools that take host paths: another spelling of the same place.
//!
//! Only text is exchanged here, in the arguments that a tool's definition marks as paths.
//! What is reachable is still decided by the handle.

use serde_json::Value;

use crate::component::Definition;

/// How absolute paths are spelled relative to the root.
#[derive(Clone, Debug)]
pub(crate) struct Respelling {
    /// Spellings of the root, without a slash at the end; empty for `/` itself.
    pub(crate) prefixes: Vec<String>,
    /// What relative paths are relative to, from the root; empty for the root itself.
    pub(crate) working_directory: String,
}

impl Respelling {
    pub(crate) fn arguments(&self, arguments: &str, definition: &Definition) -> String {
        // What has no paths stays as it is, to the digit.
        if definition.paths.is_empty() {
            return arguments.to_owned();
        }
        let Ok(mut value) = serde_json::from_str::<Value>(arguments) else {
            return arguments.to_owned();
        };
        for argument in &definition.paths {
            let steps: Vec<&str> = argument.pointer.split('.').collect();
            self.fill_in(&mut value, &argument.pointer, definition);
            self.visit(&mut value, &steps);
        }
        value.to_string()
    }

    /// A path that may be left out means the directory that relative paths start from.
    fn fill_in(&self, value: &mut Value, pointer: &str, definition: &Definition) {
        let Value::Object(arguments) = value else {
            return;
        };
        let is_plain = !pointer.contains(['.', '[']);
        if is_plain
            && !self.working_directory.is_empty()
            && !arguments.contains_key(pointer)
            && !is_required(pointer, definition)
        {
            arguments.insert(pointer.to_owned(), ".".into());
        }
    }

    fn visit(&self, value: &mut Value, steps: &[&str]) {
        let Some((step, rest)) = steps.split_first() else {
            if let Value::String(path) = value {
                *path = self.path(path);
            }
            return;
        };
        let (name, is_array) = match step.strip_suffix("[]") {
            Some(name) => (name, true),
            None => (*step, false),
        };
        match value.get_mut(name) {
            Some(Value::Array(items)) if is_array => {
                items.iter_mut().for_each(|item| self.visit(item, rest));
            }
            Some(inner) => self.visit(inner, rest),
            None => {}
        }
    }

    /// A path outside stays as it is, and is refused as `absolute`.
    fn path(&self, path: &str) -> String {
        if path.starts_with('/') {
            let below = |prefix: &String| {
                let rest = path.strip_prefix(prefix.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/'))
            };
            return match self.prefixes.iter().find_map(below) {
                Some("") => ".".to_owned(),
                Some(rest) => rest.to_owned(),
                None => path.to_owned(),
            };
        }
        if self.working_directory.is_empty() || path.is_empty() {
            return path.to_owned();
        }
        format!("{}/{path}", self.working_directory)
    }
}

fn is_required(name: &str, definition: &Definition) -> bool {
    let schema: Value = serde_json::from_str(&definition.input_schema).unwrap_or_default();
    schema["required"]
        .as_array()
        .is_some_and(|required| required.iter().any(|other| other == name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::{PathArgument, PathRole};
    use crate::policy::RiskClass;

    fn definition(pointers: &[&str]) -> Definition {
        Definition {
            name: "t".into(),
            title: String::new(),
            description: String::new(),
            input_schema: String::new(),
            output_schema: String::new(),
            risk: RiskClass::Read,
            paths: pointers
                .iter()
                .map(|pointer| PathArgument {
                    pointer: (*pointer).to_owned(),
                    role: PathRole::Read,
                    guarded: false,
                })
                .collect(),
        }
    }

    #[test]
    fn only_marked_arguments_and_only_paths_inside_are_respelled() {
        let respelling = Respelling {
            prefixes: vec!["/srv/data".into()],
            working_directory: String::new(),
        };
        let arguments = r#"{"path":"/srv/data/a","text":"/srv/data/a","files":[{"path":"/srv/data"},{"path":"/srv/database/x"}]}"#;
        let respelled = respelling.arguments(arguments, &definition(&["path", "files[].path"]));
        assert_eq!(
            respelled,
            r#"{"path":"a","text":"/srv/data/a","files":[{"path":"."},{"path":"/srv/database/x"}]}"#
        );
    }

    #[test]
    fn relative_paths_start_at_the_working_directory() {
        let respelling = Respelling {
            prefixes: vec![String::new()],
            working_directory: "home/me".into(),
        };
        assert_eq!(respelling.path("notes.md"), "home/me/notes.md");
        assert_eq!(respelling.path("/etc/hosts"), "etc/hosts");
        assert_eq!(respelling.path("/"), ".");
    }
}
