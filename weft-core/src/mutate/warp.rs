//! Weakens `bar.warp.sync` (PTX ISA §9.7.13.2).

use super::asm::Asm;
use super::change::Weakening;

/// Returns the weaker forms, each with the text that replaces the barrier.
pub(super) fn changes(asm: &Asm<'_>) -> Vec<(Weakening, String)> {
    let mut changes = vec![(Weakening::Delete, String::new())];
    changes.extend(halves(asm).map(|text| (Weakening::Halves, text)));
    changes
}

/// Returns code in which the lower and the upper half of the mask's lanes wait separately. A mask in a register is
/// halved when the barrier is reached; a mask of one lane stays whole, and `None` is returned for a literal one.
fn halves(asm: &Asm<'_>) -> Option<String> {
    let mask = asm.operands.first()?;
    if asm.literal(0).is_some_and(|lanes| (lanes & 0xffff_ffff).count_ones() < 2) {
        return None;
    }
    let barrier = asm.with(0, "%weft_low");
    Some(format!(
        "{{ .reg .b32 %weft_at, %weft_low, %weft_high; .reg .pred %weft_is; \
         popc.b32 %weft_at, {mask}; shr.u32 %weft_at, %weft_at, 1; add.s32 %weft_at, %weft_at, 1; \
         fns.b32 %weft_at, {mask}, 0, %weft_at; \
         mov.b32 %weft_low, 1; shl.b32 %weft_low, %weft_low, %weft_at; sub.u32 %weft_low, %weft_low, 1; \
         and.b32 %weft_low, %weft_low, {mask}; xor.b32 %weft_high, %weft_low, {mask}; \
         mov.u32 %weft_at, %lanemask_eq; and.b32 %weft_at, %weft_at, %weft_low; setp.ne.u32 %weft_is, %weft_at, 0; \
         selp.b32 %weft_low, %weft_low, %weft_high, %weft_is; {barrier} }}"
    ))
}
