//! Tests of the text that replaces asynchronous synchronization in a mutant: mbarriers, barriers of clusters, fences, groups of
//! copies and of products.

use weft_core::check;
use weft_core::finding::Verdict;
use weft_core::launch::{Dim3, Launch};
use weft_core::mutate::{self, Mutant};
use weft_core::ptx::{self, Module};

/// A module of a kernel in clusters of `ctas` ctas.
fn kernel(version: &str, ctas: u32, body: &str) -> Module {
    let module = ptx::parse(&format!(
        ".version {version}\n.target sm_90a\n.address_size 64\n.shared .align 8 .b64 full;\n.shared .align 1024 .b8 tile[4096];\n\
         .visible .entry k(.param .u64 from) .reqnctapercluster {ctas}, 1, 1\n{{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n\
         .reg .pred %p<9>;\n{body}\nret;\n}}\n"
    ));
    assert!(module.errors.is_empty(), "{:?}", module.errors);
    module
}

fn launch(ctas: u32, block: u32) -> Launch {
    let grid = Some(Dim3::line(ctas).into());
    Launch { block: Some(Dim3::line(block).into()), grid, ..Launch::default() }
}

fn mutants(module: &Module, ctas: u32, block: u32) -> Vec<Mutant> {
    let kernel = module.kernel("k").expect("it is there");
    let report = check(module, kernel, &launch(ctas, block)).expect("the launch fits");
    mutate::mutants(module, kernel, &report).list
}

fn told(mutants: Vec<Mutant>) -> Vec<(&'static str, String)> {
    let told = |mutant: Mutant| (mutant.change.name(), mutant.replacement);
    mutants.into_iter().map(told).collect()
}

/// Returns the changes of a kernel of one thread, each with the text that replaces the instruction.
fn changes(version: &str, body: &str) -> Vec<(&'static str, String)> {
    told(mutants(&kernel(version, 1, body), 1, 1))
}

fn names(body: &str) -> Vec<&'static str> {
    changes("8.0", body).into_iter().map(|(name, _)| name).collect()
}

fn own<const N: usize>(changes: [(&'static str, &str); N]) -> Vec<(&'static str, String)> {
    changes.map(|(name, text)| (name, text.to_owned())).to_vec()
}

#[test]
fn counts_and_arrivals_of_mbarriers() {
    assert_eq!(names("mbarrier.init.shared.b64 [full], 1;"), [] as [&str; 0]);
    assert_eq!(
        changes("8.0", "mbarrier.init.shared.b64 [full], 2; mbarrier.inval.shared.b64 [full];"),
        own([("fewer", "mbarrier.init.shared.b64 [full], 1;")])
    );
    assert_eq!(
        changes("8.0", "mov.u32 %r1, 2; mbarrier.init.shared.b64 [full], %r1;"),
        own([(
            "fewer",
            "{ .reg .b32 %weft_count; sub.u32 %weft_count, %r1, 1; mbarrier.init.shared.b64 [full], %weft_count; }"
        )])
    );
    let init = "setp.ne.u32 %p1, 0, 1; mbarrier.init.shared.b64 [full], 1;";
    // Nothing is concluded from a state that no arrival returned.
    assert_eq!(
        changes("8.0", &format!("{init} @%p1 mbarrier.arrive.shared.b64 %rd1, [full];")),
        own([("delete", "@%p1 mov.u64 %rd1, %clock64;")])
    );
    assert_eq!(
        changes("8.6", &format!("{init} mbarrier.arrive.shared.b64 _, [full];")),
        own([("delete", ""), ("relaxed", "mbarrier.arrive.relaxed.cta.shared.b64 _, [full];")])
    );
    assert_eq!(
        changes("8.6", &format!("{init} mbarrier.arrive.release.cta.shared.b64 _, [full];"))[1..],
        own([("relaxed", "mbarrier.arrive.relaxed.cta.shared.b64 _, [full];")])
    );
    // An arrival that completes no phase has no `.relaxed`.
    let never = "mbarrier.arrive.noComplete.release.cta.shared.b64 %rd1, [full], 1;";
    assert_eq!(
        changes("8.6", &format!("{init} {never}")),
        own([("delete", "mov.u64 %rd1, %clock64;")])
    );
}

#[test]
fn expected_bytes() {
    let body = |bytes: &str| {
        format!(
            "mov.u32 %r1, 48; mbarrier.init.shared.b64 [full], 1; \
             mbarrier.arrive.expect_tx.shared.b64 _, [full], {bytes};"
        )
    };
    assert_eq!(
        changes("8.6", &body("48")),
        own([
            ("delete", ""),
            ("fewer", "mbarrier.arrive.expect_tx.shared.b64 _, [full], 32;"),
            ("relaxed", "mbarrier.arrive.expect_tx.relaxed.cta.shared.b64 _, [full], 48;"),
        ])
    );
    assert_eq!(
        changes("8.0", &body("8"))[1].1,
        "mbarrier.arrive.expect_tx.shared.b64 _, [full], 0;"
    );
    assert_eq!(names(&body("0")), ["delete"]);
    assert_eq!(
        changes("8.0", &body("%r1"))[1].1,
        "{ .reg .b32 %weft_count; sub.u32 %weft_count, %r1, 16; \
         mbarrier.arrive.expect_tx.shared.b64 _, [full], %weft_count; }"
    );
}

#[test]
fn waits_for_phases() {
    let body = |wait: &str| {
        format!(
            "mbarrier.init.shared.b64 [full], 1; mbarrier.arrive.shared.b64 %rd1, [full]; mov.u32 %r1, 0;\n\
             WAIT: {wait}; @!%p1 bra WAIT;"
        )
    };
    // Without the deletion of the arrival; in 8.6, its `.relaxed` form comes first.
    let changes = |version, wait| changes(version, &body(wait)).split_off(1);
    let passes = ("delete", "setp.eq.u32 %p1, 0, 0;");
    assert_eq!(
        changes("8.0", "mbarrier.try_wait.parity.shared.b64 %p1, [full], 0"),
        own([passes, ("flip", "mbarrier.try_wait.parity.shared.b64 %p1, [full], 1;")])
    );
    assert_eq!(
        changes("8.0", "mbarrier.test_wait.parity.shared.b64 %p1, [full], %r1"),
        own([
            passes,
            (
                "flip",
                "{ .reg .b32 %weft_parity; xor.b32 %weft_parity, %r1, 1; \
                 mbarrier.test_wait.parity.shared.b64 %p1, [full], %weft_parity; }"
            )
        ])
    );
    assert_eq!(changes("8.0", "mbarrier.test_wait.shared.b64 %p1, [full], %rd1"), own([passes]));
    assert_eq!(
        changes("8.6", "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [full], 0, 9")
            [3..],
        own([(
            "relaxed",
            "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p1, [full], 0, 9;"
        )])
    );
}

#[test]
fn a_barrier_of_a_cluster_goes_with_all_that_belongs_to_it() {
    let module = kernel(
        "8.0",
        2,
        "mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0;\n\
         barrier.cluster.arrive.release.aligned;\n@%p1 bra OTHER;\nbarrier.cluster.wait.aligned;\nbra NEXT;\n\
         OTHER:\nbarrier.cluster.wait.aligned;\nNEXT:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;",
    );
    let mutants = mutants(&module, 2, 32);
    let lines = |mutant: &Mutant| mutant.also.iter().map(|site| site.ptx.line).collect::<Vec<_>>();
    let told: Vec<_> = mutants
        .iter()
        .map(|own| (own.change.name(), own.site.ptx.line, lines(own), own.replacement.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("delete", 12, vec![14, 17], ""),
            ("relaxed", 12, vec![], "barrier.cluster.arrive.relaxed.aligned;"),
            ("delete", 19, vec![20], ""),
            ("relaxed", 19, vec![], "barrier.cluster.arrive.relaxed;"),
            ("arrive", 20, vec![], ""),
        ]
    );
    let mutated = mutants[0].apply(&module);
    let barriers: Vec<_> =
        mutated.text().lines().filter(|line| line.contains("cluster.")).collect();
    assert_eq!(barriers, ["barrier.cluster.arrive;", "barrier.cluster.wait;"]);
    assert_eq!(mutated.text().lines().count(), module.text().lines().count());
    assert!(mutants[1].lies_before(&mutants[0]) && !mutants[3].lies_before(&mutants[0]));
    assert!(mutants[4].lies_before(&mutants[2]) && !mutants[2].lies_before(&mutants[2]));
}

#[test]
fn scopes_count_in_clusters_of_several_ctas() {
    let body = "mov.u32 %r1, %cluster_ctarank; xor.b32 %r1, %r1, 1; mov.u32 %r2, full; mapa.shared::cluster.u32 %r2, %r2, %r1;\n\
        mbarrier.init.shared.b64 [full], 1;\nfence.mbarrier_init.release.cluster;\n\
        barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n\
        mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];\n\
        WAIT: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p1, [full], 0; @!%p1 bra WAIT;\n\
        fence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;";
    let narrow = |ctas: u32| {
        let own = mutants(&kernel("8.0", ctas, &body.replace("%r1, 1;", "%r1, 0;")), ctas, 1);
        own.into_iter().filter(|own| own.change.name() == "narrow").collect::<Vec<_>>()
    };
    assert_eq!(
        told(narrow(2)),
        own([
            ("narrow", "mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r2];"),
            ("narrow", "mbarrier.try_wait.parity.acquire.cta.shared.b64 %p1, [full], 0;"),
            ("narrow", "fence.acq_rel.cta;"),
        ])
    );
    assert_eq!(told(narrow(1)), own([("narrow", "fence.acq_rel.cta;")]));
}

#[test]
fn fences_go_where_something_follows_what_they_order() {
    assert_eq!(names("fence.proxy.async.shared::cta; fence.proxy.alias;"), ["delete"]);
    assert_eq!(names("fence.acq_rel.gpu; fence.mbarrier_init.release.cluster;"), [] as [&str; 0]);
    let cluster = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;";
    assert_eq!(
        names(&format!("membar.gl; fence.mbarrier_init.release.cluster; {cluster}")),
        ["delete", "narrow", "delete", "delete", "arrive"]
    );
}

#[test]
fn waits_for_bulk_copies() {
    let body = "ld.param.u64 %rd1, [from]; fence.proxy.async;\n\
        cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\ncp.async.bulk.commit_group;\n\
        cp.async.bulk.wait_group 0;\ncp.async.bulk.wait_group.read 0;";
    let told = changes("8.0", body).split_off(2);
    assert_eq!(
        told,
        own([
            ("delete", ""),
            ("in-flight", "cp.async.bulk.wait_group 1;"),
            ("read", "cp.async.bulk.wait_group.read 0;"),
            ("delete", ""),
            ("in-flight", "cp.async.bulk.wait_group.read 1;"),
        ])
    );
}

/// Returns the changes of what follows two products.
fn of_products(between: &str, rest: &str) -> Vec<&'static str> {
    let product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %r4}, %rd1, %rd2, 1, 1, 1, 0, 0;";
    let body = format!(
        "mov.u32 %r5, tile; shr.u32 %r5, %r5, 4; cvt.u64.u32 %rd1, %r5; or.b64 %rd1, %rd1, 0x0000001000080000; mov.b64 %rd2, %rd1;\n\
         wgmma.fence.sync.aligned;\n{product}\nwgmma.commit_group.sync.aligned;\n{between}\n{product}\n\
         wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n{rest}"
    );
    let mutants = mutants(&kernel("8.0", 1, &body), 1, 128);
    mutants.into_iter().map(|own| own.change.name()).collect()
}

#[test]
fn groups_of_products_that_registers_need_stay() {
    let first = "wgmma.wait_group.sync.aligned 1;";
    // The first group and the wait for it, the second group and the last wait.
    let all = ["delete", "delete", "in-flight", "delete", "delete", "in-flight"];
    assert_eq!(of_products(first, ""), all);
    // The accumulators are read behind the last wait: it has to stay, and so does the last group.
    assert_eq!(of_products(first, "add.u32 %r6, %r1, 1;"), all[..3]);
    // They are read behind the first group, without a wait for it that leaves none in flight.
    assert_eq!(of_products("add.u32 %r6, %r1, 1;", ""), ["delete", "delete", "in-flight"]);
    // Writing them counts, other registers do not.
    assert_eq!(of_products(first, "mov.u32 %r2, 1;"), all[..3]);
    assert_eq!(of_products(first, "mov.u32 %r6, 1;"), all);
}

#[test]
fn a_wait_that_passes_at_once_is_a_race() {
    let body = "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra READY;\n\
        mbarrier.init.shared.b64 [full], 1;\nREADY: bar.sync 0; @%p1 bra WAIT;\nst.shared.u32 [tile], 1;\n\
        mbarrier.arrive.shared.b64 _, [full];\nWAIT: mbarrier.try_wait.parity.shared.b64 %p2, [full], 0; @!%p2 bra WAIT;\n\
        ld.shared.u32 %r2, [tile];";
    let module = kernel("8.6", 1, body);
    let launch = launch(1, 64);
    for mutant in mutants(&module, 1, 64) {
        let mutated = mutant.apply(&module);
        let kernel = mutated.kernel("k").expect("it is there");
        let report = check(&mutated, kernel, &launch).expect("the launch fits");
        assert_eq!(report.verdict(), Verdict::Defect, "{}", mutated.text());
    }
}
