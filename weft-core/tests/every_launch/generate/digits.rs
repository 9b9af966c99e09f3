//! Numbers that are computed from indices, and taken apart into fields of bits.

use super::Writer;

impl Writer {
    /// Stores at sums of indices and of fields of a number that is computed from them.
    pub(super) fn digits(&mut self) {
        if self.dice.chance(80) {
            let most = self.dice.pick(&["8", "32", "64", "128"]);
            self.leave("ge.u32", "%r3", most);
        }
        let number = if self.dice.chance(60) {
            self.leave("ne.u32", "%r5", "0");
            let factor = self.dice.pick(&["1", "1", "2", "4", "8"]);
            let first = self.dice.pick(&["0", "1", "32"]);
            self.binary("mad.lo.u32", "%r3", factor, Some(first))
        } else {
            let (low, high) = self.dice.pick(&[("%r3", "%r5"), ("%r3", "%r5"), ("%r5", "%r3")]);
            let place = self.dice.pick(&["8", "32", "64", "96"]);
            self.binary("mad.lo.u32", high, place, Some(low))
        };
        let mut parts = vec!["%r3".to_owned(), "%r5".to_owned()];
        for _ in 0..2 {
            let field = self.field(&number);
            parts.push(field);
        }
        let mut index = parts[2].clone();
        for _ in 0..self.dice.roll(3) {
            let part = self.part_of(&parts);
            let factor = self.dice.pick(&["1", "-1", "2", "-2", "-4", "-8", "32", "64"]);
            index = self.binary("mad.lo.u32", &part, factor, Some(&index));
        }
        self.store_at(&index);
    }

    fn part_of(&mut self, parts: &[String]) -> String {
        let count = u32::try_from(parts.len()).expect("few");
        parts[self.dice.roll(count) as usize].clone()
    }

    /// Some bits of a number.
    fn field(&mut self, number: &str) -> String {
        match self.dice.roll(4) {
            0 => {
                let place = self.dice.pick(&["3", "5", "6"]);
                self.binary("shr.u32", number, place, None)
            }
            1 => {
                let mask = self.dice.pick(&["7", "31", "63", "-8", "-32"]);
                self.binary("and.b32", number, mask, None)
            }
            2 => {
                let mask = self.dice.pick(&["28", "56", "96", "124"]);
                self.binary("and.b32", number, mask, None)
            }
            _ => {
                let scaled = self.binary("shl.b32", number, "2", None);
                let mask = self.dice.pick(&["28", "124", "252", "508"]);
                self.binary("and.b32", &scaled, mask, None)
            }
        }
    }
}
