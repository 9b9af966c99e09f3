//! Validates JSON against a JSON Schema (draft 7), as far as the schemas of these tests use it. A keyword that is not known
//! here fails the test, so that nothing is taken for valid that was not looked at.

use regex::Regex;
use serde_json::Value;

/// Keywords that demand nothing. `format` is not examined.
const SILENT: [&str; 7] =
    ["$schema", "$id", "title", "description", "default", "definitions", "format"];

/// Asserts that the value is valid.
#[track_caller]
pub(crate) fn assert_valid(schema: &Value, value: &Value) {
    let result = check(schema, schema, value, "");
    assert!(result.is_ok(), "{result:?}\nin {value:#}");
}

/// Whether the value is valid.
pub(crate) fn is_valid(schema: &Value, value: &Value) -> bool {
    check(schema, schema, value, "").is_ok()
}

/// Returns the first thing that is wrong with `value`, which is at `path`.
fn check(root: &Value, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        if !SILENT.contains(&keyword.as_str()) {
            let is_valid = keyword_holds(root, schema, (keyword, rule), value, path)?;
            if !is_valid {
                return Err(format!("`{path}` violates `{keyword}: {rule}`"));
            }
        }
    }
    Ok(())
}

fn keyword_holds(
    root: &Value,
    schema: &Value,
    (keyword, rule): (&str, &Value),
    value: &Value,
    path: &str,
) -> Result<bool, String> {
    let items = value.as_array();
    let list = || rule.as_array().expect("the keyword takes a list");
    let matches = |schema| check(root, schema, value, path).is_ok();
    Ok(match keyword {
        "$ref" => {
            let pointer = rule.as_str().and_then(|text| text.strip_prefix('#'));
            let target = pointer.and_then(|pointer| root.pointer(pointer));
            check(root, target.expect("it is within the schema"), value, path).map(|()| true)?
        }
        "type" => match rule {
            Value::String(name) => is_type(name, value),
            _ => list().iter().filter_map(Value::as_str).any(|name| is_type(name, value)),
        },
        "enum" => list().contains(value),
        "const" => rule == value,
        "allOf" => list().iter().all(matches),
        "anyOf" => list().iter().any(matches),
        "oneOf" => list().iter().filter(|schema| matches(schema)).count() == 1,
        "minimum" => value.as_f64().is_none_or(|number| Some(number) >= rule.as_f64()),
        "maximum" => value.as_f64().is_none_or(|number| Some(number) <= rule.as_f64()),
        "multipleOf" => value
            .as_u64()
            .is_none_or(|number| rule.as_u64().is_some_and(|unit| number.is_multiple_of(unit))),
        "minProperties" => {
            value.as_object().is_none_or(|all| Some(all.len() as u64) >= rule.as_u64())
        }
        "maxProperties" => {
            value.as_object().is_none_or(|all| Some(all.len() as u64) <= rule.as_u64())
        }
        "minItems" => items.is_none_or(|items| Some(items.len() as u64) >= rule.as_u64()),
        "maxItems" => items.is_none_or(|items| Some(items.len() as u64) <= rule.as_u64()),
        "uniqueItems" => items.is_none_or(|items| {
            rule != true || (1..items.len()).all(|at| !items[..at].contains(&items[at]))
        }),
        "pattern" => {
            let pattern = Regex::new(rule.as_str().expect("a text")).expect("a pattern");
            value.as_str().is_none_or(|text| pattern.is_match(text))
        }
        "items" => {
            check_items(root, rule, items, path)?;
            true
        }
        "required" => value.as_object().is_none_or(|object| {
            list().iter().filter_map(Value::as_str).all(|name| object.contains_key(name))
        }),
        "properties" | "patternProperties" | "additionalProperties" => {
            check_properties(root, schema, (keyword, rule), value, path)?;
            true
        }
        other => unreachable!("the keyword `{other}` is not known here"),
    })
}

fn check_items(
    root: &Value,
    rule: &Value,
    items: Option<&Vec<Value>>,
    path: &str,
) -> Result<(), String> {
    items.into_iter().flatten().enumerate().try_for_each(|(at, item)| {
        // A list has a schema for each place.
        let rule = rule.as_array().map_or(Some(rule), |rules| rules.get(at));
        rule.map_or(Ok(()), |rule| check(root, rule, item, &format!("{path}/{at}")))
    })
}

fn check_properties(
    root: &Value,
    schema: &Value,
    (keyword, rule): (&str, &Value),
    value: &Value,
    path: &str,
) -> Result<(), String> {
    for (name, own) in value.as_object().into_iter().flatten() {
        let listed = schema.get("properties").and_then(|all| all.get(name));
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let matching = patterns
            .into_iter()
            .flatten()
            .find(|(pattern, _)| Regex::new(pattern).expect("a pattern").is_match(name));
        let matching = matching.map(|(_, rule)| rule);
        let path = format!("{path}/{name}");
        match (keyword, listed, matching) {
            ("properties", Some(rule), _) | ("patternProperties", _, Some(rule)) => {
                check(root, rule, own, &path)?;
            }
            ("additionalProperties", None, None) if *rule == false => {
                return Err(format!("`{path}` is not in the schema"));
            }
            ("additionalProperties", None, None) if rule.is_object() => {
                check(root, rule, own, &path)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => unreachable!("there is no type `{other}`"),
    }
}

#[test]
fn what_is_wrong_is_found() {
    let schema = serde_json::json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {"a": {"type": ["integer", "null"], "minimum": 1}, "b": {"items": {"$ref": "#/definitions/t"}}},
        "definitions": {"t": {"enum": ["x", "y"]}}, "maxProperties": 3,
        "patternProperties": {"^p": {"allOf": [{"const": 1}]}, "^q": {"items": [{"const": 1}], "minItems": 1}},
    });
    let is_valid = |text: &str| is_valid(&schema, &serde_json::from_str(text).expect("it is JSON"));
    assert!(is_valid(r#"{"a": 1, "b": ["x"], "p": 1}"#) && is_valid(r#"{"a": null, "q": [1, 2]}"#));
    for wrong in [
        "1",
        "{}",
        r#"{"a": 0}"#,
        r#"{"a": "1"}"#,
        r#"{"a": 1, "b": ["z"]}"#,
        r#"{"a": 1, "c": 1}"#,
        r#"{"a": 1, "p": 2}"#,
        r#"{"a": 1, "q": [2, 1]}"#,
        r#"{"a": 1, "q": []}"#,
        r#"{"a": 1, "b": [], "p1": 1, "p2": 1}"#,
    ] {
        assert!(!is_valid(wrong), "{wrong}");
    }
}
