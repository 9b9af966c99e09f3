//! What instructions compute from registers, a warp at a time.
//!
//! [`compute`] computes an instruction for a warp. Short cuts for many lanes: [`affine`], [`plain`] and [`linear`]. One
//! lane: [`eval`] calls the file of the family, [`integer`], [`float`] (with [`ieee`]), [`bits`], [`compare`], [`convert`]
//! or [`moves`]. [`open`] gives results that depend on open operands their symbolic values. [`kind`] says what kind of
//! arithmetic an instruction does, and [`results`] how many results it has.

mod affine;
mod bits;
mod compare;
mod compute;
mod convert;
mod eval;
mod float;
mod ieee;
mod integer;
mod kind;
mod linear;
mod moves;
mod open;
mod plain;
mod results;

pub(super) use compute::compute;
pub(crate) use eval::eval;
pub(super) use eval::{MAX_OPERANDS, compute_once, is_computed};
pub(super) use results::{Results, results};
