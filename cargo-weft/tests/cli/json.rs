//! Tests of `--message-format json`: one object a line, with the documented fields.

use serde_json::{Value, json};

use crate::packages::package;
use crate::schema::assert_valid;
use crate::support::{CLEAN, Folder, RACE, RACING};

/// The program and its version, as every line states it.
const TOOL: &str = concat!("cargo-weft ", env!("CARGO_PKG_VERSION"));

/// Returns the objects, after a comparison of each with the documented schema.
fn lines(text: &str) -> Vec<Value> {
    let schema = include_str!("../../../docs/weft-output.schema.json");
    let schema = serde_json::from_str(schema).expect("the schema is JSON");
    let object = |line| {
        let line = serde_json::from_str(line).expect("every line is an object");
        assert_valid(&schema, &line);
        line
    };
    text.lines().map(object).collect()
}

#[test]
fn a_launch_shows_its_buffers() {
    const COPY: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry copy(.param .u64 x, .param .u64 y, .param .u32 n)\n\
                        {\n.reg .b32 %t, %v;\n.reg .b64 %x, %y, %o;\nld.param.u64 %x, [x];\nld.param.u64 %y, [y];\nmov.u32 %t, %tid.x;\n\
                        mul.wide.u32 %o, %t, 4;\nadd.u64 %x, %x, %o;\nadd.u64 %y, %y, %o;\nld.global.u32 %v, [%x];\n\
                        st.global.u32 [%y], %v;\nret;\n}\n";
    let config = |y: &str, n: &str| {
        format!(
            "[[kernel]]\nname = 'copy'\nblock = 64\ngrid = 1\nbuffers = {{ a = {{ size = 1024, u32 = [7] }} }}\n\
             args = {{ x = {{ in = 'a' }}, y = {y}, n = {n} }}\n"
        )
    };
    let folder = Folder::new("json-buffers")
        .with("copy.ptx", COPY)
        .with("race.toml", config("{ in = 'a', offset = 4 }", "1"))
        .with("clean.toml", config("{ in = 'a', offset = 256 }", "1"))
        .with("wrong.toml", config("{ in = 'a' }", "{ in = 'a' }"));
    let check =
        |file: &str| folder.weft(&format!("check copy.ptx --config {file} --message-format json"));
    let (race, clean) =
        (lines(&check("race.toml").exits(100).out), lines(&check("clean.toml").exits(0).out));
    let launch = &race[0]["launch"];
    assert_eq!(launch["buffers"], json!({"a": {"bytes": 1024, "given": 4}}));
    let within = |offset: u64| json!({"within": {"buffer": "a", "offset": offset}});
    assert_eq!(launch["args"], json!({"0": within(0), "1": within(4), "2": 1}));
    assert_eq!((&race[0]["verdict"], &clean[0]["verdict"]), (&json!("defect"), &json!("clean")));
    let wrong = check("wrong.toml").exits(101);
    let said = "argument 2 (`n`) does not fit the parameter: it is a number of 4 bytes, not a pointer\nstated at wrong.toml:6:8";
    assert!(wrong.err.contains(said), "{}", wrong.err);
}

#[test]
fn a_line_for_each_kernel_and_a_summary() {
    let folder = Folder::new("json").with("clean.ptx", CLEAN).with("race.ptx", RACE);
    let run = folder
        .weft("check clean.ptx race.ptx --block 64 --grid 2 --shared 16 --atomics off --message-format json")
        .exits(100);
    let lines = lines(&run.out);
    assert_eq!(lines.len(), 3);
    let (clean, race) = (&lines[0], &lines[1]);
    assert_eq!((&clean["reason"], &clean["verdict"]), (&json!("weft-kernel"), &json!("clean")));
    assert_eq!((&clean["kernel"], &clean["demangled"]), (&json!("own_slot"), &json!("own_slot")));
    assert_eq!((&clean["file"], &clean["package"]), (&json!("clean.ptx"), &Value::Null));
    assert_eq!(
        (&clean["findings"], &clean["coverage"]),
        (&json!([]), &json!({"reached": 1, "sites": 1}))
    );
    assert_eq!(clean["checks"], json!({"barriers": "clean", "shared": "clean", "global": "clean"}));
    assert!(clean["assumptions"].is_array() && clean["stats"]["ctas"].is_u64());
    let launch = &clean["launch"];
    assert_eq!((&launch["grid"], &launch["block"]), (&json!([2, 1, 1]), &json!([64, 1, 1])));
    assert_eq!(
        (&launch["shared"], &launch["args"], &launch["label"]),
        (&json!(16), &json!({}), &Value::Null)
    );
    assert_eq!(launch["options"]["atomics"], "off");

    assert_eq!((&race["verdict"], &race["checks"]["shared"]), (&json!("defect"), &json!("defect")));
    let finding = &race["findings"][0];
    assert_eq!((&finding["code"], &finding["class"]), (&json!("shared-race"), &json!("defect")));
    assert!(
        finding["message"].is_string() && finding["pairs"]["between_warps"].as_u64() > Some(0),
        "{finding:#}"
    );
    let sites = finding["sites"].as_array().unwrap();
    let mut places: Vec<_> = sites.iter().map(|site| site["ptx_line"].as_u64().unwrap()).collect();
    places.sort_unstable();
    assert_eq!(places, RACING);
    for site in sites {
        assert!(site["role"] == "read" || site["role"] == "write", "{site:#}");
        assert!(
            site["threads"][0]["thread"].is_array() && site["threads"][0]["cta"].is_array(),
            "{site:#}"
        );
        assert!(site["label"].is_string());
        // This PTX has no `.loc`.
        assert_eq!((&site["file"], &site["line"]), (&Value::Null, &Value::Null));
    }
    assert_eq!(
        lines[2],
        json!({"reason": "weft-summary", "schema": 1, "tool": TOOL, "clean": 1, "allowed": 0, "skipped": 0, "defect": 1, "open": 0, "unchecked": 0})
    );
}

#[test]
fn what_could_not_be_checked_is_in_the_summary() {
    let folder = Folder::new("json-unchecked").with("empty.ptx", "").with("clean.ptx", CLEAN);
    let run = folder.weft("check empty.ptx clean.ptx --block 64 --message-format json").exits(101);
    let lines = lines(&run.out);
    assert_eq!(lines.len(), 3);
    assert_eq!(
        (&lines[0]["verdict"], &lines[0]["file"]),
        (&json!("unchecked"), &json!("empty.ptx"))
    );
    assert!(lines[0]["error"].as_str().is_some_and(|error| error.starts_with("empty.ptx:")));
    assert_eq!((&lines[2]["clean"], &lines[2]["unchecked"]), (&json!(1), &json!(1)));
    run.complains("empty.ptx");
}

#[test]
fn launches_carry_their_labels_and_arguments() {
    let toml = "[[kernel]]\nname = \".\"\nblock = 64\n[[kernel.launch]]\nlabel = \"one-warp\"\nblock = 32\n\
                [[kernel.launch]]\nlabel = \"two\"\n";
    let folder = Folder::new("json-labels").with("clean.ptx", CLEAN).with("weft.toml", toml);
    let run = folder.weft("check clean.ptx --config weft.toml --message-format json").exits(0);
    let lines = lines(&run.out);
    let launches: Vec<_> = lines[..2]
        .iter()
        .map(|line| (&line["launch"]["label"], &line["launch"]["block"][0]))
        .collect();
    assert_eq!(launches, [(&json!("one-warp"), &json!(32)), (&json!("two"), &json!(64))]);
    folder
        .weft("check clean.ptx --config weft.toml")
        .exits(0)
        .says("clean.ptx::own_slot@one-warp  (");
}

#[test]
fn every_command_prints_what_is_documented() {
    let folder = Folder::new("json-commands")
        .with("race.ptx", RACE)
        .with("clean.ptx", CLEAN)
        .with("empty.ptx", "");
    for command in ["check", "mutate", "repair", "repair --minimize"] {
        let arguments =
            format!("{command} race.ptx clean.ptx empty.ptx --block 64 --message-format json");
        let told = lines(&folder.weft(&arguments).out);
        assert_eq!(told.len(), 4, "{command}: {told:#?}");
        assert_eq!(told[3]["reason"], "weft-summary");
    }
    let given = "[[kernel]]\nname = '.'\nblock = 'any'\ngrid = 2\nrequires = ['block.x <= 64']\n[[kernel.launch]]\nlabel = 'a'\n\
                 [[kernel.launch]]\nlabel = 'b'\nskip = 'why'\n";
    let folder = package("json-list", CLEAN).with("weft.toml", given);
    lines(&folder.weft("--message-format json").out);
    let told = lines(&folder.weft("list --message-format json").exits(0).out);
    let names: Vec<_> = told.iter().map(|line| (&line["name"], &line["skip"])).collect();
    let name = "json-list::kernel.ptx::own_slot";
    assert_eq!(
        names,
        [(&json!(format!("{name}@a")), &Value::Null), (&json!(format!("{name}@b")), &json!("why"))]
    );
    let launch = &told[0]["launch"];
    assert_eq!(
        (&launch["label"], &launch["block"], &launch["grid"]),
        (&json!("a"), &json!("any"), &json!([2, 1, 1]))
    );
    assert_eq!(
        (&told[0]["reason"], &told[0]["package"]),
        (&json!("weft-launch"), &json!("json-list"))
    );
}
