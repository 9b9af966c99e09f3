//! Parses the value of `requires`: conditions over arguments, block and grid, each a string.

use weft_core::launch::requires;

use super::reader::Node;
use super::{ConfigError, Problem, Reader, StatedRequirement};

const LIST: &str = "an array of conditions, such as `[\"n <= 1024\", \"block.x % 32 == 0\"]`";

/// Parses the value of a `requires` key.
pub(super) fn list(
    reader: Reader<'_>,
    node: &Node<'_>,
) -> Result<Vec<StatedRequirement>, ConfigError> {
    reader.array("requires", LIST, node)?.iter().map(|item| one(reader, item)).collect()
}

fn one(reader: Reader<'_>, node: &Node<'_>) -> Result<StatedRequirement, ConfigError> {
    let text = reader.string("requires", LIST, node)?;
    let requirement = requires::parse(text).map_err(|error| {
        let at = reader.within(node, text, error.at);
        reader.error(at..at, Problem::Requirement(error.problem))
    })?;
    Ok(StatedRequirement { requirement, place: reader.place(&node.span()) })
}
