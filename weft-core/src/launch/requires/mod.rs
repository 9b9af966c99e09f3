//! Requirements: conditions over arguments, block and grid that hold of every launch that is meant.
//!
//! [`parse`] reads `n <= 1024 && block.x % 32 == 0` into a [`Requirement`], which prints itself in a normal form that
//! reads back as the same. Arithmetic is that of the mathematical integers; `/` rounds towards zero and the remainder
//! has the sign of the dividend, as in C and Rust. Arguments are named as in the source or the PTX, or by position as `#0`; `check`
//! replaces names by positions before it passes a launch on. [`bounds`] finds the range of each variable that comparisons
//! with constants leave, and contradictions among them: what it calls a contradiction is one, but it does not find
//! all.

mod bounds;
mod condition;
mod error;
mod parser;
mod tokens;
mod variable;

pub use bounds::{Bounds, Contradiction, Interval, bounds};
pub use condition::{Arithmetic, Clause, Comparison, Quantity, Requirement};
pub use error::{RequirementError, RequirementProblem, nearest};
pub use parser::parse;
pub use variable::{Axis, LaunchVariable};
