//! What a register holds: bits that are known, and symbolic values that they are added to.
//!
//! [`lane`] is one lane, [`register`] the 32 of a warp. [`symbolics`] is the table of symbolic values; [`numbering`] tells
//! apart results of floating-point arithmetic, which are too many for it. [`origin`] is where an open value comes from, and
//! [`guard`] what has to hold for something to happen.

pub(crate) mod guard;
pub(crate) mod lane;
pub(crate) mod numbering;
pub(crate) mod offsets;
pub(crate) mod origin;
pub(crate) mod register;
pub(crate) mod symbolics;
pub(crate) mod warp_id;
