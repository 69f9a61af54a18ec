//! How the tools take paths: which argument, and for which operation of the tables.

use std::path::Path;
use std::sync::OnceLock;

use rootbound::{Definition, PathArgument, PathRole, ToolComponent, Toolset};
use serde_json::{Map, Value};

/// One way in which an argument of a tool uses a path.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub tool: &'static str,
    pub pointer: &'static str,
    /// The rows of this operation are answered exactly as they say.
    pub operation: &'static str,
    /// Arguments that the tool's example has not, or has otherwise, as JSON.
    with: &'static [(&'static str, &'static str)],
    /// Codes that say nothing about the path but about what is found there.
    pub own_codes: &'static [&'static str],
}

const fn plain(tool: &'static str, pointer: &'static str, operation: &'static str) -> Use {
    Use {
        tool,
        pointer,
        operation,
        with: &[],
        own_codes: &[],
    }
}

const fn writing(tool: &'static str, pointer: &'static str, operation: &'static str) -> Use {
    Use {
        with: &[("content", CONTENT_JSON)],
        ..plain(tool, pointer, operation)
    }
}

/// A tool that looks into a document opens the file as `read_file` does.
const fn document(tool: &'static str) -> Use {
    Use {
        own_codes: &["malformed-document", "unsupported-document"],
        ..plain(tool, "path", "read")
    }
}

/// One operation of the tool that has them all. Its paths are strict, so that rows of other
/// tools' operations do not speak of it.
const fn single(operation: &'static str, with: &'static [(&'static str, &'static str)]) -> Use {
    Use {
        with,
        ..plain("sandbox_filesystem", "path", operation)
    }
}

/// Every path argument of every tool.
pub const USES: &[Use] = &[
    Use {
        with: &[("offset", "null"), ("limit", "null")],
        ..plain("read_file", "path", "read")
    },
    plain("read_files", "paths[]", "read"),
    plain("list_files", "path", "list"),
    Use {
        with: &[("recursive", "true")],
        ..plain("list_files", "path", "list-recursive")
    },
    plain("find_files", "path", "list-recursive"),
    plain("search_files", "path", "search"),
    plain("file_exists", "path", "stat"),
    Use {
        with: &[("hash", "false")],
        ..plain("file_info", "path", "stat")
    },
    document("read_document"),
    document("read_pptx"),
    document("read_docx"),
    document("read_xlsx"),
    writing("write_file", "path", "write"),
    writing("create_file", "file_path", "create"),
    plain("create_directory", "dir_path", "mkdir"),
    plain("delete_file", "path", "delete"),
    Use {
        with: &[("recursive", "true")],
        ..plain("delete_file", "path", "delete-tree")
    },
    Use {
        with: &[("edits", EDITS_JSON)],
        own_codes: &["no-match"],
        ..plain("edit_file", "path", "edit")
    },
    writing("append_file", "path", "append"),
    plain("copy_file", "from", "copy-from"),
    plain("copy_file", "to", "copy-to"),
    plain("move_file", "from", "move-from"),
    plain("move_file", "to", "move-to"),
    single("single-read", &[("operation", r#""read""#)]),
    single("single-list", &[("operation", r#""list""#)]),
    single("single-exists", &[("operation", r#""exists""#)]),
    single("single-info", &[("operation", r#""info""#)]),
    single("single-create", &[("operation", r#""createDir""#)]),
    single(
        "single-write",
        &[("operation", r#""write""#), ("force", "true")],
    ),
    single(
        "delete-single",
        &[
            ("operation", r#""delete""#),
            ("recursive", "true"),
            ("force", "true"),
        ],
    ),
];

/// Operations of the tables that no tool has yet. Their rows wait; a use of such an
/// operation takes it from here.
pub const AWAITED: &[&str] = &[];

/// What the tools write.
pub const CONTENT: &str = "new content\n";
const CONTENT_JSON: &str = r#""new content\n""#;
/// What an edit replaces: the content of the files that the rows about edits make.
const EDITS_JSON: &str = r#"[{"old_text":"old","new_text":"new"}]"#;

/// A file that other path arguments of the same tool name, so that they are in order.
const COMPANION: &str = "companion.txt";
const NEW_COMPANION: &str = "companion-new.txt";

impl Use {
    pub fn name(&self) -> String {
        format!("{}({})", self.tool, self.pointer)
    }

    /// Whether the tool goes through a tree, past what it may not see.
    pub fn walks(&self) -> bool {
        matches!(self.operation, "list-recursive" | "search")
    }

    /// The tools among which this one is.
    pub fn toolset(&self) -> Toolset {
        match Toolset::Single.has(self.tool) {
            true => Toolset::Single,
            false => Toolset::Files,
        }
    }

    fn definition(&self) -> &'static Definition {
        let tool = self.tool;
        let found = definitions()
            .iter()
            .find(|definition| definition.name == tool);
        found.unwrap_or_else(|| {
            panic!("there is no tool `{tool}`: take it out of `USES` in tests/confinement/uses.rs")
        })
    }

    pub fn argument(&self) -> &'static PathArgument {
        let paths = &self.definition().paths;
        let found = paths.iter().find(|path| path.pointer == self.pointer);
        found.unwrap_or_else(|| {
            let name = self.name();
            panic!("{name} is no path: take it out of `USES` in tests/confinement/uses.rs")
        })
    }

    /// The tool's own example with the path at its place.
    pub fn arguments(&self, path: &str) -> Value {
        let definition = self.definition();
        let mut arguments = example(definition);
        for (name, value) in self.with {
            arguments.insert((*name).to_owned(), serde_json::from_str(value).unwrap());
        }
        for other in &definition.paths {
            put(&mut arguments, &other.pointer, companion(other.role));
        }
        put(&mut arguments, self.pointer, path);
        Value::Object(arguments)
    }

    /// Makes the file that the tool's other path arguments name, if it has any.
    pub fn add_companion(&self, root: &Path) {
        if self.definition().paths.len() > 1 {
            std::fs::write(root.join(COMPANION), "companion\n").unwrap();
        }
    }
}

/// What the tools say about themselves.
pub fn definitions() -> &'static [Definition] {
    static DEFINITIONS: OnceLock<Vec<Definition>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| {
        let component = ToolComponent::file_tools().unwrap();
        component.definitions().unwrap().to_vec()
    })
}

/// Whether the object at the path is only looked at.
pub fn looks(one: &Use) -> bool {
    one.argument().role == PathRole::Read
}

/// Whether the tool changes nothing, at this path or at another.
pub fn changes_nothing(one: &Use) -> bool {
    let paths = &one.definition().paths;
    paths.iter().all(|path| path.role == PathRole::Read)
}

fn companion(role: PathRole) -> &'static str {
    match role {
        PathRole::Create | PathRole::MoveTo => NEW_COMPANION,
        _ => COMPANION,
    }
}

fn example(definition: &Definition) -> Map<String, Value> {
    let schema: Value = serde_json::from_str(&definition.input_schema).unwrap();
    let example = schema["examples"][0].as_object();
    let name = &definition.name;
    example
        .unwrap_or_else(|| panic!("`{name}` has no example in its schema"))
        .clone()
}

/// Puts a path where a pointer such as `path`, `paths[]` or `files[].path` points. A list
/// gets one element.
pub fn put(arguments: &mut Map<String, Value>, pointer: &str, path: &str) {
    let (first, rest) = match pointer.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (pointer, None),
    };
    let (name, in_list) = match first.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (first, false),
    };
    let slot = arguments.entry(name).or_insert(Value::Null);
    let element = match (in_list, &*slot) {
        (true, Value::Array(elements)) => elements.first().cloned().unwrap_or_default(),
        _ => slot.clone(),
    };
    let value = match rest {
        None => Value::from(path),
        Some(rest) => {
            let mut inner = element.as_object().cloned().unwrap_or_default();
            put(&mut inner, rest, path);
            Value::Object(inner)
        }
    };
    *slot = if in_list {
        Value::from(vec![value])
    } else {
        value
    };
}

#[test]
fn a_path_is_put_where_the_pointer_points() {
    for (pointer, arguments) in [
        ("path", r#"{"path":"p"}"#),
        ("paths[]", r#"{"paths":["p"]}"#),
        ("files[].path", r#"{"files":[{"path":"p"}]}"#),
        ("target.path", r#"{"target":{"path":"p"}}"#),
    ] {
        let mut map = Map::new();
        put(&mut map, pointer, "p");
        assert_eq!(Value::Object(map).to_string(), arguments);
    }
    let mut kept = serde_json::json!({ "files": [{ "path": "a", "text": "t" }, { "path": "b" }] });
    put(kept.as_object_mut().unwrap(), "files[].path", "p");
    assert_eq!(kept.to_string(), r#"{"files":[{"path":"p","text":"t"}]}"#);
}
