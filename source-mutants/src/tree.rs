//! Builds a copy of the workspace whose checker contains many mutants.
//!
//! Mutants that do not compile are identified by the errors of the compiler, and left out of the next build.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{error, fs};

use cargo_metadata::Message;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};

use crate::rewrite::{Rewritten, SWITCH, rewrite};
use crate::site::Mutant;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn error::Error>>;

/// Maximum number of builds: the compiler reports errors of types first, then those of borrows.
const MOST_BUILDS: usize = 8;
/// Disables lints that reject code of mutants.
const LINTS: &str = "[lints.rust]\nwarnings = \"allow\"\narithmetic_overflow = \"allow\"\n\
    unconditional_panic = \"allow\"\noverflowing_literals = \"allow\"\n";
/// This package, which is not mutated and therefore not built.
const SELF: &str = env!("CARGO_PKG_NAME");

/// A test binary.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    /// The folder of the package, and the target.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// The folder of the package, in which cargo would run the binary.
    pub(crate) folder: PathBuf,
}

/// The copy of the workspace. `root` is the workspace, `folder` the place for the copy and its build.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    pub(crate) root: &'a Path,
    pub(crate) folder: &'a Path,
}

impl Tree<'_> {
    fn path(&self, file: &str) -> PathBuf {
        self.folder.join("tree").join(file)
    }

    /// Copies the files that git tracks or would track, and adds the switch for mutants to `weft-core`.
    pub(crate) fn copy(&self) -> Result<()> {
        let tree = self.folder.join("tree");
        if tree.exists() {
            fs::remove_dir_all(&tree)?;
        }
        for file in files(self.root, &["--cached", "--others", "--exclude-standard"])? {
            let (from, to) = (self.root.join(&file), tree.join(&file));
            // Git also lists deleted files that are still in the index.
            if from.is_file() {
                fs::create_dir_all(to.parent().unwrap_or(&tree))?;
                fs::copy(from, to)?;
            }
        }
        let manifest = self.path("weft-core/Cargo.toml");
        let text = fs::read_to_string(&manifest)?;
        let (before, after) = text.split_once("[lints]\nworkspace = true\n").ok_or("no lints")?;
        fs::write(&manifest, [before, LINTS, after].concat())?;
        fs::write(self.path("weft-core/src/mutant.rs"), SWITCH)?;
        Ok(())
    }

    /// Builds the test binaries with the chosen mutants. Removes those that do not compile from `chosen`.
    pub(crate) fn build(
        &self,
        mutants: &[Mutant],
        chosen: &mut BTreeSet<usize>,
    ) -> Result<Vec<Binary>> {
        for _ in 0..MOST_BUILDS {
            let written = self.write(mutants, chosen)?;
            let (binaries, errors) = self.compile()?;
            if errors.is_empty() {
                return Ok(binaries);
            }
            let refused = refused(&errors, &written);
            if refused.is_empty() {
                let text = errors.into_iter().filter_map(|own| own.rendered).collect::<String>();
                return Err(format!("the rewritten tree does not compile:\n{text}").into());
            }
            chosen.retain(|number| !refused.contains(number));
        }
        Err(format!("mutants still do not compile after {MOST_BUILDS} builds").into())
    }

    fn write(
        &self,
        mutants: &[Mutant],
        chosen: &BTreeSet<usize>,
    ) -> Result<BTreeMap<String, Rewritten>> {
        let mut written = BTreeMap::new();
        let of_all: BTreeSet<&str> = mutants.iter().map(|own| own.file.as_str()).collect();
        for file in of_all {
            let numbered: Vec<_> = chosen
                .iter()
                .map(|&at| (at, &mutants[at]))
                .filter(|own| own.1.file == file)
                .collect();
            let text = rewrite(&fs::read_to_string(self.root.join(file))?, &numbered);
            fs::write(self.path(file), &text.text)?;
            written.insert(file.to_owned(), text);
        }
        let library = "weft-core/src/lib.rs";
        let text = match written.get(library) {
            Some(own) => own.text.clone(),
            None => fs::read_to_string(self.root.join(library))?,
        };
        fs::write(self.path(library), text + "\nmod mutant;\n")?;
        Ok(written)
    }

    fn compile(&self) -> Result<(Vec<Binary>, Vec<Diagnostic>)> {
        let tree = self.folder.join("tree");
        let mut command = Command::new("cargo");
        command.args(["test", "--workspace", "--exclude", SELF, "--no-run", "--locked"]);
        command.arg("--message-format=json").arg("--target-dir").arg(self.folder.join("build"));
        let mut child = command.current_dir(&tree).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().ok_or("cargo has no output")?;
        let (mut binaries, mut errors) = (Vec::new(), Vec::new());
        for message in Message::parse_stream(BufReader::new(output)) {
            match message? {
                Message::CompilerMessage(own) if own.message.level == DiagnosticLevel::Error => {
                    errors.push(own.message);
                }
                Message::CompilerArtifact(own) if own.profile.test => {
                    let folder = own.manifest_path.parent().ok_or("a manifest has a folder")?;
                    let package = folder.file_name().unwrap_or_default();
                    binaries.extend(own.executable.map(|path| Binary {
                        name: format!("{package}/{}", own.target.name),
                        path: path.into(),
                        folder: folder.into(),
                    }));
                }
                _ => {}
            }
        }
        if !child.wait()?.success() && errors.is_empty() {
            return Err("cargo could not build the rewritten tree".into());
        }
        Ok((binaries, errors))
    }
}

/// Returns the files that `git ls-files` lists with these options.
pub(crate) fn files(root: &Path, options: &[&str]) -> Result<Vec<String>> {
    let output = Command::new("git").arg("ls-files").args(options).current_dir(root).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
}

/// Returns the mutants that errors belong to: those at the primary spans, or, if there are none, those at other spans.
fn refused(errors: &[Diagnostic], written: &BTreeMap<String, Rewritten>) -> BTreeSet<usize> {
    let mutants = |own: &DiagnosticSpan| {
        let span: Range<usize> = own.byte_start as usize..own.byte_end as usize;
        written.get(&own.file_name).map(|text| text.mutants_at(&span)).unwrap_or_default()
    };
    let of = |is_primary: bool| -> BTreeSet<usize> {
        let spans = errors.iter().flat_map(|own| &own.spans);
        spans.filter(|own| own.is_primary == is_primary).flat_map(mutants).collect()
    };
    Some(of(true)).filter(|own| !own.is_empty()).unwrap_or_else(|| of(false))
}
