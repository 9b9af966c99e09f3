//! Which copies of a source line a change of the line has to be for.

use weft_core::finding::SourceLine;
use weft_core::ptx;
use weft_core::repair::SourceCopies;

/// The number of sums of line 7 in a kernel with this body.
fn sums(body: &str) -> usize {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n.visible .entry k()\n{{\n\
         .reg .b32 %r<4>;\n.reg .pred %p;\n.shared .align 4 .b8 s[512];\nmov.u32 %r1, %tid.x;\n\
         shl.b32 %r2, %r1, 2;\nsetp.lt.u32 %p, %r1, 32;\n{body}\nret;\n}}\n"
    );
    let module = ptx::parse(&text);
    assert!(module.errors.is_empty(), "{:?}", module.errors);
    let line = SourceLine { file: "a.cu".to_owned(), line: 7, column: 5 };
    SourceCopies::of(&module).count(&line, "add.s32")
}

#[test]
fn a_copy_beside_a_barrier_of_all_threads_does_not_count() {
    // Between the sums and the barriers there is no access.
    let (sum, store) = (".loc 1 7 5\nadd.s32 %r3, %r1, 1;\n", "st.shared.u32 [%r2], %r1;\n");
    let of = |first: &str| sums(&format!("{first}{store}{sum}{store}"));
    assert_eq!(of(&format!("bar.sync 0;\n{sum}")), 1);
    assert_eq!(of(&format!("bar.sync 0;\n{store}{sum}")), 2);
    // Other threads than those that pass the barrier, or not all of them.
    assert_eq!(of(&format!("bar.sync 0, 32;\n{sum}")), 2);
    assert_eq!(of(&format!("@!%p bra E;\nbar.sync 0;\n{sum}E:\n")), 2);
    assert_eq!(of(&format!("L:\nbar.sync 0;\n{sum}{store}@%p bra L;\n")), 2);
}
