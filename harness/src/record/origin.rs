//! What made a launch: a program, and a test of it where that is known.

use std::path::Path;

use weft_core::report::escape;

/// The program of a file of a record.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordedProgram {
    /// The name of its file; empty if that is not known.
    name: String,
    /// The test that it was started for alone.
    test: Option<String>,
}

impl RecordedProgram {
    /// Finds the name of the test in a command as runners that start a process for each test give it to libtest.
    pub(super) fn of(command: &[String]) -> Self {
        let path = command.first().map(String::as_str).unwrap_or_default();
        let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut rest = command.iter().skip(1);
        let test = rest.find(|word| !word.starts_with('-'));
        let is_exact = command.iter().any(|word| word == "--exact");
        Self { name, test: test.filter(|_| is_exact).cloned() }
    }

    /// Returns what made a launch in words; `None` if nothing is known. `thread`: the name of a thread that is not that of the program.
    pub(super) fn in_words(&self, thread: Option<&str>) -> Option<String> {
        let name = escape(&self.name);
        match (&self.test, thread) {
            _ if self.name.is_empty() => None,
            (Some(test), _) => Some(format!("`{name}`, test `{}`", escape(test))),
            // The system keeps 15 bytes of a name. libtest gives threads the names of their tests.
            (None, Some(thread)) if thread.len() == 15 => {
                Some(format!("`{name}`, thread `{}...`", escape(thread)))
            }
            (None, Some(thread)) => Some(format!("`{name}`, thread `{}`", escape(thread))),
            (None, None) => Some(format!("`{name}`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_tests_and_threads_are_named() {
        let of = |command: &[&str], thread| {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            RecordedProgram::of(&command).in_words(thread)
        };
        let told = |text: &str| Some(text.to_owned());
        assert_eq!(of(&[], Some("t")), None);
        assert_eq!(of(&["target/debug/app", "--fast", "file"], None), told("`app`"));
        assert_eq!(
            of(&["/a/deps/k-1f"], Some("tests::small")),
            told("`k-1f`, thread `tests::small`")
        );
        assert_eq!(
            of(&["k-1f"], Some("tests::the_firs")),
            told("`k-1f`, thread `tests::the_firs...`")
        );
        for command in
            [["k", "--exact", "tests::a", "--nocapture"], ["k", "tests::a", "--exact", "-q"]]
        {
            assert_eq!(of(&command, Some("tests::a")), told("`k`, test `tests::a`"));
        }
    }
}
