//! The JSON Schema of `weft.toml` for editors: every key with its type, its default and what it does. A schema says less than
//! the reader: it knows nothing of regular expressions, conditions, and products of sizes.

use serde_json::{Map, Value, json};
use weft_core::finding::Code;
use weft_core::launch::allocation::MAX_BUFFER;
use weft_core::launch::{Dim3, Dimensions, Limit, MAX_SHARED};

use super::Element;
use super::keys::{
    AcceptanceKey, AllowKey, BoxKey, BufferKey, FileKey, KernelKey, KeySet, LaunchKey, LimitKey,
    PointerKey, SettingKey, TensorKey,
};
use super::settings::WITNESS;

/// Where the schema of the newest version is published.
pub const SCHEMA_URL: &str =
    "https://raw.githubusercontent.com/cargo-weft/cargo-weft/main/docs/weft.schema.json";

/// A position or an offset as it is written, as a regular expression.
const NUMBER: &str = "0|[1-9][0-9]*";

/// Returns the JSON Schema (draft 7) of `weft.toml`.
pub fn schema() -> Value {
    let mut root = table(properties(of_file), &[]);
    root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    root["$id"] = json!(SCHEMA_URL);
    root["title"] = json!("weft.toml: how cargo weft checks the kernels of a package");
    root["definitions"] = json!({
        "default": table(settings(|key| !key.is_of_one_kernel()), &[]),
        "kernel": table(joined([properties(of_kernel), properties(of_acceptance), settings(|_| true)]), &["name"]),
        "launch": table(joined([properties(of_launch), properties(of_acceptance), settings(|_| true)]), &["label"]),
        "allow": table(properties(of_allow), &["code", "reason"]),
        "limit": table(properties(of_limit), &[]),
        "arg": { "anyOf": [
            { "type": "number" },
            { "const": "buffer" },
            { "$ref": "#/definitions/within" },
            { "$ref": "#/definitions/tensor" },
            { "type": "object", "minProperties": 1, "additionalProperties": false, "properties": contents(),
              "patternProperties": { (format!("^({NUMBER})$")): { "$ref": "#/definitions/field" } } },
        ] },
        "within": within(),
        "tensor": table(properties(of_tensor), &["tensor"]),
        "buffer": buffer(),
        "field": { "anyOf": [
            { "type": "number" },
            { "const": "buffer" },
            { "$ref": "#/definitions/within" },
            { "$ref": "#/definitions/tensor" },
            { "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
              "properties": contents() },
        ] },
    });
    root
}

/// Returns the schema of a table with these keys and no others.
fn table(properties: Map<String, Value>, required: &[&str]) -> Value {
    let properties = Value::Object(properties);
    json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false
    })
}

/// Returns the schemas of keys, each with what the key does.
fn properties<K: KeySet>(of: fn(K) -> Value) -> Map<String, Value> {
    let described = |(key, name, about): &(K, &'static str, &'static str)| {
        let mut schema = of(*key);
        schema["description"] = json!(about);
        ((*name).to_owned(), schema)
    };
    K::ALL.iter().map(described).collect()
}

fn settings(is_valid: impl Fn(SettingKey) -> bool) -> Map<String, Value> {
    let mut all = properties(of_setting);
    all.retain(|name, _| SettingKey::find(name).is_some_and(&is_valid));
    all
}

fn joined<const N: usize>(parts: [Map<String, Value>; N]) -> Map<String, Value> {
    parts.into_iter().flatten().collect()
}

fn of_file(key: FileKey) -> Value {
    match key {
        FileKey::Ptx => json!({ "type": "array", "items": { "type": "string" } }),
        // A reference in draft 7 hides what stands beside it.
        FileKey::Default => json!({ "allOf": [{ "$ref": "#/definitions/default" }] }),
        FileKey::Kernel => json!({ "type": "array", "items": { "$ref": "#/definitions/kernel" } }),
    }
}

fn of_kernel(key: KernelKey) -> Value {
    match key {
        KernelKey::Name => json!({ "type": "string" }),
        KernelKey::Launch => {
            json!({ "type": "array", "items": { "$ref": "#/definitions/launch" } })
        }
    }
}

fn of_launch(key: LaunchKey) -> Value {
    match key {
        LaunchKey::Label => json!({ "type": "string", "pattern": r"^[^\s@:]+$" }),
    }
}

fn of_acceptance(key: AcceptanceKey) -> Value {
    match key {
        AcceptanceKey::Allow => {
            json!({ "type": "array", "items": { "$ref": "#/definitions/allow" } })
        }
        AcceptanceKey::Skip => sentence(),
    }
}

fn of_allow(key: AllowKey) -> Value {
    match key {
        AllowKey::Code => {
            json!({ "enum": Code::ALL.iter().map(|code| code.name()).collect::<Vec<_>>() })
        }
        AllowKey::At => json!({ "type": "string", "pattern": r"[^/\\].*:\+?0*[1-9][0-9]*$" }),
        AllowKey::Reason => sentence(),
        AllowKey::Until => json!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }),
    }
}

fn of_limit(key: LimitKey) -> Value {
    let Limit { instructions, memory } = Limit::default();
    match key {
        LimitKey::Instructions => {
            json!({ "type": "integer", "minimum": 1, "default": instructions })
        }
        LimitKey::Memory => json!({ "default": memory, "anyOf": [
            { "type": "integer", "minimum": 1 },
            size(),
        ] }),
    }
}

fn of_buffer(key: BufferKey) -> Value {
    match key {
        BufferKey::Size => json!({ "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": MAX_BUFFER },
            size(),
        ] }),
    }
}

fn of_pointer(key: PointerKey) -> Value {
    match key {
        PointerKey::In => json!({ "type": "string" }),
        PointerKey::Offset => {
            json!({ "type": "integer", "minimum": 0, "maximum": MAX_BUFFER, "default": 0 })
        }
    }
}

fn of_tensor(key: TensorKey) -> Value {
    match key {
        TensorKey::Tensor => table(properties(of_box), &["box-bytes"]),
    }
}

fn of_box(key: BoxKey) -> Value {
    match key {
        BoxKey::BoxBytes => {
            json!({ "type": "integer", "minimum": 16, "maximum": MAX_SHARED, "multipleOf": 16 })
        }
    }
}

/// Returns the schema of a place in a buffer.
fn within() -> Value {
    table(properties(of_pointer), &["in"])
}

/// Returns the schema of a buffer.
fn buffer() -> Value {
    let mut schema = table(joined([properties(of_buffer), contents()]), &[]);
    schema["patternProperties"] = json!({ (format!("^({NUMBER})$")): { "anyOf": [
        { "$ref": "#/definitions/within" },
        { "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
          "properties": contents() },
    ] } });
    schema
}

/// Returns the schema of a size as a text.
fn size() -> Value {
    json!({ "type": "string", "pattern": r"^\s*0*[1-9][0-9]*\s*([KMG]iB)?\s*$" })
}

fn of_setting(key: SettingKey) -> Value {
    match key {
        SettingKey::Block => extent(Dim3::MAX_BLOCK),
        SettingKey::Grid => extent(Dim3::MAX_GRID),
        SettingKey::Cluster => cluster(),
        SettingKey::Shared => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
        SettingKey::WarpSynchronous => json!({ "type": "boolean", "default": false }),
        SettingKey::Atomics => {
            json!({ "enum": ["auto", "abstract", "unique", "off"], "default": "auto" })
        }
        SettingKey::BarrierDivergence => {
            json!({ "enum": ["warp", "cta", "off"], "default": "warp" })
        }
        SettingKey::Witness => json!({ "default": WITNESS, "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": u32::MAX },
            { "const": "off" },
        ] }),
        SettingKey::Inputs => json!({ "enum": ["some", "any"], "default": "some" }),
        SettingKey::Limit => json!({ "anyOf": [
            { "type": "integer", "minimum": 1 },
            { "$ref": "#/definitions/limit" },
        ] }),
        SettingKey::Args => json!({
            "type": "object", "additionalProperties": false,
            "patternProperties": {
                (format!("^({NUMBER}|[^0-9\\s\"'.:-][^\\s\"'.:-]*)$")): { "$ref": "#/definitions/arg" },
            },
        }),
        SettingKey::Buffers => json!({
            "type": "object", "additionalProperties": false,
            "patternProperties": { "^[A-Za-z0-9_-]+$": { "$ref": "#/definitions/buffer" } },
        }),
        SettingKey::Requires => json!({ "type": "array", "items": { "type": "string" } }),
    }
}

/// Returns the schema of a text that says something.
fn sentence() -> Value {
    json!({ "type": "string", "pattern": r"\S" })
}

/// The schema of the ctas of a cluster.
fn cluster() -> Value {
    let most = u32::try_from(Dim3::MAX_CLUSTER).expect("it is small");
    json!({ "anyOf": extents(Dim3 { x: most, y: most, z: most }) })
}

/// Returns the ways to state an extent.
fn extents(most: Dim3) -> Vec<Value> {
    let upto = |most: u32| json!({ "type": "integer", "minimum": 1, "maximum": most });
    let items = [upto(most.x), upto(most.y), upto(most.z)];
    let all = json!({ "type": "array", "minItems": 1, "maxItems": 3, "items": items });
    vec![upto(most.x), all]
}

/// Returns the schema of an extent that can be any.
fn extent(most: Dim3) -> Value {
    let mut all = extents(most);
    all.push(json!({ "const": Dimensions::ANY }));
    json!({ "anyOf": all })
}

/// Returns the schemas of buffer contents by the type of their elements.
fn contents() -> Map<String, Value> {
    let array = |element: Element| {
        let items = match element.bounds() {
            Some((least, most)) => json!({ "type": "integer", "minimum": least, "maximum": most }),
            None => json!({ "type": "number" }),
        };
        (element.name().to_owned(), json!({ "type": "array", "items": items }))
    };
    Element::ALL.into_iter().map(array).collect()
}
