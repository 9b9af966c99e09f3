//! What programs have made of the libraries beside the driver: handles of cuBLAS, descriptors of cuBLASLt, generators of cuRAND.

use std::collections::BTreeMap;

use crate::status::{Refusal, Status, refuse};

/// A handle of cuBLAS.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BlasHandle {
    /// The stream of its calls.
    pub(crate) stream: u64,
    /// Whether scalars lie in the device's memory.
    pub(crate) on_device: bool,
    /// Memory that calls might write whatever they compute: where it starts, and its bytes. None is set unless the program does.
    pub(crate) workspace: (u64, u64),
    /// Modes that results of calls depend on but nothing else, as they were set: of the mathematics, of atomics, the multiprocessors to use, and of emulation.
    pub(crate) modes: [i32; 4],
}

/// What a descriptor of cuBLASLt is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A handle of the library.
    Library,
    /// An operation on matrices.
    Product,
    /// A matrix.
    Layout,
    /// What to prefer.
    Preference,
    /// A change of a matrix's layout.
    Transform,
}

impl Subject {
    fn in_words(self) -> &'static str {
        match self {
            Subject::Library => "a library",
            Subject::Product => "an operation",
            Subject::Layout => "a matrix",
            Subject::Preference => "a preference",
            Subject::Transform => "a change of layout",
        }
    }
}

/// A descriptor of cuBLASLt: attributes by number.
#[derive(Debug, Clone)]
pub(crate) struct Descriptor {
    /// What it describes.
    pub(crate) subject: Subject,
    /// The bytes of those attributes that were set.
    pub(crate) attributes: BTreeMap<i32, Vec<u8>>,
}

/// A generator of cuRAND.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Generator {
    /// The stream of its calls.
    pub(crate) stream: u64,
    /// Number of its kind (`curandRngType`).
    pub(crate) kind: i32,
}

/// Numbers of the kinds of generators from which on they are quasi-random.
const QUASI: i32 = 200;

impl Generator {
    /// Returns whether its numbers are quasi-random.
    pub(crate) fn is_quasi(self) -> bool {
        self.kind >= QUASI
    }
}

/// All of them, by handle. Descriptors that the program keeps itself have its address as their handle.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    blas: BTreeMap<u64, BlasHandle>,
    descriptors: BTreeMap<u64, Descriptor>,
    generators: BTreeMap<u64, Generator>,
}

fn not_live(what: &str) -> Refusal {
    refuse(Status::InvalidHandle, format!("the {what} is not live"))
}

impl Handles {
    /// Adds a handle of cuBLAS.
    pub(crate) fn add_blas(&mut self, handle: u64) {
        self.blas.insert(handle, BlasHandle::default());
    }

    /// Returns a handle of cuBLAS.
    pub(crate) fn blas(&mut self, handle: u64) -> Result<&mut BlasHandle, Refusal> {
        self.blas.get_mut(&handle).ok_or_else(|| not_live("handle of cuBLAS"))
    }

    /// Ends a handle of cuBLAS.
    pub(crate) fn destroy_blas(&mut self, handle: u64) -> Result<(), Refusal> {
        self.blas(handle)?;
        self.blas.remove(&handle);
        Ok(())
    }

    /// Adds a descriptor, in place of one with this handle.
    pub(crate) fn describe(
        &mut self,
        handle: u64,
        subject: Subject,
        attributes: BTreeMap<i32, Vec<u8>>,
    ) {
        self.descriptors.insert(handle, Descriptor { subject, attributes });
    }

    /// Returns a descriptor of this subject.
    pub(crate) fn descriptor(
        &mut self,
        handle: u64,
        subject: Subject,
    ) -> Result<&mut Descriptor, Refusal> {
        let own = self.descriptors.get_mut(&handle).filter(|own| own.subject == subject);
        // A handle of cuBLAS is one of cuBLASLt too, which `library` looks for.
        own.ok_or_else(|| match subject {
            Subject::Library => not_live("handle of cuBLASLt"),
            other => {
                let what = other.in_words();
                refuse(Status::InvalidValue, format!("the descriptor of {what} is not live"))
            }
        })
    }

    /// Checks a handle of cuBLASLt; those of cuBLAS are such handles too.
    pub(crate) fn library(&mut self, handle: u64) -> Result<(), Refusal> {
        if self.blas.contains_key(&handle) {
            return Ok(());
        }
        self.descriptor(handle, Subject::Library).map(|_| ())
    }

    /// Ends a descriptor.
    pub(crate) fn forget(&mut self, handle: u64, subject: Subject) -> Result<(), Refusal> {
        self.descriptor(handle, subject)?;
        self.descriptors.remove(&handle);
        Ok(())
    }

    /// Adds a generator.
    pub(crate) fn add_generator(&mut self, handle: u64, kind: i32) {
        self.generators.insert(handle, Generator { stream: 0, kind });
    }

    /// Returns a generator.
    pub(crate) fn generator(&mut self, handle: u64) -> Result<&mut Generator, Refusal> {
        self.generators.get_mut(&handle).ok_or_else(|| not_live("generator"))
    }

    /// Ends a generator.
    pub(crate) fn destroy_generator(&mut self, handle: u64) -> Result<(), Refusal> {
        self.generator(handle)?;
        self.generators.remove(&handle);
        Ok(())
    }
}
