//! Compiles the stand-in with the compiler that compiles this package, for the target of this package, and leaves it in the output
//! folder. It is a library of its own: no package manager, no dependencies, always optimised.

use std::path::PathBuf;
use std::process::Command;
use std::{env, error};

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed=standin");
    println!("cargo::rustc-check-cfg=cfg(weft_standin)");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}"));
    // With musl, a library would bring a second standard library of C into the programs.
    if target("OS")? != "linux" || target("POINTER_WIDTH")? != "64" || target("ENV")? != "gnu" {
        return Ok(());
    }
    let out = PathBuf::from(env::var("OUT_DIR")?).join("libcuda.so");
    let mut compiler = Command::new(env::var("RUSTC")?);
    compiler
        .args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "cuda"])
        .args(["-C", "opt-level=2", "-C", "codegen-units=1", "-C", "strip=symbols"])
        .args(["--cap-lints", "allow"])
        // Programs look for either name; what is linked to it asks for this one.
        .args(["-C", "link-arg=-Wl,-soname,libcuda.so.1"])
        // Its functions are called when the process forks and while it ends, so that it must not be unloaded.
        .args(["-C", "link-arg=-Wl,-z,nodelete"])
        .args(["--target", &env::var("TARGET")?])
        .arg("-o")
        .arg(&out)
        .arg("standin/lib.rs");
    // Cross compiling needs the linker that cargo is configured with.
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        compiler.arg("-C").arg(format!("linker={linker}"));
    }
    let output = compiler.output()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the stand-in for the CUDA driver does not compile:\n{errors}").into());
    }
    println!("cargo::rustc-cfg=weft_standin");
    Ok(())
}
