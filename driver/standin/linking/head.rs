//! The head of the text that several texts make: version, target, size of addresses.

use super::Linked;
use super::items::ItemKind;

/// Returns the directives for all texts: the newest version and target.
pub(super) fn head(parts: &[Linked]) -> Result<String, String> {
    let items = || parts.iter().flat_map(|part| &part.items);
    let versions = items().filter_map(|item| match item.kind {
        ItemKind::Version(number) => Some(number),
        _ => None,
    });
    let version = versions.max_by_key(|number| pair(number)).ok_or("none has a .version")?;
    let targets: Vec<&[&str]> = items()
        .filter_map(|item| match &item.kind {
            ItemKind::Target(words) => Some(&words[..]),
            _ => None,
        })
        .collect();
    let architectures = targets.iter().filter_map(|words| words.first());
    let target = architectures.max_by_key(|word| rank(word)).ok_or("none has a .target")?;
    let mut options: Vec<&str> = Vec::new();
    for option in targets.iter().flat_map(|words| words.iter().skip(1)) {
        // What is written for debuggers is left out.
        if *option != "debug" && !options.contains(option) {
            options.push(option);
        }
    }
    let words: Vec<&str> = [*target].into_iter().chain(options).collect();
    let words = words.join(", ");
    let mut sizes = items().filter_map(|item| match item.kind {
        ItemKind::AddressSize(bits) => Some(bits),
        _ => None,
    });
    let size = sizes.next().unwrap_or("64");
    if sizes.any(|other| other != size) {
        return Err("the sizes of addresses differ".to_owned());
    }
    Ok(format!(".version {version}\n.target {words}\n.address_size {size}\n"))
}

/// Returns the two numbers of a version.
fn pair(version: &str) -> (u32, u32) {
    let (major, minor) = version.split_once('.').unwrap_or((version, ""));
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

/// Returns what architectures are ordered by: their number, and whether they have features that others of this number lack.
fn rank(word: &str) -> (u32, bool) {
    let digits: String = word.chars().filter(char::is_ascii_digit).collect();
    (digits.parse().unwrap_or(0), !word.ends_with(|letter: char| letter.is_ascii_digit()))
}
