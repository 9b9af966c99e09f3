//! Arguments as a configuration states them: by position, or by a name that only the kernel gives a position.

use std::collections::BTreeMap;

use weft_core::launch::Arg;
use weft_core::report::escape;

use super::{ConfigError, ConfigPlace, Problem};
use crate::signature::ParameterNames;

/// How an argument is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKey {
    /// By its position, from 0.
    Position(usize),
    /// By the name of the parameter in the source or in the PTX.
    Name(String),
}

impl ArgKey {
    /// Returns the key that a text is; `None` for a text that is neither a position nor an identifier. `+1` and `01`, which
    /// would be other spellings of a number, are neither.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(position) = text.parse::<usize>().ok().filter(|own| own.to_string() == text) {
            return Some(Self::Position(position));
        }
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '%');
        let is_name = !text.starts_with(|c: char| c.is_numeric()) && text.chars().all(is_word);
        (is_name && !text.is_empty()).then(|| Self::Name(text.to_owned()))
    }

    /// Returns the position of the argument in a kernel; `None` if the kernel has no parameter of this name.
    pub fn position(&self, names: &ParameterNames) -> Option<usize> {
        match self {
            Self::Position(position) => Some(*position),
            Self::Name(name) => names.position(name),
        }
    }
}

impl std::fmt::Display for ArgKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Position(position) => write!(f, "{position}"),
            Self::Name(name) => f.write_str(&escape(name)),
        }
    }
}

/// One argument of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedArg {
    /// Which one.
    pub key: ArgKey,
    /// Its value.
    pub arg: Arg,
    /// Where its key stands.
    pub place: ConfigPlace,
}

/// An argument, and where its key stands in the last table that states it.
pub(super) type PlacedArg = (Arg, ConfigPlace);

/// The arguments of several tables, later ones over earlier ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatedArgs(Vec<Vec<StatedArg>>);

impl StatedArgs {
    /// Makes the arguments of one table.
    pub fn of_table(args: Vec<StatedArg>) -> Self {
        Self(vec![args])
    }

    /// Returns these arguments and those of later tables.
    #[must_use]
    pub fn overridden_by(&self, later: &Self) -> Self {
        Self(self.0.iter().chain(&later.0).cloned().collect())
    }

    /// Returns the arguments of a kernel by position. A later table overrides an earlier one, structures field by field.
    ///
    /// # Errors
    /// A name that no parameter of the kernel has, or a table that gives one argument twice.
    pub(super) fn resolved(
        &self,
        names: &ParameterNames,
    ) -> Result<BTreeMap<usize, PlacedArg>, ConfigError> {
        let mut args: BTreeMap<usize, PlacedArg> = BTreeMap::new();
        for table in &self.0 {
            let mut given: BTreeMap<usize, &StatedArg> = BTreeMap::new();
            for own in table {
                let position =
                    own.key.position(names).ok_or_else(|| absent(&own.key, &own.place, names))?;
                if let Some(other) = given.insert(position, own) {
                    return Err(twice(position, other, own));
                }
            }
            for (position, own) in given {
                let arg = own.arg.clone().over(args.get(&position).map(|(arg, _)| arg));
                args.insert(position, (arg, own.place.clone()));
            }
        }
        Ok(args)
    }
}

/// Returns the error of a name that no parameter of a kernel has.
pub(super) fn absent(name: &ArgKey, place: &ConfigPlace, names: &ParameterNames) -> ConfigError {
    let name = name.to_string();
    let (kernel, remedy) = (escape(&names.kernel).into_owned(), names.remedy(&name));
    let problem = Box::new(Problem::NoParameter { name, kernel, remedy });
    ConfigError::At { place: place.clone(), problem }
}

fn twice(position: usize, one: &StatedArg, other: &StatedArg) -> ConfigError {
    let (first, second) = if one.place <= other.place { (one, other) } else { (other, one) };
    let (first, key) = (first.key.to_string(), second.key.to_string());
    let problem = Box::new(Problem::SameArgument { position, first, second: key });
    ConfigError::At { place: second.place.clone(), problem }
}
