//! Why there is nothing to check, and what to do about it.

use weft_core::report::escape;

use crate::collect::BuiltPackage;
use crate::gpu_code;

/// No selected package has PTX.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nothing to check: no selected package has PTX{}", .0.as_deref().map_or_else(|| PLAIN.to_owned(), ways_out))]
pub(crate) struct NothingFound(
    /// GPU code that is no PTX, in words, if the packages have some.
    Option<String>,
);

/// What to do about packages in which no GPU code is seen.
const PLAIN: &str = "; PTX that a build script leaves in OUT_DIR is found automatically, saved files are named by \
                     `ptx = [\"kernels/*.ptx\"]` in weft.toml";

impl NothingFound {
    /// Looks in the packages for GPU code that is no PTX.
    pub(crate) fn of(packages: &[BuiltPackage]) -> Self {
        let source = packages.iter().find_map(|own| gpu_code::cuda_source(&own.dir));
        let compiled = || {
            let all = packages.iter().flat_map(|own| gpu_code::compiled(&own.out_dirs));
            all.min().map(|name| format!("machine code, such as {} in OUT_DIR", escape(&name)))
        };
        let source =
            source.map(|path| format!("CUDA C++, such as {}", escape(&path.display().to_string())));
        Self(source.or_else(compiled))
    }
}

/// Returns what to do about GPU code that is no PTX.
fn ways_out(code: &str) -> String {
    format!(
        ", but there is {code}: have the build script compile it to PTX with the crate `weft-build`, or run with \
         `--capture-nvcc` if the script calls nvcc; `cargo weft doctor` says what is not seen"
    )
}
