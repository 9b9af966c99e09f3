//! Tests of the formats for CI and editors: SARIF, JUnit, annotations of GitHub, messages of a compiler.

use std::fs;

use cargo_metadata::Message;
use cargo_metadata::diagnostic::DiagnosticLevel;
use serde_json::{Value, json};

use crate::packages::package;
use crate::schema::assert_valid;
use crate::support::{CLEAN, Folder, RACE};

/// The racing kernel, whose write comes from line 2, column 3 of `ü k.cu`.
fn with_source(name: &str) -> Folder {
    let at = "    st.shared.u32 [%r3], %r1;";
    let ptx = RACE.replace(at, &format!("    .loc 1 2 3\n{at}")) + ".file 1 \"ü k.cu\"\n";
    let source = "é first\r\n  é_slot[i] = v;\r\n";
    Folder::new(name).with(".git/HEAD", "").with("k.ptx", ptx).with("ü k.cu", source)
}

/// A package whose races are allowed, skipped and told, with an `allow` that accepts nothing.
fn mixed(name: &str) -> Folder {
    let toml = "[[kernel]]\nname = '.'\nblock = 64\n[[kernel.launch]]\nlabel = 'ok'\n\
                allow = [{ code = 'shared-race', reason = 'it is <meant>' }, { code = 'trap', reason = 'no' }]\n\
                [[kernel.launch]]\nlabel = 'out'\nskip = 'needs textures'\n[[kernel.launch]]\nlabel = 'bad'\n";
    package(name, RACE).with("weft.toml", toml).with(".git/HEAD", "")
}

fn sarif(text: &str) -> Value {
    let document = serde_json::from_str(text).expect("it is JSON");
    let schema = include_str!("sarif-schema-2.1.0.json");
    assert_valid(&serde_json::from_str(schema).expect("it is JSON"), &document);
    document["runs"][0].clone()
}

#[test]
fn sarif_has_the_places_of_a_race() {
    let folder = with_source("sarif-places");
    let run = sarif(&folder.weft("check k.ptx --block 64 --message-format sarif").exits(100).out);
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let codes = weft_core::finding::Code::ALL;
    assert_eq!(rules.len(), codes.len());
    for (rule, code) in rules.iter().zip(codes) {
        assert_eq!(
            (&rule["id"], &rule["shortDescription"]["text"]),
            (&json!(code.name()), &json!(code.summary()))
        );
    }
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&json!("shared-race"), &json!("error")));
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(rules[index]["id"], "shared-race");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(
        place["artifactLocation"],
        json!({"uri": "%C3%BC%20k.cu", "uriBaseId": "%SRCROOT%"})
    );
    // The word at byte 3, whose first letter has two bytes.
    let region =
        json!({"startLine": 2, "startColumn": 3, "endColumn": 9, "snippet": {"text": "é_slot"}});
    assert_eq!(place["region"], region);
    assert_eq!(result["locations"][0]["logicalLocations"][0]["name"], "race_of_neighbours");
    let related = result["relatedLocations"].as_array().unwrap();
    let places: Vec<_> = related
        .iter()
        .map(|own| &own["physicalLocation"])
        .map(|own| {
            (
                own["artifactLocation"]["uri"].as_str().unwrap(),
                own["region"]["startLine"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(places, [("k.ptx", 16), ("%C3%BC%20k.cu", 2), ("k.ptx", 17)]);
    assert!(related[1]["message"]["text"].as_str().unwrap().contains("4-byte read of `slots`"));
    assert_eq!(
        (&run["invocations"][0]["exitCode"], &run["invocations"][0]["executionSuccessful"]),
        (&json!(100), &json!(true))
    );
    // Lines that move change no fingerprint.
    let moved =
        fs::read_to_string(folder.path().join("k.ptx")).unwrap().replace("\n{\n", "\n{\n\n\n");
    let folder = folder.with("k.ptx", moved);
    let again = sarif(&folder.weft("check k.ptx --block 64 --message-format sarif").exits(100).out);
    assert_ne!(again["results"][0]["relatedLocations"], result["relatedLocations"]);
    assert_eq!(again["results"][0]["partialFingerprints"], result["partialFingerprints"]);
}

#[test]
fn sarif_tells_what_is_accepted_and_what_was_not_checked() {
    let run = sarif(&mixed("sarif-mixed").weft("--message-format sarif").exits(101).out);
    let results = run["results"].as_array().unwrap();
    let accepted =
        json!([{"kind": "external", "status": "accepted", "justification": "it is <meant>"}]);
    assert_eq!((&results[0]["suppressions"], &results[1]["suppressions"]), (&accepted, &json!([])));
    let logical = &results[0]["locations"][0]["logicalLocations"][0];
    assert_eq!(logical["name"], "race_of_neighbours@ok");
    let invocation = &run["invocations"][0];
    assert_eq!(
        (&invocation["exitCode"], &invocation["executionSuccessful"]),
        (&json!(101), &json!(false))
    );
    let told: Vec<_> = invocation["toolExecutionNotifications"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| {
            (own["descriptor"]["id"].as_str().unwrap(), own["message"]["text"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        told[0],
        ("skipped", "sarif-mixed::kernel.ptx::race_of_neighbours@out: skipped: needs textures")
    );
    assert!(told[1].0 == "unchecked" && told[1].1.contains("accepts nothing"), "{told:?}");
    // A document is there even if nothing is checked.
    let folder = Folder::new("sarif-nothing").with("broken.ptx", ".entry");
    for arguments in ["check no.ptx", "check broken.ptx", "test --manifest-path no.toml"] {
        let run =
            sarif(&folder.weft(&format!("{arguments} --message-format sarif")).exits(101).out);
        assert_eq!(
            run["invocations"][0]["toolExecutionNotifications"][0]["level"], "error",
            "{arguments}"
        );
    }
}

#[test]
fn junit_has_the_cases_of_cargo_test() {
    let out = mixed("junit-mixed").weft("--message-format junit").exits(101).out;
    let head =
        "<testsuites name=\"cargo-weft\" tests=\"10\" failures=\"1\" errors=\"1\" skipped=\"4\">";
    let own = "name=\"junit-mixed::kernel.ptx::race_of_neighbours";
    for text in [
        head,
        "<skipped message=\"allowed: it is &lt;meant&gt;\"/>",
        "<skipped message=\"needs textures\"/>",
        "<testcase name=\"junit-mixed::allow\"",
    ] {
        assert!(out.contains(text), "no `{text}` in {out}");
    }
    for check in ["barriers", "shared", "global"] {
        for launch in ["ok", "out", "bad"] {
            assert_eq!(out.matches(&format!("{own}@{launch}::{check}\"")).count(), 1, "{out}");
        }
    }
    let failure =
        out.split("<failure type=\"shared-race\" message=\"").nth(1).expect("there is a failure");
    assert!(failure.contains("error[shared-race]: ") && failure.contains("--&gt; "), "{failure}");
    let folder = Folder::new("junit-broken").with("broken.ptx", ".entry");
    let run = folder.weft("check broken.ptx --message-format junit").exits(101);
    run.says("<testcase name=\"broken.ptx::read\"")
        .says("<error type=\"unchecked\" message=\"broken.ptx:1:1: ");
}

#[test]
fn annotations_and_the_summary_of_the_job() {
    let folder = with_source("github").with("clean.ptx", CLEAN).with("sub/broken.ptx", ".entry");
    let arguments = [
        "check",
        "../k.ptx",
        "../clean.ptx",
        "broken.ptx",
        "--block",
        "64",
        "--message-format",
        "github",
    ];
    let mut command = folder.command(&arguments);
    // Paths are relative to the root of the repository, wherever the command runs.
    command
        .current_dir(folder.path().join("sub"))
        .env("GITHUB_STEP_SUMMARY", folder.path().join("summary.md"));
    let folder = folder.with("summary.md", "before\n");
    let run = crate::support::Run::of(command.output().expect("the binary starts")).exits(101);
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines[0].starts_with("::error file=ü k.cu,line=2,col=3,endColumn=9,title=shared-race%3A ../k.ptx%3A%3Arace_of_neighbours::read-write race "), "{run:#?}");
    assert!(lines[0].contains("%0Aü k.cu:2: 4-byte write of `slots` + 4, "), "{run:#?}");
    assert!(lines[1].starts_with("::error file=sub/broken.ptx,title=broken.ptx%3A%3Aread could not be checked::broken.ptx:1:1: "), "{run:#?}");
    assert_eq!(lines[2..], ["weft: 1 clean, 1 defect, 0 open, 1 could not be checked"]);
    let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();
    assert!(summary.starts_with("before\n### cargo weft\n"), "{summary}");
    for row in [
        "| clean | 1 |",
        "| defect | 1 |",
        "| could not be checked | 1 |",
        "| shared-race | ../k.ptx::race\\_of\\_neighbours | ü k.cu:2 | ",
    ] {
        assert!(summary.contains(row), "no `{row}` in {summary}");
    }
    let open =
        folder.weft("check clean.ptx --limit 1 --block 64 --message-format github").exits(102);
    assert!(open.out.starts_with("::warning file=clean.ptx,"), "{open:#?}");
}

#[test]
fn messages_of_a_compiler_are_those_of_cargo() {
    let folder = mixed("rustc-mixed");
    let run = folder.weft("--message-format rustc").exits(101);
    let messages: Vec<Message> =
        Message::parse_stream(run.out.as_bytes()).map(Result::unwrap).collect();
    let [
        Message::CompilerMessage(race),
        Message::CompilerMessage(dead),
        Message::BuildFinished(end),
    ] = &messages[..]
    else {
        panic!("{messages:#?}");
    };
    assert!(!end.success);
    assert_eq!(
        (race.message.level, dead.message.level),
        (DiagnosticLevel::Error, DiagnosticLevel::Error)
    );
    assert!(race.package_id.repr.contains("rustc-mixed"), "{race:#?}");
    assert_eq!(race.target.name, "rustc_mixed");
    let code = race.message.code.as_ref().expect("a finding has a code");
    assert_eq!((code.code.as_str(), code.explanation.is_some()), ("shared-race", true));
    assert!(race.message.rendered.as_ref().unwrap().starts_with("error[shared-race]: "));
    assert!(dead.message.message.contains("accepts nothing"), "{dead:#?}");
    assert_eq!(race.message.spans.iter().filter(|span| span.is_primary).count(), 1);
}

#[test]
fn spans_point_into_the_files() {
    let folder = with_source("rustc-spans");
    let run = folder.weft("check k.ptx --block 64 --message-format rustc").exits(100);
    let messages: Vec<Message> =
        Message::parse_stream(run.out.as_bytes()).map(Result::unwrap).collect();
    let Message::CompilerMessage(race) = &messages[0] else { panic!("{messages:#?}") };
    let quoted: Vec<_> = race
        .message
        .spans
        .iter()
        .map(|span| {
            let bytes = fs::read(folder.path().join(&span.file_name)).unwrap();
            let part = span.byte_start as usize..span.byte_end as usize;
            let columns = (span.line_start, span.column_start, span.column_end);
            (String::from_utf8(bytes[part].to_vec()).unwrap(), columns, span.is_primary)
        })
        .collect();
    let expected = [
        ("é_slot".to_owned(), (2, 3, 9), true),
        ("é_slot".to_owned(), (2, 3, 9), false),
        ("st.shared.u32 [%r3], %r1;".to_owned(), (16, 5, 30), false),
        ("ld.shared.u32 %r4, [%r3+4];".to_owned(), (17, 5, 32), false),
    ];
    assert_eq!(quoted, expected);
    assert_eq!(race.message.spans[0].text[0].text, "  é_slot[i] = v;");
}
