//! What the tests of the checker share, and no user needs: `files` lists the fixtures, `language` reads the comments in which
//! they state what must be found, `snapshot` compares texts with saved ones.

pub mod files;
pub mod language;
pub mod snapshot;
