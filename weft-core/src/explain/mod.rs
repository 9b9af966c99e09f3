//! Puts what was found into words: findings with sites, threads, notes and help.

mod access;
pub(crate) mod barriers;
pub(crate) mod beyond;
mod defects;
pub(crate) mod doubts;
pub(crate) mod faults;
pub(crate) mod given;
mod mbarriers;
mod names;
pub(crate) mod peers;
pub(crate) mod races;
pub(crate) mod setting;
mod tensor_memory;
pub(crate) mod tensors;
pub(crate) mod witness;

pub(crate) use names::{Names, OPEN_VALUE, param_of, site_at};
