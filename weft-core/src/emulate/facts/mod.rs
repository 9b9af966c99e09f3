//! What the passes of a check find out, kept for the passes that follow.
//!
//! [`store`] holds all facts, and says when they are settled. Open addresses: [`alias`] classes and the [`representative`]
//! addresses at which they are compared. Counters: [`counters`] with their [`period`]s, the addresses that are indexed with
//! their values ([`counter_index`]), and the order in which ctas draw from them ([`draw_order`]). Memory: [`interference`]
//! of stores with loads, what loops leave for later iterations ([`inherited`]), what
//! passes on values read from memory that nothing wrote ([`passed_on`]), and whether stores stay where their address starts
//! ([`strays`]). Atomics by which ctas count themselves: [`signals`]; locations for whose values threads wait: [`awaits`].
//! [`tensors`] has the boxes of tensor maps. Conditions: [`case_split`]. [`assumed`] is what is taken for
//! granted, and [`independent`] what ctas that run side by side exchange.

pub(crate) mod alias;
pub(crate) mod assumed;
pub(crate) mod awaits;
pub(crate) mod case_split;
pub(crate) mod counter_index;
pub(crate) mod counter_update;
pub(crate) mod counters;
pub(crate) mod draw_order;
pub(crate) mod independent;
pub(crate) mod inherited;
pub(crate) mod interference;
pub(crate) mod passed_on;
pub(crate) mod period;
pub(crate) mod representative;
pub(crate) mod signals;
pub(crate) mod store;
pub(crate) mod strays;
pub(crate) mod tensors;

pub use store::Facts;
