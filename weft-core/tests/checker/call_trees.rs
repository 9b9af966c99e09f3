//! Trees of calls with more paths than inlining would have room for.

use std::fmt::Write;

use weft_core::finding::Verdict;
use weft_core::launch::{Dim3, Launch};
use weft_core::{check, flow, ptx};

/// Returns a kernel with one access for each path of calls: `depth` levels of functions, each called `fan` times by the
/// level above. With `shift` 1, pairs of threads share a cell.
fn tree(depth: u32, fan: u32, shift: u32) -> String {
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n");
    for level in (1..=depth).rev() {
        let mut body = String::new();
        if level == depth {
            body += "st.shared.u32 [%cell], %word;\nadd.u32 %word, %word, 1;\n";
        } else {
            for _ in 0..fan {
                body += &call(level + 1);
            }
        }
        writeln!(
            text,
            ".func (.param .u32 out) level{level}(.param .u32 cell, .param .u32 word)\n{{\n\
             .reg .u32 %cell, %word;\nld.param.u32 %cell, [cell];\nld.param.u32 %word, [word];\n\
             {body}st.param.u32 [out], %word;\nret;\n}}"
        )
        .expect("a string takes all");
    }
    let call = call(1);
    writeln!(
        text,
        ".entry tree()\n{{\n.reg .u32 %word, %slot, %cell;\n.shared .align 4 .b8 words[128];\n\
         mov.u32 %word, %tid.x;\nshr.u32 %slot, %word, {shift};\nmov.u32 %cell, words;\n\
         mad.lo.u32 %cell, %slot, 4, %cell;\n{call}ret;\n}}"
    )
    .expect("a string takes all");
    text
}

fn call(level: u32) -> String {
    format!(
        "{{\n.param .u32 cell_given;\n.param .u32 word_given;\n.param .u32 word_back;\n\
         st.param.u32 [cell_given], %cell;\nst.param.u32 [word_given], %word;\n\
         call.uni (word_back), level{level}, (cell_given, word_given);\n\
         ld.param.u32 %word, [word_back];\n}}\n"
    )
}

#[test]
fn code_does_not_grow_with_paths() {
    let text = tree(12, 3, 0);
    let module = ptx::parse(&text);
    let kernel = module.kernel("tree").expect("the text declares it");
    let program = flow::build(&module, kernel).expect("a quarter of a million calls fit");
    assert!(program.code.len() < 300, "{}", program.code.len());
    assert!(program.registers < 80, "{}", program.registers);
    assert!(
        program.blocks.len() > 177_147,
        "each of 3 to the 11th paths has a block at the bottom"
    );
}

#[test]
fn verdicts_are_kept() {
    let launch = Launch { block: Some(Dim3::line(32).into()), ..Launch::default() };
    for (depth, fan) in [(2, 3), (7, 3), (9, 2)] {
        for (shift, verdict) in [(0, Verdict::Clean), (1, Verdict::Defect)] {
            let text = tree(depth, fan, shift);
            let module = ptx::parse(&text);
            let kernel = module.kernel("tree").expect("the text declares it");
            let report = check(&module, kernel, &launch).expect("the launch fits");
            assert_eq!(report.verdict(), verdict, "{depth} {fan} {shift}");
        }
    }
}

#[test]
fn recursion_stays_open() {
    let text = tree(7, 3, 0).replacen("add.u32 %word, %word, 1;\n", &call(2), 1);
    let module = ptx::parse(&text);
    let kernel = module.kernel("tree").expect("the text declares it");
    let launch = Launch { block: Some(Dim3::line(32).into()), ..Launch::default() };
    let report = check(&module, kernel, &launch).expect("the launch fits");
    assert_eq!(report.verdict(), Verdict::Open);
}
