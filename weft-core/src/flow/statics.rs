//! Places the static variables of a kernel, and resolves the addresses in what they hold before the launch.

use std::sync::Arc;

use foldhash::HashSet;

use super::call_site::{Call, instructions};
use super::error::LinkError;
use super::linker::Linker;
use super::operands::function_address;
use crate::ptx::{Body, Function, InitialAddress, ParsedOperand, Space, Span, Statement, Variable};

/// The most statements that a kernel and all functions that it names can have together, if calls whose targets are not known
/// are to be linked with every function that they might reach.
const MOST_STATEMENTS: usize = 5000;

/// What a kernel can reach by names.
#[derive(Default)]
struct Named<'m> {
    variables: Vec<&'m Variable>,
    /// Functions with a body, the kernel included.
    bodies: Vec<&'m Body>,
}

impl<'m> Linker<'m> {
    /// Assigns addresses to the static variables that the kernel, the functions it can call and the initialisers of such
    /// variables name: first to variables with a size, then to dynamic shared memory behind them.
    pub(super) fn place_statics(&mut self, kernel: &'m Function) -> Result<(), LinkError> {
        let Named { variables: mut used, bodies } = self.named(kernel);
        used.sort_by_key(|variable| (variable.size() == 0, variable.name));
        used.dedup_by_key(|variable| variable.name);
        let is_dynamic =
            |variable: &&&Variable| variable.space == Space::Shared && variable.size() == 0;
        used.iter().filter(is_dynamic).for_each(|variable| self.layout.align_dynamic(variable));
        for variable in &used {
            let address =
                self.layout.place(self.module, variable).ok_or_else(|| self.too_large(variable))?;
            self.statics.insert(variable.name, address);
        }
        for variable in &used {
            if let (Some(bytes), Some(address)) =
                (self.with_addresses(variable), self.statics.get(&variable.name))
            {
                self.layout.initialise((variable.space, *address), &bytes);
            }
        }
        let is_prototype = |statement: &Statement| matches!(statement, Statement::Prototype(_));
        let statements: usize = bodies.iter().map(|body| body.statements.len()).sum();
        if statements <= MOST_STATEMENTS
            && bodies.iter().any(|body| body.statements.iter().any(is_prototype))
        {
            self.taken = self.taken(&used, &bodies);
        }
        Ok(())
    }

    /// Follows names from a kernel through bodies and initialisers.
    fn named(&self, kernel: &'m Function) -> Named<'m> {
        let mut found = Named::default();
        let mut seen = HashSet::default();
        let mut work = vec![kernel.name];
        while let Some(name) = work.pop() {
            let name = self.module.name(name);
            if !seen.insert(name) {
                continue;
            }
            if let Some(variable) = self.module.variable(name) {
                found.variables.push(variable);
                work.extend(addresses(variable).iter().map(|address| address.name));
            }
            let function = self.functions.get(name);
            let Some(body) = function.and_then(|function| function.body.as_ref()) else { continue };
            found.bodies.push(body);
            for statement in &body.statements {
                match statement {
                    Statement::Variable(variable)
                        if matches!(
                            variable.space,
                            Space::Shared | Space::Global | Space::Const
                        ) =>
                    {
                        found.variables.push(variable.as_ref());
                        work.extend(addresses(variable).iter().map(|address| address.name));
                    }
                    Statement::Targets(_, names) => work.extend(names),
                    _ => {}
                }
            }
            work.extend(body.operands.iter().filter_map(ParsedOperand::name));
        }
        found
    }

    /// What a variable holds before the launch, if addresses are in it and all of them are known. An address that does not fit
    /// into 32 bits is not: variables lie further apart here than on a device.
    fn with_addresses(&self, variable: &Variable) -> Option<Arc<[u8]>> {
        let init = variable.init.as_ref().filter(|init| !init.addresses.is_empty())?;
        let mut bytes = init.bytes.as_ref()?.to_vec();
        let width = variable.ty.bytes() as usize;
        for address in &init.addresses {
            let at = usize::try_from(address.at).ok()?;
            let value = self.initial_address(address)?;
            if width < 8 && value >> (8 * width) != 0 {
                return None;
            }
            bytes.get_mut(at..at + width)?.copy_from_slice(value.to_le_bytes().get(..width)?);
        }
        Some(bytes.into())
    }

    fn initial_address(&self, address: &InitialAddress) -> Option<u64> {
        let name = self.module.name(address.name);
        let Some(variable) = self.module.variable(name) else {
            let function = self.functions.get(name).filter(|_| address.offset == 0);
            return function.map(function_address);
        };
        let first = *self.statics.get(&variable.name)?;
        let window = if address.is_generic { super::window(variable.space) } else { 0 };
        Some(window.wrapping_add(first).wrapping_add_signed(address.offset))
    }

    /// The functions that are named other than to be called, in the order of the text.
    fn taken(&self, variables: &[&'m Variable], bodies: &[&'m Body]) -> Vec<&'m str> {
        let mut names: Vec<Span> = Vec::new();
        for variable in variables {
            names.extend(addresses(variable).iter().map(|address| address.name));
        }
        for body in bodies {
            for (_, instruction) in instructions(body) {
                let is_call = Call::of(self.module, body, instruction).is_some();
                let operands = body.operands(&instruction.operands).iter();
                names.extend(operands.filter(|_| !is_call).filter_map(ParsedOperand::name));
            }
        }
        let functions = names.iter().filter_map(|name| self.functions.get(self.module.name(*name)));
        let mut functions: Vec<&Function> = functions.collect();
        functions.sort_by_key(|function| function.name);
        functions.dedup_by_key(|function| function.name);
        functions.into_iter().map(|function| self.module.name(function.name)).collect()
    }
}

/// The addresses in an initialiser.
fn addresses(variable: &Variable) -> &[InitialAddress] {
    variable.init.as_ref().map_or(&[], |init| &init.addresses)
}
