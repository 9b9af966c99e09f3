//! Tests of the fixture language and the snapshots, and properties that hold for all fixtures. They are one binary,
//! because each binary that links the checker takes tens of megabytes.

mod bug_shapes;
mod charts;
mod clustered;
mod folders;
mod language;
mod limits;
mod placements;
mod prefixes;
mod proofs;
mod repairs;
mod schedules;
mod second_opinion;
mod snapshots;
mod witnesses;
