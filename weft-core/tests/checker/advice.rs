//! Tests of what findings advise: it holds for every pair of threads that a finding is about, and for the memory that it names.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use weft_core::finding::{Code, Finding, Report};
use weft_core::launch::{Arg, Buffer, Dim3, Launch};
use weft_core::{check, ptx};

/// Checks a kernel with these parameters, variables and body. `%r1` is the thread, `%r2` the cta, `%rd9` four times the
/// thread.
fn report(params: &str, declared: &str, body: &str, launch: &Launch) -> Report {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];\n\
         .visible .entry k({params})\n{{\n{declared}\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<16>;\n\
         mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmul.wide.u32 %rd9, %r1, 4;\n{body}\nDONE: ret;\n}}\n"
    );
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}\n{text}", module.errors);
    check(&module, module.kernel("k").unwrap(), launch).unwrap()
}

fn stated(grid: u32) -> Launch {
    let [block, grid] = [64, grid].map(|size| Some(Dim3::line(size).into()));
    Launch { block, grid, ..Launch::default() }
}

/// Returns the only finding with this code.
fn only(report: &Report, code: Code) -> &Finding {
    let all: Vec<_> = report.findings.iter().filter(|own| own.code == code).collect();
    assert_eq!(all.len(), 1, "{report:#?}");
    all[0]
}

fn help(report: &Report, code: Code) -> String {
    only(report, code).help.clone().unwrap()
}

/// Each thread writes the word of its number in every cta, and reads that of the next one.
const NEIGHBOURS: &str = "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\nadd.s64 %rd2, %rd1, %rd9;\n\
    st.global.u32 [%rd2], %r1;\nld.global.u32 %r3, [%rd2+4];\nst.global.u32 [%rd2+4096], %r3;\n";

#[test]
fn no_barrier_is_advised_for_races_between_ctas() {
    let of = |body: &str, grid: u32| report(".param .u64 p", "", body, &stated(grid));
    let of_pair = |report: &Report| {
        let is_it = |own: &&Finding| own.code == Code::GlobalRace && own.sites.len() == 2;
        let found = report.findings.iter().find(is_it).unwrap().clone();
        (found.pairs.unwrap().between_ctas > 0, found.help.unwrap())
    };
    let (is_between, one_cta) = of_pair(&of(NEIGHBOURS, 1));
    assert!(!is_between && one_cta.starts_with("put a barrier between the two"), "{one_cta}");
    let (is_between, both) = of_pair(&of(NEIGHBOURS, 2));
    assert!(is_between && both.contains("a barrier orders only threads of one cta"), "{both}");
    // The first thread of a cta alone: no two threads of one cta race.
    let first = format!("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n{NEIGHBOURS}")
        .replace("%rd2+4]", "%rd2]")
        .replace("%rd2+4096", "%rd9+4096");
    let first = first.replace("st.global.u32 [%rd9+4096], %r3;\n", "");
    let (is_between, ctas) = of_pair(&of(&first, 2));
    assert!(is_between && !ctas.contains("barrier"), "{ctas}");
    assert!(ctas.starts_with("nothing orders ctas of one launch"), "{ctas}");
}

#[test]
fn what_an_input_shows_is_advised_for_its_own_pairs() {
    // With a stride of 0, all threads of all ctas write one word and read it.
    let body = "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\nld.param.u32 %r5, [n];\nmov.u32 %r6, %ntid.x;\n\
        mad.lo.u32 %r4, %r2, %r6, %r1;\nmul.lo.u32 %r4, %r4, %r5;\nmul.wide.u32 %rd3, %r4, 4;\nadd.s64 %rd2, %rd1, %rd3;\n\
        st.global.u32 [%rd2], %r1;\n";
    let mut launch = stated(2);
    launch.options.witness = 64;
    let report = report(".param .u64 p, .param .u32 n", "", body, &launch);
    let found = only(&report, Code::RaceForInput);
    let text = format!("{found:?}");
    assert!(found.pairs.unwrap().between_ctas > 0 && !text.contains("barrier between"), "{text}");
}

#[test]
fn memory_is_enlarged_where_it_is_stated() {
    let access = |variable: &str| {
        format!(
            "mov.u64 %rd1, {variable};\nadd.s64 %rd2, %rd1, %rd9;\nst.shared.u32 [%rd2+4096], %r1;\n"
        )
    };
    let array = ".shared .align 4 .b8 array[256];";
    let text = help(&report("", array, &access("array"), &stated(1)), Code::OutOfBounds);
    assert_eq!(text, "guard the access, or make the array larger");
    let launch = Launch { shared: Some(256), ..stated(1) };
    let text = help(&report("", "", &access("dynamic"), &launch), Code::OutOfBounds);
    assert_eq!(
        text,
        "guard the access, or correct the size of dynamic shared memory in the launch"
    );
    let body = "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\nadd.s64 %rd2, %rd1, %rd9;\n\
        st.global.u32 [%rd2+4096], %r1;\n";
    let buffer = Arg::Buffer(Buffer { contents: Some(vec![0; 256]) });
    let launch = Launch { args: [(0, buffer)].into(), ..stated(1) };
    let text = help(&report(".param .u64 p", "", body, &launch), Code::OutOfBounds);
    assert_eq!(text, "guard the access, or correct the buffer that the launch states");
}

#[test]
fn contents_are_of_the_elements_that_the_kernel_loads() {
    for (load, register, element) in [
        ("ld.global.u8", "%r3", "u8"),
        ("ld.global.u16", "%r3", "u16"),
        ("ld.global.u32", "%r3", "u32"),
        ("ld.global.nc.v2.u32", "{%r3, %r4}", "u32"),
    ] {
        let body = format!(
            "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\n{load} {register}, [%rd1];\n\
             mul.wide.u32 %rd3, %r3, 4;\nmov.u64 %rd4, array;\nadd.s64 %rd4, %rd4, %rd3;\n\
             ld.shared.u32 %r5, [%rd4];\nmov.u64 %rd5, array;\nadd.s64 %rd5, %rd5, %rd9;\n\
             st.shared.u32 [%rd5], %r5;\n"
        );
        let mut launch = stated(1);
        launch.options.witness = 0;
        let array = ".shared .align 4 .b8 array[256];";
        let found = report(".param .u64 p", array, &body, &launch);
        let texts: String = found.findings.iter().filter_map(|own| own.help.clone()).collect();
        let wanted = format!("`args = {{ p = {{ {element} = [0, 1] }} }}`");
        assert!(texts.contains(&wanted), "{load}: {found:#?}");
    }
}

#[test]
fn arguments_are_named_where_their_names_are_known() {
    let body = |at: &str| {
        format!(
            "ld.param.u32 %r4, [{at}];\nmul.wide.u32 %rd3, %r4, 4;\nmov.u64 %rd4, array;\n\
            add.s64 %rd4, %rd4, %rd3;\nadd.s64 %rd5, %rd4, %rd9;\n\
             ld.shared.u32 %r5, [%rd5];\nmov.u64 %rd6, array;\nadd.s64 %rd6, %rd6, %rd9;\nst.shared.u32 [%rd6], %r5;\n"
        )
    };
    let texts = |param: &str, witness: u32| -> String {
        let mut launch = stated(1);
        launch.options.witness = witness;
        let array = ".shared .align 4 .b8 array[256];";
        let found = report(&format!(".param .u32 {param}"), array, &body(param), &launch);
        found.findings.iter().map(|own| format!("{:?}\n", own.help)).collect::<Vec<_>>().concat()
    };
    for (param, key) in [("length", "length"), ("k_param_0", "0")] {
        let open = texts(param, 0);
        assert!(open.contains(&format!("args = {{ {key} = 1000 }}")), "{open}");
        let shown = texts(param, 8);
        assert!(shown.contains("reproduces it") || shown.contains(key), "{shown}");
        let other = if key == "0" { "length = " } else { "{ 0 = " };
        assert!(!shown.contains(other), "{shown}");
    }
}
