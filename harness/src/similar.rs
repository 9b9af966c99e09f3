//! What is probably meant by a word that is not known.

use weft_core::report::escape;

/// Returns the known words from the most to the least similar one, each with its similarity from 0 to 1.
pub fn ranked<'w>(wrong: &str, known: impl Iterator<Item = &'w str>) -> Vec<(f64, &'w str)> {
    let mut ranked: Vec<(f64, &str)> =
        known.map(|word| (strsim::jaro_winkler(wrong, word), word)).collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    ranked
}

/// Returns a question after the most similar word, such as "did you mean `block`? "; nothing if none is similar.
pub fn question<'w>(wrong: &str, known: impl Iterator<Item = &'w str>) -> String {
    /// The similarity from which on a word is proposed; that of clap's own suggestions is 0.7 without the weight on
    /// equal beginnings that is used here.
    const SIMILAR: f64 = 0.75;
    match ranked(wrong, known).first() {
        Some((rate, word)) if *rate > SIMILAR => format!("did you mean `{}`? ", escape(word)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_what_is_similar_is_proposed() {
        let keys = ["block", "grid", "warp-synchronous"];
        let question = |wrong| super::question(wrong, keys.into_iter());
        assert_eq!(question("blok"), "did you mean `block`? ");
        assert_eq!(question("warp_synchronous"), "did you mean `warp-synchronous`? ");
        assert_eq!(question("timeout"), "");
    }
}
