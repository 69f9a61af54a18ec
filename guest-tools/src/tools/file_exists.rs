//! `file_exists`: whether a path exists, and what it is.

use super::schema;
use crate::files::{ErrorCode, Miss, PathFlags, Roots, kind, modified, version};
use crate::tool::{Error, Output, PathArgument, Risk, Role, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The tool.
pub(crate) struct FileExists;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
}

#[derive(Serialize)]
struct Fields<'a> {
    path: &'a str,
    exists: bool,
    #[serde(flatten)]
    facts: Option<Facts>,
}

/// What is said of a path that exists.
#[derive(Serialize)]
struct Facts {
    root: String,
    #[serde(rename = "type")]
    kind: &'static str,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    version: String,
}

impl Tool for FileExists {
    type Arguments = Arguments;

    const NAME: &'static str = "file_exists";
    const TITLE: &'static str = "Look up a path";
    const DESCRIPTION: &'static str = "Tells whether a file or directory exists and, if so, its \
        type, size, time of modification and version. Links are followed. Absence is an answer \
        (`exists: false`), not an error.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument {
        pointer: "path",
        role: Role::Read,
        guarded: false,
    }];

    fn input_schema() -> Value {
        schema::arguments(
            json!({ "path": schema::path("File or directory to look up") }),
            &["path"],
            json!({ "path": "reports/2024.txt" }),
        )
    }

    fn output_schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": schema::of("string"),
                "exists": schema::of("boolean"),
                "root": schema::of("string"),
                "type": { "type": "string", "enum": ["file", "directory", "symlink", "other"] },
                "size": schema::of("integer"),
                "modified": { "type": "string", "format": "date-time" },
                "version": schema::of("string"),
            },
            "required": ["path", "exists"],
        })
    }

    fn run(arguments: Arguments) -> Result<Output, Error> {
        let path = &arguments.path;
        let facts = look_up(path)?;
        let exists = facts.is_some();
        Ok(Output::fields(&Fields {
            path,
            exists,
            facts,
        }))
    }
}

fn look_up(path: &str) -> Result<Option<Facts>, Error> {
    let follow = PathFlags::SYMLINK_FOLLOW;
    let found = Roots::preopened().look_up(|directory| {
        let stat = directory.stat_at(follow, path)?;
        let hash = directory.metadata_hash_at(follow, path)?;
        Ok::<_, ErrorCode>((stat, hash))
    });
    match found {
        Err(Miss::Absent) => Ok(None),
        Err(miss) => Err(miss.into()),
        Ok(found) => {
            let (stat, hash) = found.object;
            Ok(Some(Facts {
                root: found.root,
                kind: kind(stat.type_),
                size: stat.size,
                modified: modified(stat.data_modification_timestamp),
                version: version(hash),
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absence_says_nothing_more() {
        let fields = Fields {
            path: "a",
            exists: false,
            facts: None,
        };
        assert_eq!(
            Output::fields(&fields).fields,
            r#"{"path":"a","exists":false}"#
        );
    }

    #[test]
    fn what_exists_is_described() {
        let fields = Fields {
            path: "a",
            exists: true,
            facts: Some(Facts {
                root: "/read/0".to_owned(),
                kind: "file",
                size: 3,
                modified: None,
                version: "0".repeat(32),
            }),
        };
        let fields: Value = serde_json::from_str(&Output::fields(&fields).fields).unwrap();
        assert_eq!(fields["type"], "file");
        assert_eq!(fields["root"], "/read/0");
        assert!(fields.get("modified").is_none());
    }
}
