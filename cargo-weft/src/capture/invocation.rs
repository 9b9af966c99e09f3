//! What nvcc is asked to do, and the same as a compilation to PTX.
//!
//! The options are those of "CUDA Compiler Driver NVCC", chapter "NVCC Command Options".

use std::path::Path;

/// Options that say how far nvcc compiles and what it links; the PTX needs none of them.
const PHASES: [&str; 26] = [
    "-c",
    "--compile",
    "-dc",
    "--device-c",
    "-dw",
    "--device-w",
    "-cubin",
    "--cubin",
    "-fatbin",
    "--fatbin",
    "-lib",
    "--lib",
    "-link",
    "--link",
    "-shared",
    "--shared",
    "-G",
    "--device-debug",
    "-dlto",
    "--dlink-time-opt",
    "-MD",
    "--generate-dependencies-with-compile",
    "-MMD",
    "--generate-nonsystem-dependencies-with-compile",
    "-MP",
    "--generate-dependency-targets",
];
/// Options with a value that are left out with it: where results go, and for which devices.
const OUTPUTS: [&str; 24] = [
    "-o",
    "--output-file",
    "-odir",
    "--output-directory",
    "-MF",
    "--dependency-output",
    "-MT",
    "--dependency-target-name",
    "-arch",
    "--gpu-architecture",
    "-code",
    "--gpu-code",
    "-gencode",
    "--generate-code",
    "-jump-table-density",
    "--jump-table-density",
    "-Xlinker",
    "--linker-options",
    "-Xarchive",
    "--archive-options",
    "-Xnvlink",
    "--nvlink-options",
    "-Xfatbin",
    "--fatbin-options",
];
/// Options with which nvcc compiles nothing to machine code.
const NO_CODE: [&str; 16] = [
    "-ptx",
    "--ptx",
    "-E",
    "--preprocess",
    "-M",
    "--generate-dependencies",
    "-MM",
    "--generate-nonsystem-dependencies",
    "-dlink",
    "--device-link",
    "-dryrun",
    "--dryrun",
    "-cuda",
    "--cuda",
    "-optix-ir",
    "--optix-ir",
];
/// Options with a value that is no source, even if it looks like one.
const FILES: [&str; 17] = [
    "-include",
    "--pre-include",
    "-L",
    "--library-path",
    "-I",
    "--include-path",
    "-Xcompiler",
    "--compiler-options",
    "-Xptxas",
    "--ptxas-options",
    "-Xcudafe",
    "-isystem",
    "--system-include",
    "-ccbin",
    "--compiler-bindir",
    "-std",
    "--std",
];

/// One compilation that is to be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToPtx {
    /// The source.
    pub(super) source: String,
    /// The arguments of nvcc, without the name of the result.
    pub(super) arguments: Vec<String>,
}

/// Returns the compilations to PTX that repeat what nvcc is asked to do with these arguments, one for each source; none if it
/// compiles no CUDA source to machine code.
pub(super) fn to_ptx(arguments: &[String]) -> Vec<ToPtx> {
    let given = Given::read(arguments);
    if given.is_without_code {
        return Vec::new();
    }
    let mut common = given.kept;
    common.extend(["-ptx".to_owned(), "-lineinfo".to_owned()]);
    common.extend(newest(&given.devices).map(|device| format!("-arch=compute_{device}")));
    let compilation = |source: &String| ToPtx {
        source: source.clone(),
        arguments: common.iter().cloned().chain([source.clone()]).collect(),
    };
    let is_cuda = |source: &&String| given.is_all_cuda || ending(source) == "cu";
    given.sources.iter().filter(is_cuda).map(compilation).collect()
}

/// What the arguments say.
#[derive(Debug, Default)]
struct Given {
    kept: Vec<String>,
    /// C++ and CUDA files.
    sources: Vec<String>,
    /// The values of options that name devices.
    devices: Vec<String>,
    is_without_code: bool,
    /// Whether `-x cu` says that every source is CUDA C++.
    is_all_cuda: bool,
}

impl Given {
    fn read(arguments: &[String]) -> Self {
        let mut given = Self::default();
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) if name.starts_with('-') => (name, Some(value)),
                _ => (&word[..], None),
            };
            if NO_CODE.contains(&name) {
                given.is_without_code = true;
            } else if PHASES.contains(&name) {
            } else if OUTPUTS.contains(&name) {
                let value = value.map(str::to_owned).or_else(|| rest.next().cloned());
                given.devices.extend(value.filter(|_| {
                    name.contains("arch") && !name.contains("archive") || name.contains("code")
                }));
            } else if FILES.contains(&name) && value.is_none() {
                given.kept.push(word.clone());
                given.kept.extend(rest.next().cloned());
            } else if matches!(name, "-x" | "--x") {
                let value = value.map(str::to_owned).or_else(|| rest.next().cloned());
                given.is_all_cuda |= value.as_deref() == Some("cu");
                given.kept.extend(value.map(|value| format!("-x={value}")));
            } else if matches!(name, "-D" | "--define-macro") {
                let value =
                    value.map(str::to_owned).or_else(|| rest.next().cloned()).unwrap_or_default();
                given.kept.push(format!("-D{value}"));
            } else if let Some(value) = word.strip_prefix("-D") {
                given.kept.push(format!("-D{value}"));
            } else if word.starts_with('-') {
                given.kept.push(word.clone());
            } else {
                match ending(word) {
                    "cu" | "c" | "cc" | "cpp" | "cxx" => given.sources.push(word.clone()),
                    "o" | "obj" | "a" | "lib" | "so" | "ptx" | "cubin" | "fatbin" | "res" => {}
                    // The value of the option before it.
                    _ => given.kept.push(word.clone()),
                }
            }
        }
        given
    }
}

fn ending(path: &str) -> &str {
    Path::new(path).extension().and_then(std::ffi::OsStr::to_str).unwrap_or("")
}

/// Returns the newest virtual architecture of some values of `-arch`, `-code` and `-gencode`, such as `90a`.
fn newest(values: &[String]) -> Option<String> {
    let words =
        values.iter().flat_map(|value| value.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let device = |word: &str| {
        let name = word.strip_prefix("compute_").or_else(|| word.strip_prefix("sm_"))?;
        let digits = name.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        Some((digits.parse::<u32>().ok()?, name.len() - digits.len(), name.to_owned()))
    };
    words.filter_map(device).max().map(|(_, _, name)| name)
}

/// Splits the text of a variable or an options file into arguments: at white space that is not in quotes.
pub(super) fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(text: &str) -> Vec<String> {
        let compilations = to_ptx(&words(text)).into_iter();
        compilations.map(|own| own.arguments.join(" ")).collect()
    }

    #[test]
    fn what_the_crate_cc_asks_for() {
        let asked = "-ccbin=c++ -O3 -Xcompiler -ffunction-sections -Xcompiler -m64 -I include -DN=4 -D WIDE \
                     -gencode arch=compute_70,code=sm_70 -gencode arch=compute_80,code=[sm_80,compute_80] \
                     -o /out/scan.o --device-c kernels/scan.cu";
        let expected = "-ccbin=c++ -O3 -Xcompiler -ffunction-sections -Xcompiler -m64 -I include -DN=4 -DWIDE \
                        -ptx -lineinfo -arch=compute_80 kernels/scan.cu";
        assert_eq!(repeated(asked), [expected]);
        // What only the linker takes, with its value.
        assert_eq!(
            repeated("-Xlinker /usr/lib/libx.so -Xcompiler a.o -c k.cu"),
            ["-Xcompiler a.o -ptx -lineinfo k.cu"]
        );
    }

    #[test]
    fn each_source_is_compiled_by_itself() {
        let asked = "-shared -arch sm_90a -G a.cu host.cpp libx.a b.cu -o libk.so -lcudart";
        assert_eq!(
            repeated(asked),
            [
                "-lcudart -ptx -lineinfo -arch=compute_90a a.cu",
                "-lcudart -ptx -lineinfo -arch=compute_90a b.cu"
            ]
        );
        assert_eq!(repeated("-c -x cu k.cpp"), ["-x=cu -ptx -lineinfo k.cpp"]);
        assert_eq!(repeated("-c --x=cu k.cpp"), ["-x=cu -ptx -lineinfo k.cpp"]);
    }

    #[test]
    fn what_makes_no_machine_code_is_not_repeated() {
        for asked in [
            "--version",
            "-ptx k.cu -o k.ptx",
            "-M k.cu",
            "-E -x cu k.cu",
            "-dlink a.o b.o -o link.o",
            "-lib a.o -o lib.a",
            "-c host.cpp -o host.o",
            "-dryrun -c k.cu",
        ] {
            assert_eq!(repeated(asked), Vec::<String>::new(), "{asked}");
        }
    }

    #[test]
    fn a_file_that_is_included_is_no_source() {
        assert_eq!(
            repeated("-include common.cu -c k.cu"),
            ["-include common.cu -ptx -lineinfo k.cu"]
        );
    }

    #[test]
    fn the_newest_of_the_devices_counts() {
        let newest = |text: &str| newest(&[text.to_owned()]);
        assert_eq!(newest("arch=compute_100,code=sm_90").as_deref(), Some("100"));
        assert_eq!(newest("sm_90,sm_90a").as_deref(), Some("90a"));
        assert_eq!(newest("native"), None);
        assert_eq!(newest("lto_75"), None);
    }

    #[test]
    fn words_in_quotes_stay_together() {
        assert_eq!(words(" -D 'A=\"x y\"' -I\"my dir\" '' "), ["-D", "A=\"x y\"", "-Imy dir", ""]);
    }
}
