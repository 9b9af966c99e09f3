//! The forms of the instructions that compute registers from registers, within a lane or across a warp: which types and
//! modifiers can be combined.
//!
//! Patterns are written as in the manual: `{.a|.b}` is one of these or nothing, `(.a|.b)` is one of these. The printed
//! support table and the tests that try every form read this list; the machine does not, it decides by itself what a
//! form computes.

/// A pattern for some instructions of one section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Section of the PTX ISA manual, version 9.1.
    pub section: &'static str,
    /// The mnemonics as a pattern with alternatives.
    pub pattern: &'static str,
}

impl Form {
    /// Returns every mnemonic of the form.
    pub fn mnemonics(&self) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut rest = self.pattern;
        while let Some(at) = rest.find(['{', '(']) {
            let close = if rest.as_bytes()[at] == b'{' { '}' } else { ')' };
            let end = rest[at..].find(close).map_or(rest.len(), |end| at + end);
            let mut choices: Vec<&str> = rest[at + 1..end].split('|').collect();
            if close == '}' {
                choices.insert(0, "");
            }
            let fixed = &rest[..at];
            let extended = |start: &String| -> Vec<String> {
                choices.iter().map(|choice| format!("{start}{fixed}{choice}")).collect()
            };
            all = all.iter().flat_map(extended).collect();
            rest = rest.get(end + 1..).unwrap_or("");
        }
        all.iter().map(|start| format!("{start}{rest}")).collect()
    }
}

macro_rules! forms {
    ($($section:literal: $($pattern:literal)+;)*) => {
        /// All forms, in the order of the manual.
        pub const FORMS: &[Form] =
            &[$($(Form { section: $section, pattern: $pattern },)+)*];
    };
}

forms! {
    "9.7.1.1": "add(.u16|.u32|.u64|.s16|.s32|.s64|.u16x2|.s16x2)" "add.sat.s32";
    "9.7.1.2": "sub(.u16|.u32|.u64|.s16|.s32|.s64)" "sub.sat.s32";
    "9.7.1.3": "mul(.lo|.hi)(.u16|.u32|.u64|.s16|.s32|.s64)" "mul.wide(.u16|.u32|.s16|.s32)";
    "9.7.1.4": "mad(.lo|.hi)(.u16|.u32|.u64|.s16|.s32|.s64)" "mad.wide(.u16|.u32|.s16|.s32)" "mad.hi.sat.s32";
    "9.7.1.5": "mul24(.lo|.hi)(.u32|.s32)";
    "9.7.1.6": "mad24(.lo|.hi)(.u32|.s32)" "mad24.hi.sat.s32";
    "9.7.1.7": "sad(.u16|.u32|.u64|.s16|.s32|.s64)";
    "9.7.1.8": "div(.u16|.u32|.u64|.s16|.s32|.s64)";
    "9.7.1.9": "rem(.u16|.u32|.u64|.s16|.s32|.s64)";
    "9.7.1.10": "abs(.s16|.s32|.s64)";
    "9.7.1.11": "neg(.s16|.s32|.s64)";
    "9.7.1.12": "min(.u16|.u32|.u64|.u16x2|.s16|.s64)" "min{.relu}(.s16x2|.s32)";
    "9.7.1.13": "max(.u16|.u32|.u64|.u16x2|.s16|.s64)" "max{.relu}(.s16x2|.s32)";
    "9.7.1.14": "popc(.b32|.b64)";
    "9.7.1.15": "clz(.b32|.b64)";
    "9.7.1.16": "bfind{.shiftamt}(.u32|.u64|.s32|.s64)";
    "9.7.1.17": "fns.b32";
    "9.7.1.18": "brev(.b32|.b64)";
    "9.7.1.19": "bfe(.u32|.u64|.s32|.s64)";
    "9.7.1.20": "bfi(.b32|.b64)";
    "9.7.1.21": "szext(.clamp|.wrap)(.u32|.s32)";
    "9.7.1.22": "bmsk(.clamp|.wrap).b32";
    "9.7.1.23": "dp4a(.u32|.s32)(.u32|.s32)";
    "9.7.1.24": "dp2a(.lo|.hi)(.u32|.s32)(.u32|.s32)";
    "9.7.2.1": "add.cc(.u32|.u64|.s32|.s64)";
    "9.7.2.2": "addc{.cc}(.u32|.u64|.s32|.s64)";
    "9.7.2.3": "sub.cc(.u32|.u64|.s32|.s64)";
    "9.7.2.4": "subc{.cc}(.u32|.u64|.s32|.s64)";
    "9.7.2.5": "mad(.lo|.hi).cc(.u32|.u64|.s32|.s64)";
    "9.7.2.6": "madc(.lo|.hi){.cc}(.u32|.u64|.s32|.s64)";
    "9.7.3.1": "testp(.finite|.infinite|.number|.notanumber|.normal|.subnormal)(.f32|.f64)";
    "9.7.3.2": "copysign(.f32|.f64)";
    "9.7.3.3": "add(.rn|.rz|.rm|.rp){.ftz}{.sat}.f32" "add(.rn|.rz|.rm|.rp){.ftz}.f32x2" "add(.rn|.rz|.rm|.rp).f64"
        "add{.ftz}{.sat}.f32" "add{.ftz}.f32x2" "add.f64";
    "9.7.3.4": "sub(.rn|.rz|.rm|.rp){.ftz}{.sat}.f32" "sub(.rn|.rz|.rm|.rp){.ftz}.f32x2" "sub(.rn|.rz|.rm|.rp).f64"
        "sub{.ftz}{.sat}.f32" "sub{.ftz}.f32x2" "sub.f64";
    "9.7.3.5": "mul(.rn|.rz|.rm|.rp){.ftz}{.sat}.f32" "mul(.rn|.rz|.rm|.rp){.ftz}.f32x2" "mul(.rn|.rz|.rm|.rp).f64"
        "mul{.ftz}{.sat}.f32" "mul{.ftz}.f32x2" "mul.f64";
    "9.7.3.6": "fma(.rn|.rz|.rm|.rp){.ftz}{.sat}.f32" "fma(.rn|.rz|.rm|.rp){.ftz}.f32x2" "fma(.rn|.rz|.rm|.rp).f64";
    "9.7.3.7": "mad(.rn|.rz|.rm|.rp){.ftz}{.sat}.f32" "mad(.rn|.rz|.rm|.rp).f64";
    "9.7.3.8": "div(.rn|.rz|.rm|.rp){.ftz}.f32" "div(.rn|.rz|.rm|.rp).f64" "div(.approx|.full){.ftz}.f32";
    "9.7.3.9": "abs{.ftz}.f32" "abs.f64";
    "9.7.3.10": "neg{.ftz}.f32" "neg.f64";
    "9.7.3.11": "min{.ftz}{.NaN}{.xorsign.abs|.abs}.f32" "min.f64";
    "9.7.3.12": "max{.ftz}{.NaN}{.xorsign.abs|.abs}.f32" "max.f64";
    "9.7.3.13": "rcp(.rn|.rz|.rm|.rp){.ftz}.f32" "rcp(.rn|.rz|.rm|.rp).f64" "rcp.approx{.ftz}.f32";
    "9.7.3.14": "rcp.approx.ftz.f64";
    "9.7.3.15": "sqrt(.rn|.rz|.rm|.rp){.ftz}.f32" "sqrt(.rn|.rz|.rm|.rp).f64" "sqrt.approx{.ftz}.f32";
    "9.7.3.16": "rsqrt.approx{.ftz}(.f32|.f64)";
    "9.7.3.18": "sin.approx{.ftz}.f32";
    "9.7.3.19": "cos.approx{.ftz}.f32";
    "9.7.3.20": "lg2.approx{.ftz}.f32";
    "9.7.3.21": "ex2.approx{.ftz}.f32";
    "9.7.3.22": "tanh.approx.f32";
    "9.7.4.1": "add.rn{.ftz}{.sat}(.f16|.f16x2)" "add.rn(.bf16|.bf16x2)" "add{.ftz}{.sat}(.f16|.f16x2)" "add(.bf16|.bf16x2)";
    "9.7.4.2": "sub.rn{.ftz}{.sat}(.f16|.f16x2)" "sub.rn(.bf16|.bf16x2)" "sub{.ftz}{.sat}(.f16|.f16x2)" "sub(.bf16|.bf16x2)";
    "9.7.4.3": "mul.rn{.ftz}{.sat}(.f16|.f16x2)" "mul.rn(.bf16|.bf16x2)" "mul{.ftz}{.sat}(.f16|.f16x2)" "mul(.bf16|.bf16x2)";
    "9.7.4.4": "fma.rn{.ftz}{.sat}(.f16|.f16x2)" "fma.rn{.ftz}.relu(.f16|.f16x2)" "fma.rn{.relu}(.bf16|.bf16x2)"
        "fma.rn.oob{.relu}(.f16|.f16x2|.bf16|.bf16x2)";
    "9.7.4.5": "neg{.ftz}(.f16|.f16x2)" "neg(.bf16|.bf16x2)";
    "9.7.4.6": "abs{.ftz}(.f16|.f16x2)" "abs(.bf16|.bf16x2)";
    "9.7.4.7": "min{.ftz}{.NaN}{.xorsign.abs}(.f16|.f16x2)" "min{.NaN}{.xorsign.abs}(.bf16|.bf16x2)";
    "9.7.4.8": "max{.ftz}{.NaN}{.xorsign.abs}(.f16|.f16x2)" "max{.NaN}{.xorsign.abs}(.bf16|.bf16x2)";
    "9.7.4.9": "tanh.approx(.f16|.f16x2|.bf16|.bf16x2)";
    "9.7.4.10": "ex2.approx(.f16|.f16x2)" "ex2.approx.ftz(.bf16|.bf16x2)";
    "9.7.5.1": "add(.rn|.rz|.rm|.rp){.sat}.f32(.f16|.bf16)" "add{.sat}.f32(.f16|.bf16)";
    "9.7.5.2": "sub(.rn|.rz|.rm|.rp){.sat}.f32(.f16|.bf16)" "sub{.sat}.f32(.f16|.bf16)";
    "9.7.5.3": "fma(.rn|.rz|.rm|.rp){.sat}.f32(.f16|.bf16)";
    "9.7.6.1": "set(.eq|.ne){.and|.or|.xor}(.u32|.s32|.f32)(.b16|.b32|.b64)"
        "set(.eq|.ne|.lt|.le|.gt|.ge){.and|.or|.xor}(.u32|.s32|.f32)(.s16|.s32|.s64)"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs){.and|.or|.xor}(.u32|.s32|.f32)(.u16|.u32|.u64)"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}{.ftz}(.u32|.s32|.f32).f32"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}(.u32|.s32|.f32).f64";
    "9.7.6.2": "setp(.eq|.ne){.and|.or|.xor}(.b16|.b32|.b64)"
        "setp(.eq|.ne|.lt|.le|.gt|.ge){.and|.or|.xor}(.s16|.s32|.s64)"
        "setp(.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs){.and|.or|.xor}(.u16|.u32|.u64)"
        "setp(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}{.ftz}.f32"
        "setp(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}.f64";
    "9.7.6.3": "selp(.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64)";
    "9.7.6.4": "slct(.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64).s32"
        "slct{.ftz}(.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64).f32";
    "9.7.7.1": "set(.eq|.ne){.and|.or|.xor}(.f16|.bf16)(.b16|.b32|.b64)"
        "set(.eq|.ne|.lt|.le|.gt|.ge){.and|.or|.xor}(.f16|.bf16)(.s16|.s32|.s64)"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs){.and|.or|.xor}(.f16|.bf16)(.u16|.u32|.u64)"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}(.f16|.bf16)(.f32|.f64)"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}.bf16.f16"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}{.ftz}(.f16|.u16|.s16|.u32|.s32).f16"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}{.ftz}(.f16x2|.u32|.s32).f16x2"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}.bf16.bf16"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}.bf16x2.bf16x2"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}(.u16|.s16|.u32|.s32).bf16"
        "set(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}(.u32|.s32).bf16x2";
    "9.7.7.2": "setp(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}{.ftz}(.f16|.f16x2)"
        "setp(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan){.and|.or|.xor}(.bf16|.bf16x2)";
    "9.7.8.1": "and(.pred|.b16|.b32|.b64)";
    "9.7.8.2": "or(.pred|.b16|.b32|.b64)";
    "9.7.8.3": "xor(.pred|.b16|.b32|.b64)";
    "9.7.8.4": "not(.pred|.b16|.b32|.b64)";
    "9.7.8.5": "cnot(.b16|.b32|.b64)";
    "9.7.8.6": "lop3{.or|.and}.b32";
    "9.7.8.7": "shf(.l|.r)(.clamp|.wrap).b32";
    "9.7.8.8": "shl(.b16|.b32|.b64)";
    "9.7.8.9": "shr(.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64)";
    "9.7.9.3": "mov(.pred|.b16|.b32|.b64|.u16|.u32|.u64|.s16|.s32|.s64|.f32|.f64)" "mov.b128";
    "9.7.9.5": "shfl(.up|.down|.bfly|.idx).b32";
    "9.7.9.6": "shfl.sync(.up|.down|.bfly|.idx).b32";
    "9.7.9.7": "prmt.b32{.f4e|.b4e|.rc8|.ecl|.ecr|.rc16}";
    "9.7.9.18": "createpolicy.fractional.L2::evict_last.b64";
    "9.7.9.19": "isspacep(.const|.global|.local|.shared|.shared::cta|.param|.param::entry)" "isspacep.shared::cluster";
    "9.7.9.20": "cvta{.to}(.const|.global|.local|.shared|.shared::cta|.param|.param::entry).u64"
        "cvta{.to}(.const|.global|.local|.shared|.shared::cta|.param|.param::entry).u32"
        "cvta{.to}.shared::cluster.u64" "cvta{.to}.shared::cluster.u32";
    "9.7.9.21": "cvt(.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64)(.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64)"
        "cvt.sat.u8(.u16|.u32|.u64|.s8|.s16|.s32|.s64)" "cvt.sat.s8(.u8|.u16|.u32|.u64|.s16|.s32|.s64)"
        "cvt.sat.u16(.u32|.u64|.s8|.s16|.s32|.s64)" "cvt.sat.s16(.u16|.u32|.u64|.s32|.s64)"
        "cvt.sat.u32(.u64|.s8|.s16|.s32|.s64)" "cvt.sat.s32(.u32|.u64|.s64)"
        "cvt.sat.u64(.s8|.s16|.s32|.s64)" "cvt.sat.s64.u64"
        "cvt(.rni|.rzi|.rmi|.rpi)(.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64)(.f16|.bf16|.f64)"
        "cvt(.rni|.rzi|.rmi|.rpi){.ftz}(.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64).f32"
        "cvt(.rn|.rz|.rm|.rp){.sat}(.f16|.f32|.f64)(.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64)"
        "cvt(.rn|.rz|.rm|.rp).bf16(.u8|.u16|.u32|.u64|.s8|.s16|.s32|.s64)"
        "cvt{.rni|.rzi|.rmi|.rpi}{.ftz}{.sat}.f32.f32" "cvt{.rni|.rzi|.rmi|.rpi}{.sat}.f64.f64"
        "cvt{.rni|.rzi|.rmi|.rpi}{.sat}.f16.f16" "cvt(.rni|.rzi|.rmi|.rpi).bf16.bf16"
        "cvt{.ftz}{.sat}.f32.f16" "cvt{.ftz}{.sat}.f64.f32" "cvt{.sat}.f64.f16" "cvt{.ftz}.f32.bf16" "cvt.f64.bf16"
        "cvt(.rn|.rz|.rm|.rp){.ftz}{.sat}.f16.f32" "cvt(.rn|.rz|.rm|.rp){.sat}.f16.f64"
        "cvt(.rn|.rz|.rm|.rp){.ftz}{.sat}.f32.f64" "cvt(.rn|.rz|.rm|.rp).bf16(.f16|.f64)" "cvt(.rn|.rz|.rm|.rp).f16.bf16"
        "cvt(.rn|.rz){.relu}{.satfinite}(.f16|.bf16|.f16x2|.bf16x2).f32"
        "cvt.rs{.relu}{.satfinite}(.f16x2|.bf16x2).f32"
        "cvt.rna{.satfinite}.tf32.f32" "cvt(.rn|.rz){.relu}{.satfinite}.tf32.f32"
        "cvt.rn.satfinite{.relu}(.e4m3x2|.e5m2x2)(.f32|.f16x2|.bf16x2)" "cvt.rn{.relu}.f16x2(.e4m3x2|.e5m2x2)"
        "cvt.rn.satfinite{.relu}(.e2m1x2|.e2m3x2|.e3m2x2)(.f32|.f16x2|.bf16x2)"
        "cvt.rn{.relu}.f16x2(.e2m1x2|.e2m3x2|.e3m2x2)"
        "cvt.rs{.relu}.satfinite(.e4m3x4|.e5m2x4|.e2m1x4|.e2m3x4|.e3m2x4).f32"
        "cvt(.rz|.rp){.satfinite}.ue8m0x2(.f32|.bf16x2)" "cvt.rn.bf16x2.ue8m0x2";
    "9.7.9.22": "cvt.pack.sat(.u16|.s16).s32" "cvt.pack.sat(.u8|.s8|.u4|.s4|.u2|.s2).s32.b32";
    "9.7.9.23": "mapa{.shared::cluster}(.u32|.u64)";
    "9.7.9.24": "getctarank{.shared::cluster}(.u32|.u64)";
    "9.7.9.25.3.1": "cp.async.ca.shared{::cta}.global{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}"
        "cp.async.cg.shared{::cta}.global{.L2::cache_hint}{.L2::64B|.L2::128B|.L2::256B}";
    "9.7.13.9": "vote.sync(.all|.any|.uni).pred" "vote.sync.ballot.b32" "vote(.all|.any|.uni).pred" "vote.ballot.b32";
    "9.7.13.10": "match(.any|.all).sync(.b32|.b64)";
    "9.7.13.11": "activemask.b32";
    "9.7.13.12": "redux.sync(.add|.min|.max)(.u32|.s32)" "redux.sync(.and|.or|.xor).b32"
        "redux.sync(.min|.max){.abs}{.NaN}.f32";
    "9.7.13.14": "elect.sync";
    "9.7.14.5.15": "ldmatrix.sync.aligned.m8n8(.x1|.x2|.x4){.trans}.shared.b16";
    "9.7.14.5.16": "stmatrix.sync.aligned.m8n8(.x1|.x2|.x4){.trans}.shared.b16";
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::*;

    #[test]
    fn choices_multiply() {
        let form = Form { section: "", pattern: "a{.x|.y}(.u|.v).w" };
        assert_eq!(
            form.mnemonics(),
            ["a.u.w", "a.v.w", "a.x.u.w", "a.x.v.w", "a.y.u.w", "a.y.v.w"]
        );
    }

    #[test]
    fn every_form_has_a_row() {
        for mnemonic in FORMS.iter().flat_map(Form::mnemonics) {
            let decoded = decode(&mnemonic).unwrap_or_else(|| panic!("{mnemonic} has no row"));
            let is_cluster = mnemonic.contains("cluster") || mnemonic.starts_with("createpolicy");
            assert!(!decoded.is_strange || is_cluster, "{mnemonic} has a word that is unknown");
        }
    }
}
