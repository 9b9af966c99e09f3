//! Tests of `--solver`, with shell scripts in place of solvers.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Folder, Run};

/// Each thread of one cta writes the element whose index is the square of its own: clean, but that two squares differ is
/// more than the checker's own solver finds within its budget.
const SQUARES: &str = "\
.version 8.0
.target sm_80
.address_size 64

.visible .entry squares(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;

    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.lo.u32 %r2, %r1, %r1;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
";

/// Answers the questions by which a solver is tried, refutes those with products, and counts them.
const REFUTES: &str = "\
if [ \"$1\" = --version ]; then echo 1; exit; fi
case \"$(cat \"$1\")\" in
*bvmul*) echo unsat; echo one >> asked;;
*'#x06'*) echo unsat; echo '(error \"no values\")';;
*) echo sat; echo '((a0 #x05))';;
esac
";

/// Returns a folder with a solver that runs these lines of shell.
fn folder(name: &str, solver: &str) -> Folder {
    let folder = Folder::new(name)
        .with("squares.ptx", SQUARES)
        .with("solver", format!("#!/bin/sh\n{solver}"));
    let executable = Permissions::from_mode(0o755);
    fs::set_permissions(folder.path().join("solver"), executable).expect("the file is there");
    folder
}

fn check(folder: &Folder) -> Run {
    folder.weft("check squares.ptx --grid 1 --solver ./solver")
}

#[test]
fn what_a_solver_refutes_is_proved_and_told() {
    let folder = folder("refuting-solver", REFUTES);
    folder.weft("check squares.ptx --grid 1").exits(102);
    check(&folder)
        .exits(0)
        .says("the solver that was asked gives right answers: `./solver` (1 of 1)");
    let asked = fs::read_to_string(folder.path().join("asked")).expect("it was asked");
    assert!(!asked.is_empty());
}

#[test]
fn a_solver_without_an_answer_leaves_a_verdict_open() {
    for (name, answer) in [
        ("silent-solver", "exit 1"),
        ("unknowing-solver", "echo unknown"),
        ("mistaken-solver", "echo sat; echo '((a0 #x05) (a1 #x00000001) (a2 #x00000001))'"),
        ("failing-solver", "echo '(error \"line 1\")'; echo unsat"),
    ] {
        let solver = REFUTES.replace("echo unsat; echo one >> asked", answer);
        assert_ne!(solver, REFUTES);
        check(&folder(name, &solver)).exits(102).says("0 clean, 0 defect, 1 open");
    }
}

#[test]
fn a_command_that_is_no_solver_is_an_error() {
    let folder = folder("no-solver", "echo hello");
    check(&folder).exits(2).complains("`./solver` is no solver").complains("answers \"hello\\n\"");
    let agrees = folder.with("solver", "#!/bin/sh\necho sat\n");
    check(&agrees).exits(2).complains("whether a number can be 5 and 6");
    let missing = agrees.weft("check squares.ptx --solver missing-solver");
    missing.exits(2).complains("cannot start the solver `missing-solver`");
}

#[test]
fn verdicts_are_kept_for_each_solver() {
    let manifest =
        "[package]\nname = \"solved\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    let folder = folder("kept-answers", REFUTES)
        .with("Cargo.toml", manifest)
        .with("src/lib.rs", "")
        .with("weft.toml", "ptx = [\"*.ptx\"]\n[default]\ngrid = 1\n");
    folder.weft("--solver ./solver").exits(0);
    let asked = || fs::read_to_string(folder.path().join("asked")).expect("it was asked").len();
    let first = asked();
    folder.weft("--solver ./solver").exits(0);
    assert_eq!(asked(), first, "the second run takes the kept verdict");
    folder.weft("").exits(102);
}
