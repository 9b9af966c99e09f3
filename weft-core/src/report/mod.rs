//! Renders a report as text, one file per format, without any input or output.

pub mod checked;
mod context;
mod escape;
mod excerpt;
pub mod github;
pub mod html;
pub mod human;
pub mod json;
pub mod junit;
mod place;
pub mod rustc;
pub mod sarif;
pub mod saved;
pub mod short;
mod source_text;
pub mod svg;

pub use context::{ReportContext, SourceFiles};
pub use escape::escape;
pub use source_text::SourceText;
