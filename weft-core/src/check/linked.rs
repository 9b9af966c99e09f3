//! A kernel that is linked once, however often it is checked.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::{CheckError, request};
use crate::emulate;
use crate::flow::{self, Growth, Placement, Program, StatedBuffers};
use crate::launch::{Dim3, Launch};
use crate::ptx::{Function, Module};
use crate::slice::Dependences;

/// A kernel and its programs.
pub(super) struct LinkedKernel<'m> {
    pub(super) module: &'m Module,
    pub(super) kernel: &'m Function,
    /// The names of the parameters in the kernel's source, if they are known.
    names: Vec<String>,
    buffers: StatedBuffers,
    cluster: Option<Dim3>,
    changed: BTreeSet<String>,
    plain: Program,
    /// The program whose shared variables are packed, once it is needed.
    packed: OnceCell<Program>,
    /// For sets of arguments that are pointers: whether shared memory is then accessed by numbers.
    by_number: RefCell<BTreeMap<BTreeSet<usize>, bool>>,
}

impl<'m> LinkedKernel<'m> {
    /// Links a kernel, with variables and buffers at the addresses of `placement`. It is checked under `launch`, or under
    /// launches that give more arguments.
    ///
    /// # Errors
    /// PTX that does not link.
    pub(super) fn new(
        module: &'m Module,
        kernel: &'m Function,
        launch: &Launch,
        placement: &Placement,
    ) -> Result<Self, CheckError> {
        let names = launch.names.clone();
        let cluster = launch.cluster;
        let mut plain = build(module, kernel, &names, (placement, cluster))?;
        let buffers = StatedBuffers::of(&plain.params, &plain.fields, launch);
        plain.buffers = buffers.clone();
        forget(&mut plain, &launch.changed);
        let (packed, by_number) = (OnceCell::new(), RefCell::default());
        let changed = launch.changed.clone();
        Ok(Self { module, kernel, names, buffers, cluster, changed, plain, packed, by_number })
    }

    /// Returns the program as it is checked under a launch: shared variables are packed if the kernel accesses shared memory
    /// by numbers.
    ///
    /// # Errors
    /// PTX that does not link.
    pub(super) fn program(&self, launch: &Launch) -> Result<&Program, CheckError> {
        if !self.accesses_shared_by_number(launch) {
            return Ok(&self.plain);
        }
        if let Some(packed) = self.packed.get() {
            return Ok(packed);
        }
        let packed = self.packed()?;
        Ok(self.packed.get_or_init(|| packed))
    }

    /// As [`Self::program`].
    pub(super) fn into_program(self, launch: &Launch) -> Result<Program, CheckError> {
        if self.accesses_shared_by_number(launch) { self.packed() } else { Ok(self.plain) }
    }

    fn accesses_shared_by_number(&self, launch: &Launch) -> bool {
        let pointers = emulate::pointers(&self.plain, launch);
        let mut known = self.by_number.borrow_mut();
        let is_by_number =
            |pointers: &_| Dependences::of(&self.plain, pointers).accesses_shared_by_number();
        *known.entry(pointers).or_insert_with_key(is_by_number)
    }

    fn packed(&self) -> Result<Program, CheckError> {
        self.placed(&Placement { is_packed: true, ..self.plain.placement.clone() })
    }

    /// Links the kernel with other addresses.
    ///
    /// # Errors
    /// PTX that does not link.
    pub(super) fn placed(&self, placement: &Placement) -> Result<Program, CheckError> {
        let within = (placement, self.cluster);
        let mut program = build(self.module, self.kernel, &self.names, within)?;
        forget(&mut program, &self.changed);
        Ok(Program { buffers: self.buffers.clone(), ..program })
    }
}

/// Leaves open what variables with these names hold.
fn forget(program: &mut Program, changed: &BTreeSet<String>) {
    for symbol in program.symbols.iter_mut().filter(|symbol| changed.contains(&symbol.name)) {
        symbol.init = None;
    }
}

/// Links a kernel without the buffers of a launch, with everything at the addresses of a placement, for clusters of so
/// many ctas if the launch states them.
pub(super) fn build(
    module: &Module,
    kernel: &Function,
    names: &[String],
    (placement, cluster): (&Placement, Option<Dim3>),
) -> Result<Program, CheckError> {
    let mut program = flow::build_within(module, kernel, Growth::DEFAULT, placement, cluster)
        .map_err(|error| request::link(module, &error))?;
    for (param, name) in program.params.iter_mut().zip(names) {
        param.source_name = Some(name.clone());
    }
    Ok(program)
}
