//! The libraries beside the driver: what their calls leave unknown, and what they refuse.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

mod recorder;

use recorder::{Recorded, record};

/// What the launches of a scenario know of the first allocation, in order.
fn contents(recorded: &Recorded) -> Vec<String> {
    let lines = recorded.lines().into_iter();
    let launches = lines
        .map(|line| serde_json::from_str::<serde_json::Value>(&line).expect("a line is JSON"))
        .filter(|line| line["record"] == "launch");
    launches
        .map(|launch| {
            let name = launch["allocations"][0]["contents"].as_str().unwrap_or("none").to_owned();
            let path = recorded.folder.join("contents").join(name).with_extension("hex");
            std::fs::read_to_string(path).unwrap_or_default().replace('\n', "")
        })
        .collect()
}

/// The refused calls: function, error, reason, and `true` for those that might rest on what was never computed.
fn refused(recorded: &Recorded) -> Vec<String> {
    let lines = recorded.lines().into_iter();
    let lines =
        lines.map(|line| serde_json::from_str::<serde_json::Value>(&line).expect("a line is JSON"));
    let text = |line: &serde_json::Value, key: &str| line[key].as_str().unwrap_or("").to_owned();
    let word = |line: serde_json::Value| {
        let doubt = if line["after_read"] == true { " after_read" } else { "" };
        let all = ["function", "error", "reason"].map(|key| text(&line, key));
        format!("{}{doubt}", all.join(" "))
    };
    lines.filter(|line| line["record"] == "invalid").map(word).collect()
}

#[test]
fn products_are_unknown_where_they_are_written() {
    let recorded = record("blas");
    assert_eq!(
        contents(&recorded),
        [
            "07".repeat(24),
            format!("{}07070707{}07070707", "..".repeat(8), "..".repeat(8)),
            // "0123", two halves, and the rest of what the host has set.
            format!("30313233{}{}", "..".repeat(4), "3031323334353637".repeat(2)),
        ]
    );
    assert_eq!(
        refused(&recorded),
        [
            "cublasSgemm_v2 CUBLAS_STATUS_NOT_INITIALIZED the handle of cuBLAS is not live",
            "cublasSgemm_v2 CUBLAS_STATUS_INVALID_VALUE lda is 1, less than the 2 rows of the matrix",
            "cublasSgemm_v2 CUBLAS_STATUS_EXECUTION_FAILED writes bytes 8..28 of an allocation of 24 bytes",
            "cublasDestroy_v2 CUBLAS_STATUS_NOT_INITIALIZED the handle of cuBLAS is not live",
        ]
    );
}

#[test]
fn batches_vectors_and_numbers_are_unknown_in_the_order_of_the_stream() {
    let recorded = record("batches");
    let unknown = "..".repeat(4);
    assert_eq!(
        contents(&recorded),
        [
            format!("{unknown}{}{unknown}{}", "07".repeat(12), "07".repeat(12)),
            format!("{unknown}{}{unknown}{}{unknown}07070707", "07".repeat(8), "07".repeat(8)),
            format!("{unknown}{}{unknown}", "07".repeat(8)),
            "07".repeat(8),
            format!("{unknown}07070707"),
            // The number is all that there is in its allocation: nothing is known.
            String::new(),
            // Something might have written anywhere, which `passed` says: these are the bytes from before.
            format!("{unknown}07070707"),
        ]
    );
    let last = recorded.lines().pop().unwrap_or_default();
    assert!(
        last.contains(r#""passed":[{"module":null,"kernel":"cublasSgemmBatched","arg":null}"#),
        "{last}"
    );
    let inside = "frees an address within an allocation";
    assert_eq!(
        refused(&recorded),
        [
            format!("cuMemFree_v2 CUDA_ERROR_INVALID_VALUE {inside}, 1 bytes behind its start"),
            format!(
                "cuMemFree_v2 CUDA_ERROR_INVALID_VALUE {inside}, 2 bytes behind its start after_read"
            ),
        ]
    );
}

#[test]
fn products_by_descriptors_are_unknown_where_they_are_written() {
    let recorded = record("light");
    let row = format!("{}07070707", "..".repeat(8));
    assert_eq!(contents(&recorded), [row.repeat(4)]);
    assert_eq!(
        refused(&recorded),
        [
            "cublasLtMatmul CUBLAS_STATUS_INVALID_VALUE the product of matrices of 5 x 4 and 5 x 2 is not of 4 x 2",
            "cublasLtMatmulDescDestroy CUBLAS_STATUS_INVALID_VALUE the descriptor of an operation is not live",
        ]
    );
}

#[test]
fn workspaces_are_unknown_behind_calls() {
    let recorded = record("workspaces");
    let known = "07".repeat(8);
    assert_eq!(contents(&recorded), [known.clone(), format!("07070707{}", "..".repeat(4)), known]);
}

#[test]
fn random_numbers_are_unknown() {
    let recorded = record("numbers");
    assert_eq!(
        contents(&recorded),
        [format!("{}{}{}{}", "..".repeat(8), "07".repeat(8), "..".repeat(16), "07".repeat(8))]
    );
    assert_eq!(
        refused(&recorded),
        [
            "curandGenerateNormalDouble CURAND_STATUS_LENGTH_NOT_MULTIPLE asks for 3 numbers, which come in pairs",
            "curandGeneratePoisson CURAND_STATUS_LAUNCH_FAILURE writes bytes 0..44 of an allocation of 40 bytes",
            "curandSetPseudoRandomGeneratorSeed CURAND_STATUS_TYPE_ERROR seeds a generator of quasi-random numbers",
            "curandGenerateUniform CURAND_STATUS_NOT_INITIALIZED the generator is not live",
        ]
    );
}

#[test]
fn libraries_are_found_by_all_their_names() {
    record("names");
}
