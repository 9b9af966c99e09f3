//! Names of a record's files of launches that do not depend on when, where and as which process the program ran, so that a record which
//! says the same as one that is committed is the same.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::hash::hash_name;

/// Names each file of launches in `folder` by the hash of its text, in which the process has no number, and paths below `root` are relative.
/// Processes that have launched the same in the same order have one file.
///
/// # Errors
/// A file that cannot be read or written.
pub fn name_by_contents(folder: &Path, root: &Path) -> io::Result<()> {
    let launches = folder.join("launches");
    let Ok(entries) = fs::read_dir(&launches) else { return Ok(()) };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    for path in paths.iter().filter(|path| path.extension().is_some_and(|own| own == "jsonl")) {
        let text = fs::read_to_string(path)?;
        let stable = text
            .split_once('\n')
            .and_then(|(first, rest)| Some(format!("{}\n{rest}", process(first, root)?)));
        // What is no record is told by those who read it.
        let Some(stable) = stable else { continue };
        let named = launches.join(hash_name(stable.as_bytes())).with_extension("jsonl");
        if named != *path {
            fs::write(named, stable)?;
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Returns the line of a process without its number; `None` for other lines.
fn process(line: &str, root: &Path) -> Option<String> {
    let mut line: Value = serde_json::from_str(line).ok()?;
    let members = line
        .as_object_mut()
        .filter(|own| own.get("record").is_some_and(|kind| kind == "process"))?;
    members.remove("pid");
    for word in members.get_mut("command").and_then(Value::as_array_mut).into_iter().flatten() {
        let relative =
            word.as_str().and_then(|own| Path::new(own).strip_prefix(root).ok()?.to_str());
        if let Some(relative) = relative.map(str::to_owned) {
            *word = Value::String(relative);
        }
    }
    Some(line.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_what_they_say() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let launches = folder.path().join("launches");
        fs::create_dir(&launches).expect("it can be made");
        let line = |root: &str, pid: u32| {
            format!(r#"{{"record":"process","version":3,"command":["{root}/t","a"],"pid":{pid}}}"#)
        };
        let written = |name: &str, text: String| {
            fs::write(launches.join(name), text).expect("it can be written");
        };
        let files = || {
            let entries = fs::read_dir(&launches).expect("it is there");
            let names = entries.map(|entry| entry.expect("it is there").file_name());
            let mut names: Vec<String> =
                names.map(|own| own.to_string_lossy().into_owned()).collect();
            names.sort();
            names
        };
        written("7-1.jsonl", format!("{}\n{{\"a\":1}}\n", line("/here", 7)));
        name_by_contents(folder.path(), Path::new("/here")).expect("it is renamed");
        let first = files();
        assert_eq!(first.len(), 1);
        let text = fs::read_to_string(launches.join(&first[0])).expect("it is there");
        assert!(
            text.contains(r#""command":["t","a"]"#) && text.ends_with("\n{\"a\":1}\n"),
            "{text}"
        );
        // The same elsewhere, as another process; and one that says something else.
        written("8-2.jsonl", format!("{}\n{{\"a\":1}}\n", line("/there", 8)));
        name_by_contents(folder.path(), Path::new("/there")).expect("it is renamed");
        assert_eq!(files(), first);
        written("9-3.jsonl", format!("{}\n{{\"a\":2}}\n", line("/here", 9)));
        name_by_contents(folder.path(), Path::new("/here")).expect("it is renamed");
        assert_eq!(files().len(), 2);
        // A part of a line, of a process that was killed while it wrote.
        written("10-4.jsonl", "{\"rec".to_owned());
        name_by_contents(folder.path(), Path::new("/here")).expect("it is renamed");
        assert!(files().contains(&"10-4.jsonl".to_owned()));
    }
}
