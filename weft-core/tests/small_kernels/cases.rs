//! Generates random cases: a kernel, which inputs its launch leaves open, and contents for these inputs.

use crate::checked::Open;
use crate::dice::Dice;
use crate::generate::{self, Theme};
use crate::judge::Case;
use crate::machine::Inputs;

/// Returns the case of a number, which is always the same. At most `most` inputs are tried.
pub(crate) fn case(theme: Theme, number: u64, most: usize) -> Case {
    let mut dice = Dice::new(number);
    let kernel = generate::kernel(&mut dice, theme);
    let open = Open { number: dice.chance(70), data: dice.chance(90), out: dice.chance(50) };
    let domain = dice.pick(&[&[0, 1][..], &[0, 1, 2, 3], &[0, 2, 7], &[0, 1, u32::MAX]]);
    let mut inputs = all(kernel.words, domain, open, &mut dice);
    while inputs.len() > most {
        let at = dice.roll(u32::try_from(inputs.len()).expect("few inputs"));
        inputs.swap_remove(at as usize);
    }
    Case { kernel, open, inputs }
}

/// Returns all inputs with values from a domain.
fn all(words: usize, domain: &[u32], open: Open, dice: &mut Dice) -> Vec<Inputs> {
    let base = Inputs {
        number: dice.pick(domain),
        words: (0..words).map(|_| dice.pick(domain)).collect(),
        out: dice.roll(1000),
        fill: 0,
    };
    let mut inputs = vec![base];
    let extend = |inputs: &mut Vec<Inputs>, set: &dyn Fn(&mut Inputs, u32)| {
        let with = |inputs: &Inputs, value| {
            let mut inputs = inputs.clone();
            set(&mut inputs, value);
            inputs
        };
        *inputs = inputs
            .iter()
            .flat_map(|inputs| domain.iter().map(|value| with(inputs, *value)).collect::<Vec<_>>())
            .collect();
    };
    if open.number {
        extend(&mut inputs, &|inputs, value| inputs.number = value);
    }
    if open.data {
        for at in 0..words {
            extend(&mut inputs, &|inputs, value| inputs.words[at] = value);
        }
    }
    for inputs in &mut inputs {
        inputs.fill = dice.roll(1000);
        if open.out {
            inputs.out = dice.roll(1000);
        }
    }
    inputs
}
