//! What the programs launch.

/// `scale`: `x[i] *= a` for `i < n`; what it does is not looked at.
pub const PTX: &str = "\
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 a, .param .u32 n)
{ ret; }
";
