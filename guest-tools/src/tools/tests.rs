//! What `export!` does not check of each tool by itself.

use super::TOOLS;

#[test]
fn the_whole_list_stays_small() {
    let definitions = TOOLS.iter().map(|tool| tool.definition());
    let size: usize = definitions
        .map(|tool| {
            let schema = tool.input_schema.to_string();
            tool.name.len() + tool.title.len() + tool.description.len() + schema.len()
        })
        .sum();
    assert!(
        size < 14_500,
        "the tool list has {size} bytes: shorten descriptions"
    );
}
