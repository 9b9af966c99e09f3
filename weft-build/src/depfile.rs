//! Reads the list of files that a compiler read, in the form of a makefile, which nvcc and rustc write alike.

/// Returns the prerequisites of all rules of a makefile, each once, in the order of the text. Comments are left out.
pub(crate) fn prerequisites(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    // A backslash at the end of a line continues it.
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut is_target = true;
        for word in words(line) {
            if !is_target && !word.is_empty() && !found.contains(&word) {
                found.push(word);
            } else if word.ends_with(':') {
                is_target = false;
            }
        }
    }
    found
}

/// Splits a line at spaces that no backslash precedes. Other backslashes stay, since paths of Windows have them.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        match (c, next, words.last_mut()) {
            ('\\', Some(special @ (' ' | '#')), Some(word))
            | ('$', Some(special @ '$'), Some(word)) => {
                word.push(special);
                rest.next();
            }
            (c, _, _) if c.is_whitespace() => words.push(String::new()),
            (c, _, Some(word)) => word.push(c),
            (_, _, None) => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::prerequisites;

    #[test]
    fn what_nvcc_writes() {
        let text =
            "/out/k.ptx : kernels/k.cu \\\n    kernels/my\\ tile.h \\\n    /cuda/include/a.h\n";
        assert_eq!(prerequisites(text), ["kernels/k.cu", "kernels/my tile.h", "/cuda/include/a.h"]);
    }

    #[test]
    fn what_rustc_writes() {
        let text = "o/k.ptx: kernels/k.rs kernels/lang.rs\n\no/k.d: kernels/k.rs kernels/lang.rs\n\n\
                    kernels/k.rs:\nkernels/lang.rs:\n\n# env-dep:RUSTC_BOOTSTRAP\n";
        assert_eq!(prerequisites(text), ["kernels/k.rs", "kernels/lang.rs"]);
    }

    #[test]
    fn paths_of_windows_keep_their_backslashes() {
        assert_eq!(
            prerequisites("k.ptx : C:\\cuda\\a.h \\\r\n D:/b$$.h\r\n"),
            ["C:\\cuda\\a.h", "D:/b$.h"]
        );
    }
}
