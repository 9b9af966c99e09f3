//! Tests the checker by mutation. In every clean fixture and every clean kernel of the sample crates, the
//! synchronization is weakened in one place at a time. A mutant that is still clean must be listed in
//! `fixtures/survivors.txt` with the reason why it is correct; a line of that table whose mutant does not survive fails
//! as well.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use weft_core::finding::{Report, Verdict};
use weft_core::launch::Launch;
use weft_core::mutate::{self, Mutant};
use weft_core::ptx::{self, Module};
use weft_fixture_tests::files;
use weft_fixture_tests::language::Fixture;
use weft_harness::config::Config;
use weft_harness::name::KernelName;
use weft_harness::signature::ParameterNames;

/// The sample crates; their PTX files are in `kernels/`.
const SAMPLES: [&str; 3] = ["saxpy-pipeline", "early-handover", "rust-reduce"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = trials().unwrap_or_else(|error| {
        vec![Trial::test("mutants::table", move || Err(Failed::from(error.to_string())))]
    });
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Identifies a mutant in the table: where the change is, and what kind of change it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// Path relative to `fixtures/`.
    file: String,
    kernel: String,
    line: u32,
    change: String,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.file, self.kernel, self.line, self.change)
    }
}

fn trials() -> std::io::Result<Vec<Trial>> {
    let root = files::root();
    let table = Arc::new(table(&fs::read_to_string(root.join("survivors.txt"))?));
    let mut files = ptx_files(&root, "ptx")?;
    for sample in SAMPLES {
        files.extend(ptx_files(&root, &format!("{sample}/kernels"))?);
    }
    let known: BTreeSet<String> = files.iter().cloned().collect();
    let mut trials = vec![Trial::test("mutants::table", {
        let table = Arc::clone(&table);
        move || well_formed(&table, &known)
    })];
    for file in files {
        let (root, table) = (root.clone(), Arc::clone(&table));
        trials.push(Trial::test(format!("mutants::{file}"), move || judge(&root, &file, &table)));
    }
    Ok(trials)
}

/// Returns the PTX files below a folder, relative to `root`.
fn ptx_files(root: &Path, folder: &str) -> std::io::Result<Vec<String>> {
    let paths = files::below(&root.join(folder), "ptx")?;
    Ok(paths.iter().map(|path| files::relative(path, root)).collect())
}

/// The entries of the table; `Err` holds a malformed line.
type Table = Vec<Result<Key, String>>;

/// Parses the table: `FILE KERNEL LINE CHANGE: why`, one entry a line; `#` starts a comment.
fn table(text: &str) -> Table {
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(entry).collect()
}

fn entry(line: &str) -> Result<Key, String> {
    let (key, why) = line.split_once(": ").ok_or(line)?;
    let words: Vec<&str> = key.split(' ').collect();
    let [file, kernel, number, change] = words[..] else { return Err(line.to_owned()) };
    if why.trim().is_empty() {
        return Err(line.to_owned());
    }
    let number = number.parse().map_err(|_| line.to_owned())?;
    let [file, kernel, change] = [file, kernel, change].map(str::to_owned);
    Ok(Key { file, kernel, line: number, change })
}

fn well_formed(table: &Table, files: &BTreeSet<String>) -> Result<(), Failed> {
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for entry in table {
        match entry {
            Err(line) => wrong.push(format!("`{line}` is not `FILE KERNEL LINE CHANGE: why`")),
            Ok(key) if !files.contains(&key.file) => wrong.push(format!("{key}: no such file")),
            Ok(key) if !seen.insert(key) => wrong.push(format!("{key}: twice")),
            Ok(_) => {}
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failed::from(wrong.join("\n"))) }
}

fn judge(root: &Path, file: &str, table: &Table) -> Result<(), Failed> {
    let survivors = survivors(root, file)?;
    let stated: BTreeSet<&Key> = table.iter().flatten().filter(|key| key.file == file).collect();
    let mut wrong = Vec::new();
    for (key, text) in &survivors {
        if !stated.contains(key) {
            wrong.push(format!("survives, and is not in the table: {key}\n    {text}"));
        }
    }
    for key in stated {
        if !survivors.iter().any(|(own, _)| own == key) {
            wrong.push(format!("is in the table, and does not survive: {key}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failed::from(wrong.join("\n"))) }
}

/// Returns the mutants of a file's clean kernels that are clean too, each with the text that replaces the instruction: of
/// those that lie between the kernel and a clean deletion, which have to be clean, only the deletion.
fn survivors(root: &Path, file: &str) -> Result<Vec<(Key, String)>, Failed> {
    let path = root.join(file);
    let text = fs::read_to_string(&path)?;
    let module = ptx::parse(&text);
    let mut survivors = Vec::new();
    for kernel in module.kernels() {
        let name = module.name(kernel.name);
        for launch in launches(&path, &text, name)? {
            let report = weft_core::check(&module, kernel, &launch)?;
            if report.verdict() != Verdict::Clean {
                continue;
            }
            let mut verdicts = Vec::new();
            for mutant in mutate::mutants(&module, kernel, &report).list {
                let after = checked(&mutant.apply(&module), name, &launch)?;
                verdicts.push((mutant, after.verdict()));
            }
            for mutant in clean(&verdicts)? {
                let key = Key {
                    file: file.to_owned(),
                    kernel: name.to_owned(),
                    line: mutant.site.ptx.line,
                    change: mutant.change.name().to_owned(),
                };
                survivors.push((key, mutant.replacement.clone()));
            }
        }
    }
    Ok(survivors)
}

/// Returns the clean mutants, without those that lie before a clean deletion. Fails if one of these has a defect: a kernel would
/// gain one by more synchronization.
fn clean(verdicts: &[(Mutant, Verdict)]) -> Result<Vec<&Mutant>, Failed> {
    let (survivors, rest): (Vec<_>, Vec<_>) =
        verdicts.iter().partition(|(_, verdict)| *verdict == Verdict::Clean);
    let survivors: Vec<&Mutant> = survivors.into_iter().map(|(mutant, _)| mutant).collect();
    let is_before_clean = |mutant: &Mutant| survivors.iter().any(|own| mutant.lies_before(own));
    let is_defect = |verdict: Verdict| verdict == Verdict::Defect;
    if let Some((mutant, _)) =
        rest.iter().find(|(mutant, verdict)| is_defect(*verdict) && is_before_clean(mutant))
    {
        let (change, at) = (mutant.change.name(), mutant.site.ptx);
        return Err(format!("{change} at {at} has a defect, but its deletion is clean").into());
    }
    Ok(survivors.iter().copied().filter(|mutant| !is_before_clean(mutant)).collect())
}

fn checked(module: &Module, name: &str, launch: &Launch) -> Result<Report, Failed> {
    if let Some(error) = module.errors.first() {
        let at = module.position(error.span);
        return Err(Failed::from(format!("a mutant is no PTX: {at}: {error}\n{}", module.text())));
    }
    let kernel = module.kernel(name).ok_or("a mutant has lost its kernel")?;
    Ok(weft_core::check(module, kernel, launch)?)
}

/// Returns the launch of a fixture, or the launches that the sample's `weft.toml` states.
fn launches(path: &Path, text: &str, kernel: &str) -> Result<Vec<Launch>, Failed> {
    let package = path.parent().and_then(Path::parent).unwrap_or(path);
    let config = package.join("weft.toml");
    if !config.is_file() {
        return Ok(vec![Fixture::parse(text, path)?.launch()]);
    }
    let names = ParameterNames::default();
    let named = Config::read(&config)?.launches(&KernelName::new(kernel), &names)?;
    Ok(named.into_iter().map(|named| named.launch).collect())
}
