//! Words of refusals.

/// The nearest of the known names, if one is near enough to be what was meant.
///
/// # Examples
/// ```
/// use rootbound_tool::nearest;
///
/// let known = ["read_file", "list_files"];
/// assert_eq!(nearest("readFile", known), Some("read_file"));
/// assert_eq!(nearest("send_mail", known), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Jaro-Winkler over 0.8 takes a letter or a separator for a slip, not another word.
    const NEAR: f64 = 0.8;
    // Comparing takes as long as the names are; no name is so long.
    const LONGEST: usize = 256;
    if name.len() > LONGEST {
        return None;
    }
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity > NEAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Names in backticks, separated by commas.
pub fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_near_names_are_suggested() {
        let known = ["read_file", "list_files"];
        assert_eq!(nearest("readfile", known), Some("read_file"));
        assert_eq!(nearest("list_file", known), Some("list_files"));
        assert_eq!(nearest("send_mail", known), None);
        assert_eq!(nearest(&"read_file".repeat(1_000_000), known), None);
    }
}
