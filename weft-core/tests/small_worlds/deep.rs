//! The small worlds that take minutes: tens of millions of programs. Run by name, in release mode.

#![allow(dead_code, reason = "the modules serve the short run too")]

mod judges;
mod machine;
mod model;
mod relation;
mod streaming;
mod worlds;

use judges::{Tally, agree};

#[test]
fn deep_worlds() {
    let mut tally = Tally::default();
    worlds::for_each_deep_world(|program| tally.add(&agree(program)));
    assert_eq!(tally, Tally { worlds: 57_726_406, well_synchronized: 1_503_580, racing: 717_246 });
}
