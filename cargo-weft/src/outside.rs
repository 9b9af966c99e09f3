//! Packages outside the workspace that are checked with it: `[workspace.metadata.weft] manifests = ["x/Cargo.toml"]`.
//!
//! This is for packages that cannot be members, such as a sample whose tests fail on purpose.

use std::path::PathBuf;

use cargo_metadata::Metadata;
use serde_json::Value;

/// Errors in `[workspace.metadata.weft]`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OutsideError {
    #[error(
        "[workspace.metadata.weft] in {manifest}: unknown key `{key}`; the only key is `manifests`"
    )]
    Key { manifest: PathBuf, key: String },
    #[error(
        "[workspace.metadata.weft] in {manifest}: `manifests` must be a list of paths to Cargo.toml files"
    )]
    Shape { manifest: PathBuf },
    #[error("[workspace.metadata.weft] in {manifest}: there is no file {path}")]
    NoFile { manifest: PathBuf, path: PathBuf },
}

/// Returns the manifests that the workspace names, in the order in which it names them.
pub(crate) fn manifests(metadata: &Metadata) -> Result<Vec<PathBuf>, OutsideError> {
    let manifest = || metadata.workspace_root.join("Cargo.toml").into_std_path_buf();
    let names = names(&metadata.workspace_metadata, &manifest)?;
    names
        .into_iter()
        .map(|name| {
            let path = metadata.workspace_root.join(name).into_std_path_buf();
            if path.is_file() {
                Ok(path)
            } else {
                Err(OutsideError::NoFile { manifest: manifest(), path })
            }
        })
        .collect()
}

fn names<'a>(
    metadata: &'a Value,
    manifest: &dyn Fn() -> PathBuf,
) -> Result<Vec<&'a str>, OutsideError> {
    let shape = || OutsideError::Shape { manifest: manifest() };
    let Some(weft) = metadata.get("weft") else { return Ok(Vec::new()) };
    let table = weft.as_object().ok_or_else(shape)?;
    if let Some(key) = table.keys().find(|key| *key != "manifests") {
        return Err(OutsideError::Key { manifest: manifest(), key: key.clone() });
    }
    let Some(list) = table.get("manifests") else { return Ok(Vec::new()) };
    let list = list.as_array().ok_or_else(shape)?;
    list.iter().map(|name| name.as_str().ok_or_else(shape)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_list_of_paths_will_do() {
        let manifest = || PathBuf::from("Cargo.toml");
        let read = |value: &Value| names(value, &manifest).map(|names| names.join(" "));
        assert_eq!(read(&Value::Null), Ok(String::new()));
        assert_eq!(read(&json!({"other": 1})), Ok(String::new()));
        assert_eq!(read(&json!({"weft": {"manifests": ["a", "b"]}})), Ok("a b".into()));
        let key = OutsideError::Key { manifest: manifest(), key: "manifest".into() };
        assert_eq!(read(&json!({"weft": {"manifest": ["a"]}})), Err(key));
        assert_eq!(
            read(&json!({"weft": {"manifests": [1]}})),
            Err(OutsideError::Shape { manifest: manifest() })
        );
        assert_eq!(read(&json!({"weft": 1})), Err(OutsideError::Shape { manifest: manifest() }));
    }
}
