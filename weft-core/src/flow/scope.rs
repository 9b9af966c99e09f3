//! Resolves the names of a function body: nested scopes, register ranges, labels (PTX ISA §4.4, §5.4.3).

use foldhash::HashMap;

use crate::ptx::{Module, Statement, Type, Variable};

/// The index of a scope; 0 is the body itself.
pub(super) type Scope = usize;

/// What a name of a body refers to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Declared<'m> {
    Register { is_predicate: bool },
    Variable(&'m Variable),
    Label,
}

/// The declarations of one function, by scope.
#[derive(Debug, Default)]
pub(super) struct Scopes<'m> {
    parents: Vec<Option<Scope>>,
    /// Whether a scope declares anything.
    declares: Vec<bool>,
    names: HashMap<(Scope, &'m str), Declared<'m>>,
    /// The number of registers in a range, and whether they are predicates.
    ranges: HashMap<(Scope, &'m str), (u32, bool)>,
    targets: HashMap<(Scope, &'m str), Vec<&'m str>>,
}

impl<'m> Scopes<'m> {
    /// Collects all declarations first, because labels can be used before their definition.
    pub(super) fn collect(module: &'m Module, statements: &'m [Statement]) -> Self {
        let mut scopes = Self { parents: vec![None], declares: vec![false], ..Self::default() };
        let mut current = 0;
        for statement in statements {
            match statement {
                Statement::Open => {
                    scopes.parents.push(Some(current));
                    scopes.declares.push(false);
                    current = scopes.parents.len() - 1;
                }
                Statement::Close => current = scopes.parents[current].unwrap_or(0),
                Statement::Variable(variable) => scopes.declare(module, current, variable),
                Statement::Label(name) => {
                    scopes.declares[current] = true;
                    scopes.names.insert((current, module.name(*name)), Declared::Label);
                }
                Statement::Targets(name, targets) => {
                    let targets = targets.iter().map(|target| module.name(*target)).collect();
                    scopes.targets.insert((current, module.name(*name)), targets);
                }
                _ => {}
            }
        }
        scopes
    }

    pub(super) fn declare(&mut self, module: &'m Module, scope: Scope, variable: &'m Variable) {
        let name = module.name(variable.name);
        self.declares[scope] = true;
        let is_predicate = variable.ty == Type::Pred;
        match (variable.space, variable.range) {
            (crate::ptx::Space::Register, Some(count)) => {
                self.ranges.insert((scope, name), (count, is_predicate));
            }
            (crate::ptx::Space::Register, None) => {
                self.names.insert((scope, name), Declared::Register { is_predicate });
            }
            _ => {
                self.names.insert((scope, name), Declared::Variable(variable));
            }
        }
    }

    fn outward(&self, from: Scope) -> impl Iterator<Item = Scope> {
        std::iter::successors(Some(from), |&scope| self.parents[scope])
    }

    /// Returns the innermost declaration of a name that is visible from a scope, and the scope that declares it.
    pub(super) fn find(&self, from: Scope, name: &str) -> Option<(Scope, Declared<'m>)> {
        self.outward(from).filter(|scope| self.declares[*scope]).find_map(|scope| {
            let exact = self.names.get(&(scope, name)).copied();
            exact.or_else(|| self.in_range(scope, name)).map(|declared| (scope, declared))
        })
    }

    fn in_range(&self, scope: Scope, name: &str) -> Option<Declared<'m>> {
        /// Digits of the largest number in a range.
        const DIGITS: usize = 10;
        let digits = name.bytes().rev().take(DIGITS).take_while(u8::is_ascii_digit).count();
        let first = name.len() - digits;
        // `%r1<4>` declares `%r10` to `%r13`, so that every split of the digits is possible.
        (first..name.len()).find_map(|at| {
            let (count, is_predicate) = *self.ranges.get(&(scope, name.get(..at)?))?;
            let digits = name.get(at..)?;
            let is_plain = digits == "0" || !digits.starts_with('0');
            let is_in = is_plain && digits.parse::<u32>().ok()? < count;
            is_in.then_some(Declared::Register { is_predicate })
        })
    }

    /// Returns the labels of a `.branchtargets` list and the scope that declares the list.
    pub(super) fn targets<'a>(
        &'a self,
        from: Scope,
        name: &'a str,
    ) -> Option<(Scope, &'a [&'m str])> {
        self.outward(from)
            .find_map(|scope| Some((scope, self.targets.get(&(scope, name))?.as_slice())))
    }
}
