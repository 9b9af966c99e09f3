//! Renders a report as text, one file per format, without any input or output.

mod escape;
mod excerpt;
pub mod human;
pub mod json;
pub mod saved;
pub mod short;

pub use escape::escape;
