//! What programs link at run time, and the launches of its kernels.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod recorder;

use std::fs;

use recorder::record;
use serde_json::Value;

#[test]
fn several_texts_make_one_module() {
    let recorded = record("links");
    let lines = recorded.lines();
    let lines: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let of_kind = |kind: &str| -> Vec<&Value> {
        lines.iter().filter(|line| line["record"] == kind).collect()
    };
    let launches = of_kind("launch");
    let kernels: Vec<_> = launches.iter().map(|own| &own["kernel"]).collect();
    assert_eq!(kernels, ["caller", "callee"]);
    assert_eq!(launches[0]["module"], launches[1]["module"]);
    assert_eq!(launches[0]["args"][1]["bytes"], "07000000");
    let name = launches[0]["module"].as_str().expect("the module is kept");
    let path = recorded.folder.join("modules").join(name).with_extension("ptx");
    let expected = ".version 8.3\n.target sm_80\n.address_size 64\n\
        .visible .func (.param .b32 r) twice(.param .b32 x);\n\
        .visible .global .align 4 .b8 table[8] = {1, 0, 0, 0, 2};\n\
        .visible .entry caller(.param .u64 to, .param .u32 n)\n{ ret; }\n\
        .visible .func (.param .b32 r) twice(.param .b32 x)\n{ ret; }\n\
        .visible .entry callee(.param .u32 n)\n{ ret; }\n";
    assert_eq!(fs::read_to_string(path).expect("the module is kept"), expected);
    let refused: Vec<_> = of_kind("invalid").into_iter().map(|own| &own["reason"]).collect();
    assert_eq!(
        refused,
        [
            "links nothing",
            "table is defined in two of the texts that are linked",
            "the text does not start with .version",
            "the link is not live",
        ]
    );
    assert_eq!(of_kind("missing")[0]["function"], "cuLinkAddData_v2 (links machine code)");
}
