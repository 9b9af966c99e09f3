//! What registers hold: known bits, and symbolic values to which known bits are added.
//!
//! [`lane`] is one lane, [`register`] the 32 lanes of a warp. [`symbolics`] is the table of symbolic values;
//! [`numbering`] distinguishes results of floating-point arithmetic, which are too many for that table. [`origin`] is
//! where an open value comes from, and [`guard`] the conditions under which something happens.

pub(crate) mod guard;
pub(crate) mod lane;
pub(crate) mod numbering;
pub(crate) mod offsets;
pub(crate) mod origin;
pub(crate) mod register;
pub(crate) mod symbolics;
pub(crate) mod warp_id;
