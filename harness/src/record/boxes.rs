//! The bytes of the box that a tensor copy moves, as they follow from what a tensor map was made of.

use serde_json::{Map, Value};
use weft_core::launch::TensorBox;

/// Returns the box of a map that is described so; `None` if it does not follow.
pub(super) fn of(description: &Map<String, Value>) -> Option<TensorBox> {
    let numbers = |name: &str| -> Option<Vec<u64>> {
        description.get(name)?.as_array()?.iter().map(Value::as_u64).collect()
    };
    let number = |name: &str| description.get(name)?.as_u64();
    let steps = numbers("steps")?;
    let elements = match description.get("mode")?.as_str()? {
        // Without interleaving, a step in the first dimension has no effect.
        "tiled" => {
            let has_first = number("interleave")? != 0;
            let extents = numbers("box")?.into_iter().zip(steps).enumerate();
            let kept = |(at, (extent, step)): (usize, (u64, u64))| {
                let step = if at > 0 || has_first { step.max(1) } else { 1 };
                extent.div_ceil(step)
            };
            extents.map(kept).try_fold(1, u64::checked_mul)?
        }
        _ if steps.iter().all(|step| *step == 1) => {
            number("channels")?.checked_mul(number("pixels")?)?
        }
        _ => return None,
    };
    let bytes = element_bytes(description.get("element")?.as_str()?)?;
    TensorBox::of(elements.checked_mul(bytes)?)
}

/// Returns the bytes of an element; `None` if several share bytes.
fn element_bytes(name: &str) -> Option<u64> {
    let name = name.strip_suffix(".ftz").unwrap_or(name);
    let bits: u64 = name.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
    Some(bits / 8)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use weft_core::launch::TensorBox;

    fn bytes(description: &Value) -> Option<u32> {
        let description = description.as_object().expect("a description is a table");
        super::of(description).map(|TensorBox { bytes }| bytes)
    }

    #[test]
    fn a_box_has_the_bytes_of_its_elements() {
        let tiled = |element: &str, extents: Value, steps: Value, interleave: u32| {
            bytes(
                &json!({"mode": "tiled", "element": element, "box": extents, "steps": steps, "interleave": interleave}),
            )
        };
        assert_eq!(tiled("f16", json!([64, 128]), json!([1, 1]), 0), Some(16384));
        assert_eq!(tiled("u8", json!([128]), json!([1]), 0), Some(128));
        assert_eq!(tiled("tf32.ftz", json!([8, 2, 3]), json!([1, 1, 1]), 0), Some(192));
        // Every second row of five, which are three; and every second element only if they are interleaved.
        assert_eq!(tiled("f64", json!([8, 5]), json!([2, 2]), 0), Some(192));
        assert_eq!(tiled("f64", json!([8, 5]), json!([2, 2]), 1), Some(96));
        // Two elements share a byte; more than shared memory has.
        assert_eq!(tiled("b4x16", json!([64, 128]), json!([1, 1]), 0), None);
        assert_eq!(tiled("f64", json!([256, 256]), json!([1, 1]), 0), None);
    }

    #[test]
    fn a_box_of_columns_has_pixels_with_channels() {
        let columns = |steps: Value| {
            bytes(
                &json!({"mode": "im2col", "element": "f32", "channels": 32, "pixels": 256, "steps": steps}),
            )
        };
        assert_eq!(columns(json!([1, 1, 1])), Some(32768));
        assert_eq!(columns(json!([1, 2, 1])), None);
        assert_eq!(bytes(&json!({"mode": "tiled", "element": "f32"})), None);
    }
}
