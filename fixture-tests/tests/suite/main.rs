//! The language of fixtures and the saved texts, and what holds of all fixtures alike. One binary: each that links the
//! checker takes tens of megabytes.

mod folders;
mod language;
mod limits;
mod placements;
mod prefixes;
mod schedules;
mod second_opinion;
mod snapshots;
