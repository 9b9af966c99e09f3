//! Memory that is no plain allocation: tensor maps, reserved addresses, arrays and textures.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod recorder;

use recorder::record;

#[test]
fn tensor_maps_say_what_they_were_made_of() {
    let launch = |grid: u32, map: &str, allocations: &str| {
        format!(
            r#"{{"record":"launch","kernel":"boxes","module":"$module","grid":[{grid},1,1],"block":[32,1,1],"shared":0,"cooperative":false,"args":[{{"bytes":"03000000","pointers":[]}},{{"bytes":"{}","pointers":[],"maps":[{{"at":0,{map}}}]}}],"allocations":[{allocations}]}}"#,
            "00".repeat(128)
        )
    };
    let tiled = r#""mode":"tiled","element":"f16","dims":[64,32],"strides":[128],"box":[64,8],"steps":[1,1],"interleave":0,"swizzle":3,"promotion":2,"fill":0"#;
    let columns = r#""allocation":0,"offset":0,"mode":"im2col","element":"f32","dims":[64,32,16],"strides":[128,4096],"lower":[-1],"upper":[1],"channels":32,"pixels":256,"steps":[1,1,1],"interleave":0,"swizzle":0,"promotion":0,"fill":1"#;
    let refused = |function: &str, reason: &str| {
        format!(
            r#"{{"record":"invalid","function":"cuTensorMap{function}","error":"CUDA_ERROR_INVALID_VALUE","reason":"{reason}"}}"#
        )
    };
    // The first allocation lies at 0x3b5d2c000000, so that its byte 8 is at a number that ends with the digits of this sum.
    let address = 0x3b5d_2c00_0000_u64 + 8;
    let size = r#"{"size":8192}"#;
    let lines = [
        launch(1, &format!(r#""allocation":0,"offset":32,{tiled}"#), size),
        launch(2, &format!(r#""allocation":0,"offset":0,{tiled}"#), r#"{"size":64}"#),
        launch(3, tiled, ""),
        launch(4, columns, size),
        refused("EncodeTiled", &format!("globalAddress is {address}, no multiple of 16")),
        refused("EncodeTiled", "tensorRank is 6, of 1 to 5"),
        // 128 halves are 256 bytes, 7 are 14.
        refused("EncodeTiled", "the number of bytes of boxDim[0] is 256, of 1 to 128"),
        refused("EncodeTiled", "the number of bytes of boxDim[0] is 14, no multiple of 16"),
        refused("EncodeTiled", "the map is not at a multiple of 64"),
        refused("ReplaceAddress", "what gets another address is no tensor map"),
    ];
    record("tensors").assert_module_lines(1, &lines.each_ref().map(String::as_str));
}

#[test]
fn memory_side_by_side_at_reserved_addresses_is_one() {
    let recorded = record("regions");
    let lines = recorded.lines();
    let of = |kind: &str| -> Vec<serde_json::Value> {
        let lines = lines.iter().map(|line| serde_json::from_str(line).expect("a line is JSON"));
        lines.filter(|line: &serde_json::Value| line["record"] == kind).collect()
    };
    let unit = 2 << 20;
    let launches: Vec<_> = of("launch")
        .iter()
        .map(|own| {
            (
                own["allocations"][0]["size"].as_u64(),
                own["args"][0]["pointers"][0]["offset"].as_u64(),
            )
        })
        .collect();
    assert_eq!(launches, [(Some(2 * unit), Some(16)), (Some(unit), Some(0))]);
    let reasons: Vec<_> =
        of("invalid").iter().map(|own| own["reason"].as_str().unwrap_or("").to_owned()).collect();
    assert_eq!(
        reasons,
        [
            "the size is 2097153 bytes, no multiple of 2097152",
            "sets an address that is in no allocation",
            "sets bytes 4194296..4194312 of an allocation of 4194304 bytes",
            "maps memory to addresses where there is some",
            "frees memory that was allocated by another function (mapped)",
            "copies from memory that was freed before",
            "there is no memory with this handle",
            "frees a range of addresses with memory in it",
        ]
    );
    let missing: Vec<_> = of("missing").iter().map(|own| own["function"].clone()).collect();
    assert_eq!(missing, ["cuMemMap (maps memory to two addresses)"]);
}

#[test]
fn arrays_are_copied_and_written_by_surfaces_alone() {
    let recorded = record("arrays");
    let lines = recorded.lines();
    let of = |kind: &str| -> Vec<serde_json::Value> {
        let lines = lines.iter().map(|line| serde_json::from_str(line).expect("a line is JSON"));
        lines.filter(|line: &serde_json::Value| line["record"] == kind).collect()
    };
    // The copy of the array into `p` is known; that the kernel had `p` too is another matter. What is read of the array is in doubt once a
    // kernel has had a surface of it.
    let of_launch = |own: &serde_json::Value| {
        let has_contents = own["allocations"][0]["contents"].is_string();
        (own["grid"][0].as_u64(), has_contents, own["after_read"] == true)
    };
    let launches: Vec<_> = of("launch").iter().map(of_launch).collect();
    let expected = [(1, false, false), (2, true, false), (3, true, false), (4, true, true)];
    assert_eq!(launches, expected.map(|(grid, known, read)| (Some(grid), known, read)));
    let reasons: Vec<_> =
        of("invalid").iter().map(|own| own["reason"].as_str().unwrap_or("").to_owned()).collect();
    assert_eq!(
        reasons,
        [
            "an array without elements",
            "the array is not live",
            "copies 12 from 8 on, in one direction, of an array with 16",
            "copies 3 bytes from 30 on of an array of 32 bytes",
            "the surface is not live",
            "makes a texture of bytes 0..65 of an allocation of 64 bytes",
            "makes a texture of bytes 0..65 of an allocation of 64 bytes",
            "the array is not live",
        ]
    );
    let missing: Vec<_> = of("missing").iter().map(|own| own["function"].clone()).collect();
    assert_eq!(missing, ["cuArrayCreate_v2 (an array of the format 176)"]);
}
