//! Parses the text of a requirement by recursive descent. Depth and length are bounded, since the text is a user's.

use super::condition::{Arithmetic, Clause, Comparison, Quantity, Requirement};
use super::error::{RequirementError, RequirementProblem, nearest};
use super::tokens::{self, Lexeme};
use super::variable::LaunchVariable;

/// Maximum length of a text in bytes, which also bounds the depth of a tree such as that of `1 + 1 + 1 + ...`.
const MAX_LENGTH: usize = 4096;
/// Maximum number of parentheses and minus signs within each other.
const MAX_DEPTH: usize = 64;

/// Parses a requirement such as `n <= 1024 && pow2(block.x)`.
///
/// ```text
/// requirement = clause { "&&" clause }
/// clause      = quantity ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) quantity | "pow2" "(" quantity ")"
///             | "(" requirement ")"
/// quantity    = product { ( "+" | "-" ) product }
/// product     = factor { ( "*" | "/" | "%" ) factor }
/// factor      = "-" factor | "(" quantity ")" | number | name | "#" position | ( "block" | "grid" ) "." ( "x" | "y" | "z" )
/// ```
///
/// # Errors
/// A text of any other form, with the position at which it departs from it.
pub fn parse(text: &str) -> Result<Requirement, RequirementError> {
    let fail = |at: usize, problem| {
        let before = text.get(..at).map_or(0, |before| before.chars().count());
        RequirementError { at, before, problem }
    };
    if text.len() > MAX_LENGTH {
        return Err(fail(MAX_LENGTH, RequirementProblem::Length(MAX_LENGTH)));
    }
    let mut reader = TokenReader { text, at: 0, next: 0, token: Lexeme::End, depth: 0 };
    let parsed = reader.advance().and_then(|()| reader.requirement(true));
    parsed.map_err(|problem| fail(reader.at, problem))
}

/// A text from one token on.
struct TokenReader<'t> {
    text: &'t str,
    /// The byte at which the current token begins.
    at: usize,
    /// The byte after it.
    next: usize,
    token: Lexeme<'t>,
    /// The number of parentheses and minus signs around it.
    depth: usize,
}

type Parsed<T> = Result<T, RequirementProblem>;

const QUANTITY: &str =
    "a number, a parameter's name, its position such as `#0`, `block.x`, `grid.x` or `(`";

impl TokenReader<'_> {
    /// Goes to the next token.
    fn advance(&mut self) -> Parsed<()> {
        let rest = self.text[self.next..].trim_start();
        self.at = self.text.len() - rest.len();
        let (token, length) = tokens::first(rest)?;
        (self.token, self.next) = (token, self.at + length);
        Ok(())
    }

    /// Returns the error that something else is expected at the current token.
    fn expected(&self, expected: &'static str) -> RequirementProblem {
        let found = match self.token {
            Lexeme::End => "the end".to_owned(),
            _ => format!("`{}`", &self.text[self.at..self.next]),
        };
        RequirementProblem::Expected { expected, found }
    }

    fn expect(&mut self, token: Lexeme<'_>, expected: &'static str) -> Parsed<()> {
        if self.token == token { self.advance() } else { Err(self.expected(expected)) }
    }

    /// Runs `part` one level deeper.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(RequirementProblem::Depth(MAX_DEPTH));
        }
        self.depth += 1;
        let result = part(self)?;
        self.depth -= 1;
        Ok(result)
    }

    /// Parses clauses up to the end of the text, or up to `)`.
    fn requirement(&mut self, is_whole: bool) -> Parsed<Requirement> {
        let mut all = self.clause()?;
        while self.token == Lexeme::And {
            self.advance()?;
            let next = self.clause()?;
            all.rest.push(next.first);
            all.rest.extend(next.rest);
        }
        match self.token {
            Lexeme::Compare(_) => Err(RequirementProblem::Chain),
            Lexeme::End if is_whole => Ok(all),
            Lexeme::Close if !is_whole => Ok(all),
            _ if is_whole => Err(self.expected("`&&` or the end")),
            _ => Err(self.expected("`&&` or `)`")),
        }
    }

    /// Parses a clause, or a requirement in parentheses.
    fn clause(&mut self) -> Parsed<Requirement> {
        let is_call =
            matches!(self.token, Lexeme::Name(name) if name == "pow2" && self.is_called());
        if is_call {
            self.advance()?;
            self.advance()?;
            let quantity = self.nested(Self::quantity)?;
            self.expect(Lexeme::Close, "an operator or `)`")?;
            return Ok(one(Clause::PowerOfTwo(quantity)));
        }
        if self.token == Lexeme::Open && self.encloses_comparison() {
            return self.nested(|reader| {
                reader.advance()?;
                let all = reader.requirement(false)?;
                reader.advance()?;
                Ok(all)
            });
        }
        let left = self.quantity()?;
        let Some(how) = self.comparison()? else {
            let is_over = matches!(self.token, Lexeme::End | Lexeme::And | Lexeme::Close);
            let other = || self.expected("an operator or a comparison");
            return Err(if is_over { RequirementProblem::NoComparison } else { other() });
        };
        Ok(one(Clause::Compare(left, how, self.quantity()?)))
    }

    fn comparison(&mut self) -> Parsed<Option<Comparison>> {
        let Lexeme::Compare(how) = self.token else { return Ok(None) };
        self.advance()?;
        Ok(Some(how))
    }

    /// Whether `(` follows the current token.
    fn is_called(&self) -> bool {
        self.text[self.next..].trim_start().starts_with('(')
    }

    /// Whether there is a condition, not only a quantity, between the current `(` and its `)`.
    fn encloses_comparison(&self) -> bool {
        let mut depth = 0_usize;
        for (at, c) in self.text[self.at..].char_indices() {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                '<' | '>' | '=' | '&' | '!' => return true,
                'p' if self.text[self.at + at..].starts_with("pow2") => {
                    let before = self.text[..self.at + at].chars().next_back();
                    let after = self.text[self.at + at + 4..].trim_start();
                    let is_name =
                        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.');
                    if after.starts_with('(') && !before.is_some_and(is_name) {
                        return true;
                    }
                }
                _ => {}
            }
            if depth == 0 {
                return false;
            }
        }
        false
    }

    fn quantity(&mut self) -> Parsed<Quantity> {
        self.operators(1)
    }

    /// Parses operators that bind at least this strongly, from left to right.
    fn operators(&mut self, strength: u8) -> Parsed<Quantity> {
        let mut left = self.operand(strength)?;
        while let Lexeme::Combine(how) = self.token
            && how.strength() == strength
        {
            self.advance()?;
            let right = self.operand(strength)?;
            left = Quantity::Combined(Box::new(left), how, Box::new(right));
        }
        Ok(left)
    }

    fn operand(&mut self, strength: u8) -> Parsed<Quantity> {
        if strength == 1 { self.operators(2) } else { self.factor() }
    }

    fn factor(&mut self) -> Parsed<Quantity> {
        let quantity = match self.token {
            Lexeme::Combine(Arithmetic::Sub) => {
                return self.nested(|reader| {
                    reader.advance()?;
                    Ok(Quantity::Negated(Box::new(reader.factor()?)))
                });
            }
            Lexeme::Open => {
                return self.nested(|reader| {
                    reader.advance()?;
                    let quantity = reader.quantity()?;
                    reader.expect(Lexeme::Close, "an operator or `)`")?;
                    Ok(quantity)
                });
            }
            Lexeme::Number(text) => Quantity::Number(
                tokens::number(text).ok_or_else(|| RequirementProblem::Number(text.to_owned()))?,
            ),
            Lexeme::Position(text) => Quantity::Variable(LaunchVariable::Argument(
                text.parse().map_err(|_| self.expected("`#` and a position, such as `#0`"))?,
            )),
            Lexeme::Name(name) if self.is_called() => {
                return Err(RequirementProblem::Function(name.to_owned()));
            }
            Lexeme::Name(name) => Quantity::Variable(variable(name)?),
            _ => return Err(self.expected(QUANTITY)),
        };
        self.advance()?;
        Ok(quantity)
    }
}

const fn one(first: Clause) -> Requirement {
    Requirement { first, rest: Vec::new() }
}

/// Returns the variable with this name. A name with a dot is that of an extent, since PTX has no such names.
fn variable(name: &str) -> Parsed<LaunchVariable> {
    if let Some(extent) = LaunchVariable::extent(name) {
        return Ok(extent);
    }
    if !name.contains('.') {
        return Ok(LaunchVariable::Named(name.to_owned()));
    }
    let known: Vec<String> = LaunchVariable::extents().map(|extent| extent.to_string()).collect();
    let nearest = nearest(name, known.iter().map(String::as_str)).unwrap_or_default().to_owned();
    Err(RequirementProblem::Extent { name: name.to_owned(), nearest })
}
