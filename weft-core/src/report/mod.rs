//! A report as text, one file a format. Pure: report in, text out.

mod escape;
mod excerpt;
pub mod human;
pub mod json;
pub mod saved;
pub mod short;

pub use escape::escape;
