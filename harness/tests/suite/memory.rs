//! Tests of PTX that is given as a text.

use weft_harness::check;

/// Each thread writes the word at byte `n * tid` of a shared array.
const PTX: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry shift(.param .u32 n) {
    .reg .b32 %r<6>;
    .shared .align 4 .b8 words[4096];
    ld.param.u32    %r1, [n];
    mov.u32         %r2, %tid.x;
    mul.lo.u32      %r3, %r1, %r2;
    mov.u32         %r4, words;
    add.u32         %r4, %r4, %r3;
    st.shared.u32   [%r4], %r2;
    ret;
}
.visible .entry empty() { ret; }
";

fn text(config: &str) -> String {
    let failure = check(PTX, config).expect_err("it does not pass");
    // What `unwrap` shows, and a test that returns the error.
    assert_eq!(format!("{failure:?}"), failure.to_string());
    failure.to_string()
}

#[test]
fn clean_launches_give_reports() {
    let config = "default = { block = 32 }\n[[kernel]]\nname = 'shift'\n\
        [[kernel.launch]]\nlabel = 'words'\nargs = { n = 4 }\n\
        [[kernel.launch]]\nlabel = 'pairs'\nargs = { n = 8 }\nrequires = ['n % 8 == 0']\n";
    let kernels = check(PTX, config).expect("no two threads write one word");
    let names: Vec<_> = kernels.iter().map(|own| own.name.as_str()).collect();
    let expected =
        ["shift@words", "shift@pairs", "empty"].map(|name| format!("weft-harness::ptx::{name}"));
    assert_eq!(names, expected);
    assert!(kernels.iter().all(|own| own.is_clean));
    assert!(kernels[1].report.starts_with("clean: kernel `shift` with block 32"), "{kernels:#?}");
}

#[test]
fn a_race_is_told_as_a_report() {
    let text = text("default = { block = 32 }\nkernel = [{ name = 'shift', args = { n = 0 } }]\n");
    assert!(text.starts_with("---- weft-harness::ptx::shift ----\nerror[shared-race]"), "{text}");
    assert!(text.contains("ptx:12:5") && text.contains("st.shared.u32   [%r4], %r2;"), "{text}");
    assert!(!text.contains("::empty"), "only what is not clean is told: {text}");
}

#[test]
fn findings_can_be_allowed() {
    let entry = |code: &str| {
        format!(
            "default = {{ block = 32 }}\nkernel = [{{ name = 'shift', args = {{ n = 0 }}, \
             allow = [{{ code = '{code}', reason = 'meant' }}] }}]\n"
        )
    };
    let kernels = check(PTX, &entry("shared-race")).expect("the race is accepted");
    assert_eq!(kernels.iter().map(|own| own.is_clean).collect::<Vec<_>>(), [false, true]);
    let text = text(&entry("deadlock"));
    assert!(text.contains("shared-race") && text.contains("accepts nothing"), "{text}");
}

#[test]
fn errors_have_positions() {
    let named = text("[default]\nblok = 32\n");
    assert!(named.starts_with("config:2:1: unknown key `blok`"), "{named}");
    let argument = text("kernel = [{ name = 'shift', args = { m = 1 } }]");
    assert!(argument.starts_with("config:1:"), "{argument}");
    let dead = text("kernel = [{ name = 'absent' }]");
    assert!(dead.starts_with("config:1:"), "{dead}");
    let files = text("ptx = ['kernels/*.ptx']");
    assert!(files.starts_with("config:1:8: `ptx` names files"), "{files}");
    let broken = PTX.replace("%r3, %r1, %r2", "%r3 %r1, %r2");
    let broken = check(&broken, "").expect_err("it is not PTX").to_string();
    assert!(broken.contains("ptx:9:25: "), "{broken}");
    let none = check(".version 8.0\n.target sm_80\n.address_size 64\n", "");
    let none = none.expect_err("there is nothing to check").to_string();
    assert!(none.contains("has no kernel"), "{none}");
}
