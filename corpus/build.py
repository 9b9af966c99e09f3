#!/usr/bin/env python3
"""Compiles a corpus of kernels that were not written for cargo-weft, from the headers of the CUDA packages on PyPI
(CUB, Thrust, cooperative groups, libcu++) and from Rust's `core`. Only the code that instantiates them belongs to
cargo-weft.

    corpus/build.py OUT [--nvcc PATH] [--rustc PATH --core PATH] [--jobs N]

The PTX is written to OUT/ptx/GROUP/, its sources to OUT/src/. Without --nvcc, pip installs the CUDA packages into
OUT/cuda. Without --rustc, the Debian packages of a rustc and its library sources are unpacked in OUT/rust; --core is
the path of library/core/src/lib.rs of the same rustc. Downloads need the network. Uses only the standard library.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cuda  # noqa: E402

CUDA_PACKAGES = [f"nvidia-{name}==13.0.*" for name in
                 ("cuda-nvcc", "nvvm", "cuda-crt", "cuda-runtime", "cuda-cccl")]
DEBIAN_PACKAGES = ["rustc-web", "libstd-rust-web-1.85", "libstd-rust-web-dev", "rust-web-src", "libllvm19"]
BUILTINS = """#![no_std]
#![feature(compiler_builtins)]
#![compiler_builtins]
#[no_mangle]
pub unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    let mut at = 0;
    while at < n {
        let (x, y) = (*a.add(at), *b.add(at));
        if x != y {
            return x as i32 - y as i32;
        }
        at += 1;
    }
    0
}
"""
RUST = pathlib.Path(__file__).parent / "rust"
ARCHITECTURES = ("sm_80", "sm_90")
# Debug builds keep overflow checks and all calls; release builds inline calls.
PROFILES = {
    "release": ["-Copt-level=3"],
    "checked": ["-Copt-level=1", "-Coverflow-checks=on", "-Cdebug-assertions=on"],
    "debug": ["-Copt-level=0", "-Cdebug-assertions=on"],
}


def run(command, **options):
    """Runs a command; returns its error message if it fails, otherwise None."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    return None if done.returncode == 0 else f"{command[0]}: {done.stderr.strip()[-2000:]}"


def must(command, **options):
    complaint = run(command, **options)
    if complaint:
        sys.exit(complaint)


def install_nvcc(folder):
    venv.create(folder, with_pip=True)
    must([folder / "bin/pip", "install", "--quiet", *CUDA_PACKAGES])
    return next(folder.glob("lib/python*/site-packages/nvidia/cu13/bin/nvcc"))


def unpack_rust(folder):
    """Unpacks Debian's `-web` packages, which have a newer rustc than the release, with the sources of its library."""
    folder.mkdir(parents=True, exist_ok=True)
    must(["apt-get", "download", *DEBIAN_PACKAGES], cwd=folder)
    for package in folder.glob("*.deb"):
        must(["dpkg", "-x", package, folder / "root"])
    core = next(folder.glob("root/usr/src/rustc-*/library/core/src/lib.rs"))
    return folder / "root/usr/bin/rustc", core


def compile_cuda(nvcc, out):
    jobs = []
    (out / "src").mkdir(parents=True, exist_ok=True)
    include = nvcc.parent.parent / "include/cccl"
    for group, name, source in cuda.units():
        file = out / "src" / f"{name}.cu"
        file.write_text(source)
        for arch in cuda.ONLY.get(name, ARCHITECTURES):
            ptx = out / "ptx" / group.replace(" ", "_") / f"{name}.{arch}.ptx"
            flags = ["-ptx", "-lineinfo", "-std=c++17", f"-arch={arch}", f"-I{include}"]
            jobs.append((ptx, [nvcc, *flags, file, "-o", ptx]))
    return jobs


def compile_rust(rustc, core, out):
    """Builds `core` itself, then the kernels with it linked in."""
    library = out / "src" / "library"
    library.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}
    for folder in rustc.parent.parent.glob("lib/*/librustc_driver*"):
        environment["LD_LIBRARY_PATH"] = str(folder.parent)
    target = ["--edition=2021", "--target=nvptx64-nvidia-cuda", "-Cpanic=abort", "-Cembed-bitcode=yes",
              "-Ccodegen-units=1", "--cap-lints=allow"]
    common = [rustc, *target, "--crate-type=rlib", "-Zforce-unstable-if-unmarked", "--out-dir", library]
    must([*common, "--crate-name=core", "-Copt-level=3", core], env=environment)
    # Every crate without `std` links to this crate. LLVM expands all that the kernels need of it except `memcmp`.
    builtins = library / "compiler_builtins.rs"
    builtins.write_text(BUILTINS)
    must([*common, "--crate-name=compiler_builtins", "-L", library, builtins], env=environment)
    jobs = []
    for source in sorted(RUST.glob("*.rs")):
        for profile, flags in PROFILES.items():
            ptx = out / "ptx" / "rustc_and_core" / f"{source.stem}.{profile}.ptx"
            variables = [f"{name}={environment[name]}" for name in ("RUSTC_BOOTSTRAP", "LD_LIBRARY_PATH")
                         if name in environment]
            jobs.append((ptx, [
                "env", *variables, rustc, *target, *flags, f"--crate-name={source.stem}_{profile}",
                "--crate-type=cdylib", "-Clto=fat", "-Ctarget-cpu=sm_80", "-Cdebuginfo=1",
                # ptxas does not accept the section that LLVM prints for address ranges.
                "-Zno-generate-arange-section", "--emit=asm", "-L", library, source, "-o", ptx]))
    return jobs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--nvcc", type=pathlib.Path)
    parser.add_argument("--rustc", type=pathlib.Path)
    parser.add_argument("--core", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    out = options.out.absolute()
    out.mkdir(parents=True, exist_ok=True)
    if (options.rustc is None) != (options.core is None):
        parser.error("--rustc and --core belong together")
    rust = (options.rustc, options.core) if options.rustc else unpack_rust(out / "rust")
    jobs = compile_cuda(options.nvcc or install_nvcc(out / "cuda"), out) + compile_rust(*rust, out)

    def compile_one(job):
        ptx, command = job
        ptx.parent.mkdir(parents=True, exist_ok=True)
        return ptx, run(command)

    with ThreadPoolExecutor(options.jobs) as pool:
        failed = [(ptx, complaint) for ptx, complaint in pool.map(compile_one, jobs) if complaint]
    for ptx, complaint in failed:
        print(f"not compiled: {ptx.name}: {complaint}", file=sys.stderr)
    print(f"{len(jobs) - len(failed)} files in {out / 'ptx'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
