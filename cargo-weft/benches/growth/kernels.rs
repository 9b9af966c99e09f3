//! Generates the PTX of the benchmark kernels. In their bodies, `%thread` is the thread's number, `%tile` the address
//! of shared memory, `%out` the address of a buffer; `%a` to `%d` are scratch registers.

/// Lanes of a warp.
const LANES: u32 = 32;

/// Returns a kernel with a block of `threads` threads, `shared` bytes of shared memory and this body.
fn entry(threads: u32, shared: u32, body: &str) -> String {
    let params = ".param .u64 out, .param .u64 in, .param .u32 n0, .param .u32 n1, .param .u32 n2, .param .u32 n3";
    format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry kernel({params})\n\
         .reqntid {threads}, 1, 1\n{{\n\
         .reg .pred %again, %chosen;\n\
         .reg .b32 %thread, %lane, %warp, %tile, %round, %generation, %a, %b, %c, %d;\n\
         .reg .b32 %i<4>, %n<4>;\n.reg .f32 %x;\n.reg .b64 %out, %place, %offset;\n\
         .shared .align 16 .b8 tile[{shared}];\n\
         mov.u32 %thread, %tid.x;\nand.b32 %lane, %thread, 31;\nshr.u32 %warp, %thread, 5;\n\
         mov.u32 %tile, tile;\nld.param.u64 %out, [out];\n{body}ret;\n}}\n"
    )
}

/// Returns a loop that runs `body` `times` times. The register `counter` holds the number of the iteration.
fn repeat(label: &str, counter: &str, times: u32, body: &str) -> String {
    format!(
        "mov.u32 {counter}, 0;\n{label}:\n{body}add.u32 {counter}, {counter}, 1;\n\
         setp.lt.u32 %again, {counter}, {times};\n@%again bra {label};\n"
    )
}

/// A kernel of `generations` barrier generations. In each of them, every thread stores `rounds` times to its own word
/// of one of two buffers, and after the barrier loads `rounds` times the word of its neighbour in the next warp.
pub(crate) struct Exchange {
    pub(crate) warps: u32,
    pub(crate) generations: u32,
    pub(crate) rounds: u32,
}

impl Exchange {
    pub(crate) fn text(&self) -> String {
        let Self { warps, generations, rounds } = *self;
        let threads = warps * LANES;
        let buffer = threads * 4;
        let last = threads - 1;
        let store = repeat("STORE", "%round", rounds, "st.shared.u32 [%c], %round;\n");
        let load = repeat("LOAD", "%round", rounds, "ld.shared.u32 %d, [%b];\n");
        let generation = format!(
            "and.b32 %a, %generation, 1;\nmad.lo.u32 %a, %a, {buffer}, %tile;\n\
             shl.b32 %c, %thread, 2;\nadd.u32 %c, %c, %a;\n\
             add.u32 %b, %thread, {LANES};\nand.b32 %b, %b, {last};\nshl.b32 %b, %b, 2;\nadd.u32 %b, %b, %a;\n\
             {store}bar.sync 0;\n{load}"
        );
        entry(threads, 2 * buffer, &repeat("GENERATION", "%generation", generations, &generation))
    }
}

/// Returns a kernel in which 32 warps execute 2^23 stores to an array of `words` words (a power of two, at least 1024);
/// each thread stores to every 1024th word.
pub(crate) fn footprint(words: u32) -> String {
    let threads = 32 * LANES;
    let last = words - 1;
    let body = format!(
        "mad.lo.u32 %a, %round, {threads}, %thread;\nand.b32 %a, %a, {last};\n\
         mul.wide.u32 %offset, %a, 4;\nadd.u64 %place, %out, %offset;\n\
         st.global.u32 [%place], %round;\n"
    );
    entry(threads, 4, &repeat("STORE", "%round", 8192, &body))
}

/// The relation between the addresses of a warp's lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// The same address for all lanes.
    Uniform,
    /// One word for each lane, in the order of the lanes.
    Row,
    /// The words of a row, in another order than the lanes.
    Permuted,
    /// One word for each lane, at a distance of more than 128 bytes.
    Spread,
}

impl Pattern {
    pub(crate) const ALL: [(&str, Self); 4] = [
        ("uniform", Self::Uniform),
        ("row", Self::Row),
        ("permuted", Self::Permuted),
        ("spread", Self::Spread),
    ];

    /// Returns code that sets `%a` to the index of the thread's word, below 1088.
    const fn place(self) -> &'static str {
        match self {
            Self::Uniform => "mov.u32 %a, %warp;\n",
            Self::Row => "mov.u32 %a, %thread;\n",
            Self::Permuted => "xor.b32 %a, %thread, 21;\n",
            Self::Spread => "mad.lo.u32 %a, %lane, 33, %warp;\n",
        }
    }
}

/// Returns a kernel in which eight warps store to two tiles in turn, or load from them.
pub(crate) fn patterned(pattern: Pattern, writes: bool) -> String {
    const TILE: u32 = 1088 * 4;
    let place = pattern.place();
    let access = if writes { "st.shared.u32 [%c], %round" } else { "ld.shared.u32 %d, [%c]" };
    // Loads of uninitialized shared memory would be reported, so the tiles are filled first.
    let fill = repeat(
        "FILL",
        "%round",
        (2 * TILE).div_ceil(8 * LANES * 4),
        "mad.lo.u32 %b, %round, 256, %thread;\nshl.b32 %b, %b, 2;\nadd.u32 %b, %b, %tile;\n\
         st.shared.u32 [%b], %round;\n",
    );
    let body = repeat(
        "ACCESS",
        "%round",
        10_000,
        &format!("and.b32 %b, %round, 1;\nmad.lo.u32 %c, %b, {TILE}, %a;\n{access};\n"),
    );
    let start = format!("{place}shl.b32 %a, %a, 2;\nadd.u32 %a, %a, %tile;\n");
    entry(8 * LANES, 2 * TILE + 1024, &format!("{fill}bar.sync 0;\n{start}{body}"))
}

/// Returns a kernel in which 32 warps store with sixteen instructions in a loop without barriers. `sharing` warps (a
/// power of two) store to the same words.
pub(crate) fn racing(sharing: u32, rounds: u32) -> String {
    let shift = sharing.trailing_zeros();
    let stores = "st.shared.u32 [%c], %thread;\n".repeat(16);
    let start = format!(
        "shr.u32 %a, %warp, {shift};\nmad.lo.u32 %a, %a, {LANES}, %lane;\nshl.b32 %a, %a, 2;\n\
         add.u32 %c, %a, %tile;\n"
    );
    let body = repeat("STORE", "%round", rounds, &stores);
    entry(32 * LANES, 32 * LANES * 4, &format!("{start}{body}"))
}

/// Returns a kernel in which `warps` warps store sixteen floating-point numbers, the same in all threads, to the same words.
pub(crate) fn equal_stores(warps: u32) -> String {
    let load = "ld.param.u64 %place, [in];\nld.global.f32 %x, [%place];\n";
    let store = |at: u32| format!("mul.f32 %x, %x, %x;\nst.shared.f32 [%tile+{}], %x;\n", 4 * at);
    let stores: String = (0..16).map(store).collect();
    entry(warps * LANES, 64, &format!("{load}{stores}"))
}

/// Returns a kernel of eight warps that store to words of their own, from an address on that an argument decides.
pub(crate) fn open_addresses(rounds: u32) -> String {
    let start = "ld.param.u32 %n0, [n0];\nadd.u32 %a, %n0, %thread;\nmul.wide.u32 %offset, %a, 4;\n\
                 add.u64 %place, %out, %offset;\n";
    let body = repeat("STORE", "%round", rounds, "st.global.u32 [%place], %round;\n");
    entry(8 * LANES, 4, &format!("{start}{body}"))
}

/// Returns a kernel of eight warps with `depth` loops (at most 4) around barriers, one in the other, whose trip counts are
/// arguments.
pub(crate) fn open_loops(depth: u32) -> String {
    let exchange = "shl.b32 %a, %thread, 2;\nadd.u32 %a, %a, %tile;\nst.shared.u32 [%a], %thread;\n\
                    bar.sync 0;\nxor.b32 %b, %thread, 32;\nshl.b32 %b, %b, 2;\nadd.u32 %b, %b, %tile;\n\
                    ld.shared.u32 %c, [%b];\nbar.sync 0;\n";
    let body = (0..depth).fold(exchange.to_owned(), |inner, at| {
        format!(
            "ld.param.u32 %n{at}, [n{at}];\nmov.u32 %i{at}, 0;\nLOOP{at}:\n\
             setp.ge.u32 %again, %i{at}, %n{at};\n@%again bra DONE{at};\n{inner}\
             add.u32 %i{at}, %i{at}, 1;\nbra LOOP{at};\nDONE{at}:\n"
        )
    });
    entry(8 * LANES, 8 * LANES * 4, &body)
}

/// Returns a kernel of eight warps a cta in which each thread stores its cta's number to its word and loads it, 2000
/// times. `sharing` ctas (a power of two) use the same words.
pub(crate) fn ctas(sharing: u32) -> String {
    let (threads, shift) = (8 * LANES, sharing.trailing_zeros());
    let start = format!(
        "mov.u32 %b, %ctaid.x;\nshr.u32 %a, %b, {shift};\nmad.lo.u32 %a, %a, {threads}, %thread;\n\
         mul.wide.u32 %offset, %a, 4;\nadd.u64 %place, %out, %offset;\n"
    );
    let body = "st.global.u32 [%place], %b;\nld.global.u32 %d, [%place];\n";
    entry(threads, 4, &format!("{start}{}", repeat("ACCESS", "%round", 2000, body)))
}

/// Returns a kernel of eight warps a cta that adds two arrays, one word for each thread. The length of the arrays ends
/// within the last cta.
pub(crate) fn sum() -> String {
    let threads = 8 * LANES;
    let body = format!(
        "mov.u32 %a, %ctaid.x;\nmad.lo.u32 %a, %a, {threads}, %thread;\n\
         mov.u32 %b, %nctaid.x;\nmad.lo.u32 %b, %b, {threads}, -100;\n\
         setp.ge.u32 %chosen, %a, %b;\n@%chosen bra DONE;\n\
         mul.wide.u32 %offset, %a, 4;\nadd.u64 %place, %out, %offset;\nld.global.u32 %c, [%place];\n\
         add.u64 %place, %place, 17179869184;\nld.global.u32 %d, [%place];\nadd.u32 %d, %c, %d;\n\
         add.u64 %place, %place, 17179869184;\nst.global.u32 [%place], %d;\nDONE:\n"
    );
    entry(threads, 4, &body)
}

/// Returns a pipeline of ten warps: two fill two buffers of shared memory in turn, eight read them. Each iteration
/// passes four generations of named barriers.
pub(crate) fn pipeline(rounds: u32) -> String {
    const THREADS: u32 = 10 * LANES;
    // Buffer 0 uses barriers 1 (full) and 3 (empty), buffer 1 uses 2 and 4.
    let names = "and.b32 %a, %round, 1;\nadd.u32 %b, %a, 1;\nadd.u32 %c, %a, 3;\n\
                 mad.lo.u32 %a, %a, 1024, %tile;\n";
    let consume = format!(
        "{names}bar.sync %b, {THREADS};\nshl.b32 %d, %thread, 2;\nadd.u32 %d, %d, %a;\n\
         ld.shared.u32 %d, [%d];\nbar.arrive %c, {THREADS};\n"
    );
    let produce = format!(
        "{names}setp.lt.u32 %chosen, %round, 2;\n@%chosen bra FILL;\nbar.sync %c, {THREADS};\nFILL:\n\
         sub.u32 %d, %thread, 256;\nshl.b32 %d, %d, 2;\nadd.u32 %d, %d, %a;\n\
         st.shared.u32 [%d], %round;\nst.shared.u32 [%d+256], %round;\n\
         st.shared.u32 [%d+512], %round;\nst.shared.u32 [%d+768], %round;\n\
         bar.arrive %b, {THREADS};\n"
    );
    let body = format!(
        "setp.ge.u32 %chosen, %thread, 256;\n@%chosen bra PRODUCER;\n{}bra.uni DONE;\nPRODUCER:\n{}DONE:\n",
        repeat("CONSUME", "%round", rounds, &consume),
        repeat("PRODUCE", "%round", rounds, &produce)
    );
    entry(THREADS, 2048, &body)
}
