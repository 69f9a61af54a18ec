//! Roots by name: an agent knows them by the operator's labels, a component by its preopens.

use serde_json::Value;

use crate::component::Definition;
use crate::error::{CallError, code};
use crate::roots::{Rights, Roots};

/// The argument that names a root, as results name one (see `output.fields` in the WIT).
const ARGUMENT: &str = "root";

/// Puts the preopen name where the arguments name a read root by its label.
///
/// # Errors
///
/// `invalid-arguments` when no read root has the label.
pub(crate) fn arguments(
    arguments: String,
    definition: &Definition,
    roots: &Roots,
) -> Result<String, CallError> {
    // Most calls name none, and are not parsed for it.
    if !arguments.contains(ARGUMENT) || !definition.takes_text(ARGUMENT) {
        return Ok(arguments);
    }
    let Ok(mut value) = serde_json::from_str::<Value>(&arguments) else {
        return Ok(arguments);
    };
    let Some(Value::String(label)) = value.get_mut(ARGUMENT) else {
        return Ok(arguments);
    };
    let mut readable = roots.iter().filter(|root| root.rights == Rights::Read);
    match readable.find(|root| root.label == *label) {
        Some(root) => label.clone_from(&root.preopen),
        None => return Err(unknown(label, roots)),
    }
    Ok(value.to_string())
}

fn unknown(label: &str, roots: &Roots) -> CallError {
    let readable = roots.iter().filter(|root| root.rights == Rights::Read);
    let labels: Vec<_> = readable.map(|root| format!("`{}`", root.label)).collect();
    let message = format!("no directory is granted for reading under the name `{label}`");
    let hint = match labels.is_empty() {
        true => "ask the user to grant one, for example with `--read DIR`".to_owned(),
        false => format!("leave out `root`, or give one of {}", labels.join(", ")),
    };
    CallError::new(code::INVALID_ARGUMENTS, message).hint_of(hint)
}
