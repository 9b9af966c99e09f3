//! Adds to a Cargo.toml what the checks in `cargo test` need. Nothing else in the file changes.

use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, TomlError, Value, value};

/// The name of the test target.
const TEST: &str = "weft";
/// The library that the test target calls.
const HARNESS: &str = "weft-harness";

/// Why a manifest cannot be extended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManifestError {
    #[error("{path}: {error}")]
    Syntax {
        path: String,
        #[source]
        error: TomlError,
    },
    #[error(
        "{path}: `{key}` is no table; correct it, or add the entries by hand: see `In cargo test` in docs/ci.md of cargo-weft"
    )]
    Form { path: String, key: &'static str },
}

/// What the checks in `cargo test` need of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HarnessEntries {
    /// Whether `weft-harness` is a dependency of tests.
    pub(crate) has_dependency: bool,
    /// Whether there is a `[[test]]` with the name `weft`.
    pub(crate) has_test: bool,
    /// Whether this test has `harness = false`.
    pub(crate) is_own_main: bool,
}

impl HarnessEntries {
    /// Returns which entries a manifest has.
    pub(crate) fn of(document: &Table) -> Self {
        let tests = document.get("test").and_then(Item::as_array_of_tables);
        let name = |table: &&Table| table.get("name").and_then(Item::as_str) == Some(TEST);
        let test = tests.and_then(|all| all.iter().find(name));
        let has = |key: &str| {
            document
                .get(key)
                .and_then(Item::as_table_like)
                .is_some_and(|own| own.contains_key(HARNESS))
        };
        Self {
            has_dependency: has("dev-dependencies") || has("dependencies"),
            has_test: test.is_some(),
            is_own_main: test
                .and_then(|test| test.get("harness")?.as_bool())
                .is_some_and(|harness| !harness),
        }
    }

    /// Whether `cargo test` runs the checks.
    pub(crate) fn is_complete(self) -> bool {
        self.has_dependency && self.has_test && self.is_own_main
    }
}

/// Parses a manifest; error messages name it `path`.
pub(crate) fn parse(text: &str, path: &str) -> Result<DocumentMut, ManifestError> {
    text.parse().map_err(|error| ManifestError::Syntax { path: path.to_owned(), error })
}

/// Returns a manifest with the entries that it lacks; `None` if it lacks none.
pub(super) fn extended(text: &str, path: &str) -> Result<Option<String>, ManifestError> {
    let mut document = parse(text, path)?;
    let entries = HarnessEntries::of(&document);
    if entries.has_dependency && entries.has_test {
        return Ok(None);
    }
    let form = |key| ManifestError::Form { path: path.to_owned(), key };
    if !entries.has_dependency {
        let key = "dev-dependencies";
        let table = document.entry(key).or_insert_with(|| Item::Table(Table::new()));
        let table = table.as_table_like_mut().ok_or_else(|| form(key))?;
        let mut source = InlineTable::new();
        source.insert("git", Value::from(env!("CARGO_PKG_REPOSITORY")));
        table.insert(HARNESS, value(source));
    }
    if !entries.has_test {
        let tests = document
            .entry("test")
            .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()))
            .as_array_of_tables_mut()
            .ok_or_else(|| form("test"))?;
        let mut test = Table::new();
        test.insert("name", value(TEST));
        test.insert("harness", value(false));
        tests.push(test);
    }
    Ok(Some(document.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_added() {
        let plain = "# mine\n[package]\nname   = \"a\" # odd\n\n[dev-dependencies]\nz = '1'\n\n[profile.dev]\ndebug = 1\n";
        let added = extended(plain, "Cargo.toml").unwrap().unwrap();
        let dependency =
            format!("weft-harness = {{ git = \"{}\" }}\n", env!("CARGO_PKG_REPOSITORY"));
        let test = "\n[[test]]\nname = \"weft\"\nharness = false\n";
        assert_eq!(added, plain.replace("z = '1'\n", &format!("z = '1'\n{dependency}")) + test);
        assert_eq!(extended(&added, "Cargo.toml").unwrap(), None);
        let entries = HarnessEntries::of(&parse(&added, "").unwrap());
        assert!(entries.is_complete());
        let other = "[package]\nname = \"a\"\n[[test]]\nname = \"other\"\n";
        let added = extended(other, "Cargo.toml").unwrap().unwrap();
        assert!(
            added.starts_with(other) && added.ends_with(test.trim_start()) || added.contains(test),
            "{added}"
        );
        assert!(added.contains("[dev-dependencies]\nweft-harness"), "{added}");
    }

    #[test]
    fn what_cannot_be_extended_is_an_error() {
        assert!(
            extended("[package\n", "Cargo.toml")
                .unwrap_err()
                .to_string()
                .starts_with("Cargo.toml: ")
        );
        let odd = extended("test = 1\n", "Cargo.toml").unwrap_err().to_string();
        assert!(odd.starts_with("Cargo.toml: `test` is no table"), "{odd}");
    }
}
