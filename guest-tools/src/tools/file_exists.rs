//! `file_exists`: whether a path exists, and what it is.

use crate::files::{ErrorCode, Kind, Miss, PathFlags, Roots, modified, version};
use crate::tool::{Error, Output, PathArgument, Risk, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tool.
pub(crate) struct FileExists;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    path: String,
}

/// What is there.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Fields {
    path: String,
    exists: bool,
    #[serde(flatten)]
    facts: Option<Facts>,
}

/// What is said of a path that exists.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Facts {
    pub(crate) root: String,
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) modified: Option<String>,
    pub(crate) version: String,
}

impl Tool for FileExists {
    type Arguments = Arguments;
    type Fields = Fields;

    const NAME: &'static str = "file_exists";
    const TITLE: &'static str = "Look up a path";
    const DESCRIPTION: &'static str = "Tells whether a path exists and, if so, its type, size, time \
        of modification and version. Links are followed. Absence is an answer, not an error.";
    const RISK: Risk = Risk::Read;
    const PATHS: &'static [PathArgument] = &[PathArgument::read("path")];
    const EXAMPLE: &'static str = r#"{"path":"reports/2024.txt"}"#;

    fn run(arguments: Arguments) -> Result<Output<Fields>, Error> {
        let path = arguments.path;
        let facts = look_up(&path)?;
        let exists = facts.is_some();
        Ok(Output::new(Fields {
            path,
            exists,
            facts,
        }))
    }
}

/// Looks a path up in the read roots, links followed; nothing where it is absent.
///
/// # Errors
/// `not-granted` without a read root; else the host's.
pub(crate) fn look_up(path: &str) -> Result<Option<Facts>, Error> {
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
                kind: stat.type_.into(),
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
    use serde_json::Value;

    #[test]
    fn absence_says_nothing_more() {
        let fields = Fields {
            path: "a".to_owned(),
            exists: false,
            facts: None,
        };
        assert_eq!(
            Output::new(fields).into_parts().0,
            r#"{"path":"a","exists":false}"#
        );
    }

    #[test]
    fn what_exists_is_described() {
        let fields = Fields {
            path: "a".to_owned(),
            exists: true,
            facts: Some(Facts {
                root: "/read/0".to_owned(),
                kind: Kind::File,
                size: 3,
                modified: None,
                version: "0".repeat(32),
            }),
        };
        let fields: Value = serde_json::from_str(&Output::new(fields).into_parts().0).unwrap();
        assert_eq!(fields["type"], "file");
        assert_eq!(fields["root"], "/read/0");
        assert!(fields.get("modified").is_none());
    }
}
