//! `cargo weft completions` and `cargo weft man`: what a package of the program installs beside it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::arguments::{self, Completions, Man};
use crate::exit::{Exit, Failure};
use crate::print::Printer;

/// A manual page that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}", .path.display())]
pub(crate) struct ManualError {
    path: PathBuf,
    source: io::Error,
}

/// Prints the completions for a shell.
pub(crate) fn completions(arguments: Completions, printer: &mut Printer) -> Result<Exit, Failure> {
    let text = arguments::completions(arguments.shell);
    printer.text(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Clean)
}

/// Prints the first manual page, or writes all of them to a folder.
pub(crate) fn man(arguments: &Man, printer: &mut Printer) -> Result<Exit, Failure> {
    let pages = arguments::pages().map_err(Failure::from)?;
    let Some(folder) = &arguments.output else {
        let first = pages.first().map(|(_, text)| text.as_slice()).unwrap_or_default();
        printer.text(&String::from_utf8_lossy(first))?;
        return Ok(Exit::Clean);
    };
    let wrong = |path: &Path| {
        let path = path.to_path_buf();
        move |source: io::Error| ManualError { path, source }
    };
    fs::create_dir_all(folder).map_err(wrong(folder))?;
    for (name, text) in pages {
        let path = folder.join(name);
        fs::write(&path, text).map_err(wrong(&path))?;
    }
    Ok(Exit::Clean)
}
