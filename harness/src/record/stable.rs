//! Names of a record's files of launches that do not depend on when and as which process the program ran, so that a record which says
//! the same as one that is committed is the same.

use std::fs;
use std::io;
use std::path::Path;

use super::hash::hash_name;

/// Names each file of launches in `folder` by the hash of its text. Processes that have launched the same in the same order have one file.
/// A process that has not ended yet goes on writing into its file.
///
/// # Errors
/// A file that cannot be read or renamed.
pub fn name_by_contents(folder: &Path) -> io::Result<()> {
    let launches = folder.join("launches");
    let Ok(entries) = fs::read_dir(&launches) else { return Ok(()) };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    for path in paths.iter().filter(|path| path.extension().is_some_and(|own| own == "jsonl")) {
        let name = hash_name(&fs::read(path)?);
        fs::rename(path, launches.join(name).with_extension("jsonl"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn files_are_named_by_what_they_say() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let launches = folder.path().join("launches");
        fs::create_dir(&launches).expect("it can be made");
        let files = || {
            let entries = fs::read_dir(&launches).expect("it is there");
            entries.map(|entry| entry.expect("it is there").path()).collect::<Vec<_>>()
        };
        let mut open = fs::File::create(launches.join("7-1.jsonl")).expect("it can be made");
        open.write_all(b"{\"a\":1}\n").expect("it can be written");
        name_by_contents(folder.path()).expect("it is renamed");
        let first = files();
        assert_eq!(first.len(), 1);
        // The same by another process; again; and one that says something else.
        fs::write(launches.join("8-2.jsonl"), "{\"a\":1}\n").expect("it can be written");
        name_by_contents(folder.path()).expect("it is renamed");
        assert_eq!(files(), first);
        fs::write(launches.join("9-3.jsonl"), "{\"a\":2}\n").expect("it can be written");
        name_by_contents(folder.path()).expect("it is renamed");
        assert_eq!(files().len(), 2);
    }

    #[test]
    fn a_process_goes_on_writing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let launches = folder.path().join("launches");
        fs::create_dir(&launches).expect("it can be made");
        let mut open = fs::File::create(launches.join("7-1.jsonl")).expect("it can be made");
        name_by_contents(folder.path()).expect("it is renamed");
        open.write_all(b"{}\n").expect("it can be written");
        let entry = fs::read_dir(&launches).expect("it is there").next().expect("one file");
        assert_eq!(fs::read(entry.expect("it is there").path()).expect("it is there"), b"{}\n");
    }
}
