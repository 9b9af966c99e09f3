//! Weaker forms of `bar.warp.sync` (PTX ISA §9.7.13.2).

use super::asm::Asm;
use super::mutant::Change;

/// The changes, each with the text that stands for the barrier then.
pub(super) fn changes(asm: &Asm<'_>) -> Vec<(Change, String)> {
    let mut changes = vec![(Change::Delete, String::new())];
    changes.extend(halves(asm).map(|text| (Change::Halves, text)));
    changes
}

/// Each half of the mask waits for itself. Of a mask in a register, the halves of the warp are taken.
fn halves(asm: &Asm<'_>) -> Option<String> {
    let barrier = asm.with(0, "%weft_mask");
    let Some(mask) = asm.literal(0) else {
        let mask = asm.operands.first()?;
        return Some(format!(
            "{{ .reg .b32 %weft_mask, %weft_half; mov.u32 %weft_half, %laneid; and.b32 %weft_half, %weft_half, 16; \
             mov.b32 %weft_mask, 65535; shl.b32 %weft_mask, %weft_mask, %weft_half; \
             and.b32 %weft_mask, %weft_mask, {mask}; {barrier} }}"
        ));
    };
    let lanes: Vec<u32> = (0..32).filter(|lane| mask >> lane & 1 == 1).collect();
    let (low, high) = lanes.split_at(lanes.len() / 2);
    let bits = |lanes: &[u32]| lanes.iter().fold(0_u32, |mask, lane| mask | 1 << lane);
    let (low, high) = (bits(low), bits(high));
    (low != 0).then(|| {
        format!(
            "{{ .reg .b32 %weft_mask; .reg .pred %weft_low; mov.u32 %weft_mask, %lanemask_eq; \
             and.b32 %weft_mask, %weft_mask, {low}; setp.ne.u32 %weft_low, %weft_mask, 0; \
             selp.b32 %weft_mask, {low}, {high}, %weft_low; {barrier} }}"
        )
    })
}
