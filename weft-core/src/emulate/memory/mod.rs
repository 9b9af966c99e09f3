//! What memory holds, and what the launch gives a kernel.
//!
//! [`bytes`] has sets of bytes of a page, [`page`] one page, [`pages`] the memory of a state space,
//! [`segment`] a part of it as it is before the launch. [`arguments`] fills
//! the parameter bank, [`descriptor`] finds the bytes of a matrix, [`tensors`] the boxes of tensor maps, and [`inputs`]
//! resolves a launch. [`region`] and [`word`] are parts of memory.

pub(crate) mod arguments;
pub(crate) mod bytes;
pub(crate) mod clustering;
pub(crate) mod descriptor;
pub(crate) mod input_error;
pub(crate) mod inputs;
pub(crate) mod page;
pub(crate) mod pages;
pub(crate) mod region;
pub(crate) mod segment;
pub(crate) mod tensors;
pub(crate) mod word;
