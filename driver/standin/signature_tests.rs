//! Declarations as compilers and people write them.

use super::{Parameter, Signature, Variable, read};

fn kernels(text: &str) -> Vec<Signature> {
    read(text).unwrap().kernels
}

fn parameters(kernel: &Signature) -> Vec<(usize, usize)> {
    kernel.parameters.iter().map(|Parameter { offset, size }| (*offset, *size)).collect()
}

#[test]
fn parameters_lie_at_their_natural_alignment() {
    let text = ".version 8.5\n.target sm_90a, debug\n.address_size 64
        .visible .entry a(
            .param .u64 .ptr .global .align 4 p, // pointer
            .param .u32 n,
            .param .align 8 .b8 q[24], /* struct, (with signs */
            .param .u8 flag,
            .param .v2 .f32 pair,
            .param .align 64 .b8 map[128],
            .param .u16 last
        ) { ret; }
        .entry b { ret; }
        .weak .entry c() .maxntid 128, 2 .minnctapersm 1 .pragma \"x{\"; { ret; }";
    let found = kernels(text);
    // 0..8 pointer, 8..12, 16..40 struct, 40..41, 48..56 pair of floats, 64..192, 192..194.
    let expected = [(0, 8), (8, 4), (16, 24), (40, 1), (48, 8), (64, 128), (192, 2)];
    assert_eq!(parameters(&found[0]), expected);
    assert_eq!(found[0].size(), 194);
    assert_eq!(
        found.iter().map(|kernel| kernel.name.as_str()).collect::<Vec<_>>(),
        ["a", "b", "c"]
    );
    assert_eq!((parameters(&found[1]), found[1].size()), (Vec::new(), 0));
    assert_eq!(found[2].most_threads, Some(256));
    assert_eq!(read(text).unwrap().target, 90);
}

#[test]
fn declarations_without_a_body_and_functions_are_no_kernels() {
    let text = ".version 7.0 .target sm_70
        .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
        .entry later(.param .u64 x);
        .func (.reg .u32 r) helper(.reg .u32 a) { .shared .b32 s; { add.u32 r, a, 1; } ret; }
        .visible .entry later(.param .u64 x) .reqntid 64 .reqnctapercluster 2, 1, 1 { { ret; } }
        // .entry commented() { }
        .file 1 \".entry quoted() { }\"";
    let found = kernels(text);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].block, found[0].cluster), (Some([64, 1, 1]), Some([2, 1, 1])));
}

#[test]
fn shared_memory_is_counted_where_it_is_used() {
    let text = ".version 8.0 .target sm_80
        .shared .align 4 .b8 tile[1024];
        .shared .align 16 .b8 other[64];
        .extern .shared .align 16 .b8 dynamic[];
        .entry a() { .shared .f32 own[8]; ld.shared.f32 %f1, [tile]; st.shared.v2.f32 [own], {%f1, %f1}; mov.u32 %r1, dynamic; ret; }
        .entry b() { ret; }";
    let found = kernels(text);
    // `a` uses 1024 bytes of the module's and 32 of its own, and dynamic memory, which has no size here.
    assert_eq!(found[0].shared, 1056);
    assert_eq!(found[1].shared, 0);
}

#[test]
fn variables_have_sizes_and_initial_bytes() {
    let text = ".version 8.0 .target sm_80
        .global .align 4 .u32 counter;
        .visible .const .align 2 .b8 table[6] = {1, 0x2, 255};
        .global .u32 three[] = {1, 2, -1};
        .global .f32 weights[2] = {0f3F800000, 0f00000000};
        .global .u64 pointer = generic(counter);
        .global .attribute(.managed) .align 8 .b8 shared_with_host[16];
        .extern .global .u32 elsewhere;
        .global .u32 matrix[2][3];";
    let found = read(text).unwrap().variables;
    let variable = |name: &str, size, contents: Option<Vec<u8>>, managed| Variable {
        name: name.to_owned(),
        size,
        contents,
        managed,
    };
    let expected = [
        variable("counter", 4, Some(vec![0; 4]), false),
        variable("table", 6, Some(vec![1, 2, 255, 0, 0, 0]), false),
        variable("three", 12, Some(vec![1, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255]), false),
        variable("weights", 8, None, false),
        variable("pointer", 8, None, false),
        variable("shared_with_host", 16, Some(vec![0; 16]), true),
        variable("matrix", 24, Some(vec![0; 24]), false),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_no_ptx_is_refused() {
    let reason = |text: &str| read(text).unwrap_err();
    assert!(reason("int main() {}").contains(".version"));
    assert!(reason(".version eight").contains("not a number"));
    assert!(reason(".version 8.0 .entry a(.param .u64 x").contains("do not end"));
    assert!(reason(".version 8.0 .entry a() { ret;").contains("does not end"));
    assert!(reason(".version 8.0 .entry a(.u64 x) { ret; }").contains(".param"));
    assert!(reason(".version 8.0 }").contains("not opened"));
    assert!(reason(".version 8.0 .entry a(.param .u64 x) ").contains("no body"));
}
