//! Tests of what describes `weft.toml`: the JSON Schema for editors and the reference page say what the reader accepts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Item};
use weft_fixture_tests::{files, snapshot};
use weft_harness::config::{Config, Settings, schema};

use crate::schema::{assert_valid, is_valid};
use crate::support::Folder;

/// The page and the schema in `docs`.
fn docs(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(file)
}

/// Returns a text of TOML as JSON, as editors pass it to a schema.
fn json_of(text: &str) -> Value {
    let document: Result<DocumentMut, _> = text.parse();
    assert!(document.is_ok(), "{document:?}\nin {text}");
    let document = document.unwrap_or_default();
    table(document.iter())
}

fn table<'t>(entries: impl Iterator<Item = (&'t str, &'t Item)>) -> Value {
    Value::Object(entries.map(|(key, own)| (key.to_owned(), item(own))).collect())
}

fn item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(own) => value(own),
        Item::Table(own) => table(own.iter()),
        Item::ArrayOfTables(all) => all.iter().map(|own| table(own.iter())).collect(),
    }
}

fn value(own: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match own {
        Toml::String(text) => json!(text.value()),
        Toml::Integer(number) => json!(number.value()),
        Toml::Float(number) => json!(number.value()),
        Toml::Boolean(flag) => json!(flag.value()),
        Toml::Datetime(date) => json!(date.value().to_string()),
        Toml::Array(all) => all.iter().map(value).collect(),
        Toml::InlineTable(all) => {
            let entries = all.iter().map(|(key, own)| (key.to_owned(), value(own)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}

/// Whether the reader accepts a text.
fn is_read(text: &str) -> bool {
    Config::parse(text, Path::new("weft.toml")).is_ok()
}

/// The schema in `docs` is the output of the binary. `BLESS=1` writes it anew.
#[test]
fn the_schema_is_the_documented_one() {
    let run = Folder::new("dump-schema").weft("dump schema").exits(0);
    let page = docs("weft.schema.json");
    if let Err(error) = snapshot::compare(&page, &run.out, snapshot::is_blessing()) {
        panic!("{error}");
    }
}

#[test]
fn configurations_of_the_repository_fit_the_schema() {
    let root = files::root();
    let mut own = files::below(&root, "toml").expect("the fixtures are there");
    own.retain(|path| path.ends_with("weft.toml"));
    assert!(own.len() >= 3, "{own:?}");
    for path in own {
        assert_valid(&schema(), &json_of(&fs::read_to_string(&path).expect("a text")));
    }
}

#[test]
fn headers_of_fixtures_fit_the_schema() {
    let fixtures = files::fixtures().expect("the fixtures are there");
    assert!(fixtures.len() > 100);
    for path in fixtures {
        let text = fs::read_to_string(&path).expect("a text");
        let header: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//@")).collect();
        let text = format!("[[kernel]]\nname = '.'\n{}", header.join("\n"));
        assert_valid(&schema(), &json_of(&text));
    }
}

/// Returns configurations with one mistake each, which a schema can see.
fn wrong() -> Vec<String> {
    let mut all = wrong_buffers();
    all.extend(wrong_args());
    all.extend(wrong_elsewhere());
    all
}

fn kernel(line: &str) -> String {
    format!("[[kernel]]\nname = 'k'\n{line}\n")
}

fn default(line: &str) -> String {
    format!("[default]\n{line}\n")
}

fn wrong_buffers() -> Vec<String> {
    vec![
        kernel("args = { 1 = { offset = 4 } }"),
        kernel("args = { 1 = { in = 1 } }"),
        kernel("args = { 1 = { in = 'a', offset = -1 } }"),
        kernel("args = { 1 = { in = 'a', u8 = [1] } }"),
        kernel("args = { 1 = { 0 = { in = 'a', at = 1 } } }"),
        default("buffers = { a = {} }"),
        kernel("buffers = { a = 1 }"),
        kernel("buffers = { 'a b' = {} }"),
        kernel("buffers = { a = { size = -1 } }"),
        kernel("buffers = { a = { size = '1 GB' } }"),
        kernel("buffers = { a = { bytes = 1 } }"),
        kernel("buffers = { a = { u8 = [256] } }"),
        kernel("buffers = { a = { 4 = 1 } }"),
        kernel("buffers = { a = { 04 = { u8 = [1] } } }"),
        kernel("buffers = { a = { 4 = { u8 = [1], u16 = [1] } } }"),
        kernel("buffers = { a = { 8 = { offset = 1 } } }"),
    ]
}

fn wrong_args() -> Vec<String> {
    vec![
        kernel("args = { 01 = 1 }"),
        kernel("args = { 'a b' = 1 }"),
        kernel("args = { 1 = 'buf' }"),
        kernel("args = { 1 = true }"),
        kernel("args = { 1 = { u8 = [256] } }"),
        kernel("args = { 1 = { i16 = [-32769] } }"),
        kernel("args = { 1 = { 8 = 'buf' } }"),
        kernel("args = { 1 = { 8 = { 0 = 1 } } }"),
        kernel("args = { 1 = { 08 = 1 } }"),
        kernel("args = { 1 = {} }"),
        kernel("args = { 1 = { u9 = [1] } }"),
        kernel("args = { 1 = { tensor = {} } }"),
        kernel("args = { 1 = { tensor = 1024 } }"),
        kernel("args = { 1 = { tensor = { box-bytes = 0 } } }"),
        kernel("args = { 1 = { tensor = { box-bytes = 24 } } }"),
        kernel("args = { 1 = { tensor = { box-bytes = 232464 } } }"),
        kernel("args = { 1 = { tensor = { box-bytes = 16, box = 1 } } }"),
        kernel("args = { 1 = { tensor = { box-bytes = 16 }, 8 = 1 } }"),
        kernel("args = { 1 = { 64 = { tensor = { box-bytes = 8 } } } }"),
    ]
}

fn wrong_elsewhere() -> Vec<String> {
    vec![
        "blok = 1".to_owned(),
        "ptx = 'a'".to_owned(),
        "[kernel]\nname = 'a'".to_owned(),
        "[[kernel]]\nblock = 1".to_owned(),
        "[[kernel]]\nname = 1".to_owned(),
        default("blok = 1"),
        default("block = 0"),
        default("block = 1025"),
        default("block = []"),
        default("block = [1, 1, 1, 1]"),
        default("block = [1, 1, 128]"),
        default("block = 'all'"),
        default("grid = '4'"),
        default("grid = [65536, 65536]"),
        default("cluster = 'any'"),
        default("cluster = 17"),
        default("cluster = 0"),
        default("shared = -1"),
        default("warp-synchronous = 'yes'"),
        default("atomics = true"),
        default("barrier-divergence = 'thread'"),
        default("witness = 'on'"),
        default("inputs = 'all'"),
        default("limit = 0"),
        default("limit = { instructions = 0 }"),
        default("limit = { memory = '1 GB' }"),
        default("limit = { memory = '0 GiB' }"),
        default("limit = { seconds = 1 }"),
        default("args = { 1 = 2 }"),
        default("requires = ['n > 1']"),
        default("skip = 'why'"),
        kernel("requires = 'n > 1'"),
        kernel("skip = ' '"),
        kernel("allow = [{ code = 'x', reason = 'r' }]"),
        kernel("allow = [{ code = 'limit' }]"),
        kernel("allow = [{ reason = 'r' }]"),
        kernel("allow = [{ code = 'limit', reason = ' ' }]"),
        kernel("allow = [{ code = 'limit', reason = 'r', at = 'a.cu' }]"),
        kernel("allow = [{ code = 'limit', reason = 'r', at = 'a.cu:0' }]"),
        kernel("allow = [{ code = 'limit', reason = 'r', until = 2027-01-31T10:00:00 }]"),
        kernel("allow = [{ code = 'limit', reason = 'r', why = 'w' }]"),
        kernel("[[kernel.launch]]"),
        kernel("[[kernel.launch]]\nlabel = ''"),
        kernel("[[kernel.launch]]\nlabel = 'a:b'"),
        kernel("[[kernel.launch]]\nlabel = 'a'\nname = 'b'"),
    ]
}

#[test]
fn what_the_schema_refuses_the_reader_refuses() {
    for text in wrong() {
        assert!(!is_read(&text), "the reader accepts {text:?}");
        assert!(!is_valid(&schema(), &json_of(&text)), "the schema accepts {text:?}");
    }
}

#[test]
fn what_the_reader_accepts_the_schema_accepts() {
    let all = "ptx = []\n[default]\nblock = 'any'\ngrid = [2147483647]\ncluster = [4, 2]\nshared = 4294967295\nwitness = 0\nlimit = 7\n\
        [[kernel]]\nname = 'k'\nlimit = { memory = ' 010 MiB ' }\nskip = 'why'\nblock = [1, 2]\nwitness = 'off'\n\
        args = { 0 = -1, n = 1e3, _x = { u64 = [0] }, \"größe\" = { 0 = { f32 = [0.5, 1] }, u8 = [1] }, \"$a\" = 'buffer', 7 = { in = 'c', offset = 8 }, 8 = { 8 = { in = 'B_' } }, 9 = { tensor = { box-bytes = 16 } }, \
        10 = { 0 = 1, 64 = { tensor = { box-bytes = 232448 } } } }\n\
        allow = [{ code = 'limit', reason = 'r', at = '..\\k\\a.cu:+07', until = 2027-01-31 }]\n\
        buffers = { a-1 = {}, B_ = { size = 0 }, c = { size = ' 4 KiB ', f32 = [1], 8 = { in = 'a-1' }, 16 = { i8 = [-1] } } }\n\
        [[kernel.launch]]\nlabel = 'ä-1'\nrequires = []\nallow = [{ code = 'trap', reason = 'r', until = '2027-01-31' }]\n";
    assert!(is_read(all));
    assert_valid(&schema(), &json_of(all));
}

/// Returns the properties of a definition of the schema; those of the file if it has no name.
fn properties(schema: &Value, of: &str) -> Map<String, Value> {
    let table = if of.is_empty() { schema } else { &schema["definitions"][of] };
    table["properties"].as_object().expect("a table has properties").clone()
}

#[test]
fn defaults_of_the_schema_are_those_of_the_reader() {
    let launch = |text: &str| {
        let settings = Settings::parse(text, Path::new("weft.toml")).expect("a default is valid");
        settings.launch_by_position().expect("there are no names")
    };
    let mut count = 0;
    for (of, form) in [("kernel", "KEY = VALUE"), ("limit", "limit = { KEY = VALUE }")] {
        for (name, own) in properties(&schema(), of) {
            let Some(default) = own.get("default") else { continue };
            let text = form.replace("KEY", &name).replace("VALUE", &default.to_string());
            assert_eq!(launch(&text), launch(""), "{text}");
            count += 1;
        }
    }
    assert_eq!(count, 7);
}

/// Returns what each key does, by the key's heading on the page.
fn keys(schema: &Value) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let parts = ["", "default", "kernel", "launch", "allow", "limit"];
    for (part, (name, own)) in parts
        .iter()
        .flat_map(|part| properties(schema, part).into_iter().map(move |own| (part, own)))
    {
        let about = own["description"].as_str().expect("each key has a description").to_owned();
        let heading = match *part {
            "allow" | "limit" => format!("{part}.{name}"),
            _ => name,
        };
        if let Some(other) = keys.insert(heading.clone(), about.clone()) {
            assert_eq!(other, about, "`{heading}` does the same in all tables");
        }
    }
    keys
}

#[test]
fn the_page_describes_every_key_in_the_words_of_the_schema() {
    let page = fs::read_to_string(docs("weft-toml.md")).expect("the page is there");
    let mut sections = BTreeMap::new();
    for section in page.split("\n### `").skip(1) {
        let (key, rest) = section.split_once("`\n").expect("a heading is a key");
        let rest = rest.split("\n## ").next().unwrap_or_default();
        let own = key.rsplit('.').next().unwrap_or(key);
        for part in ["Type: ", "Default: ", "```toml", own] {
            assert!(rest.contains(part), "the section of `{key}` has no `{part}`");
        }
        let about = rest.trim_start().split("\n\n").next().unwrap_or_default().replace('\n', " ");
        assert!(sections.insert(key.to_owned(), about).is_none(), "`{key}` has one section");
    }
    assert_eq!(sections, keys(&schema()));
}

#[test]
fn the_examples_of_the_page_are_valid() {
    let page = fs::read_to_string(docs("weft-toml.md")).expect("the page is there");
    let blocks = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or(""));
    let (manifests, own): (Vec<_>, Vec<_>) = blocks.partition(|text| text.contains(".metadata."));
    assert!(own.len() > 25 && manifests.len() == 2);
    for text in own {
        let read = Config::parse(text, Path::new("weft.toml"));
        assert!(read.is_ok(), "{text}{}", read.unwrap_err());
        assert_valid(&schema(), &json_of(text));
    }
    for text in manifests {
        let folder = Folder::new("page-manifest").with("Cargo.toml", text);
        let read = Config::find(folder.path());
        assert!(read.is_ok(), "{text}{}", read.unwrap_err());
    }
}
