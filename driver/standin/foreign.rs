//! What a C caller hands in: addresses for results, arrays, texts, callbacks.
//!
//! Values of these types have a private pointer and are made in one way alone: as parameters of the exported functions. So
//! the promise that makes their use sound is the one that the manual of the driver asks of every caller: a pointer that is not
//! null points to memory of the type that the parameter has, as long as the call lasts. A null is refused here.

use std::ffi::{CStr, c_char, c_void};

use crate::status::{Answer, Refusal, Status};

/// A type without pointers of ours, each pattern of bits of which is a value.
///
/// # Safety
/// Every pattern of bits must be a valid value of the type.
pub(crate) unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($type:ty),*) => {
        // SAFETY: integers, floats and raw addresses have no invalid pattern of bits.
        $(unsafe impl Plain for $type {})*
    };
}
plain!(u8, u16, u32, i32, u64, i64, usize, f32, *const c_void, *const c_char);

// SAFETY: arrays of plain values have no padding.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Where a result goes.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T: Plain> Out<T> {
    /// Returns whether the caller gave no address.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns whether the address is a multiple of some bytes.
    pub(crate) fn is_aligned_to(self, bytes: usize) -> bool {
        self.0.addr().is_multiple_of(bytes)
    }

    /// Reads what is there, for functions that change it.
    pub(crate) fn present(self) -> Result<T, Refusal> {
        In(self.0.cast_const()).read()
    }

    /// Stores a result; a null address is an invalid value.
    pub(crate) fn give(self, value: T) -> Answer {
        if self.0.is_null() {
            return Err(Status::InvalidValue.into());
        }
        // SAFETY: not null, so the caller promises that a `T` can be stored there (see the module). Callers in other
        // languages might not align it.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Stores a result if the caller wants it.
    pub(crate) fn give_if_wanted(self, value: T) {
        if !self.0.is_null() {
            let _ = self.give(value);
        }
    }

    /// Stores one result of a list.
    pub(crate) fn give_at(self, at: usize, value: T) -> Answer {
        if self.0.is_null() {
            return Err(Status::InvalidValue.into());
        }
        // SAFETY: not null, and the caller promises a list of more than `at` places.
        unsafe { self.0.add(at).write_unaligned(value) };
        Ok(())
    }

    /// Stores a list of results. The caller has promised room for `values.len()`.
    pub(crate) fn give_all(self, values: &[T]) -> Answer {
        if self.0.is_null() && !values.is_empty() {
            return Err(Status::InvalidValue.into());
        }
        for (at, value) in values.iter().enumerate() {
            // SAFETY: not null, and the caller promises room for as many values as it asked for, which bounds the list.
            unsafe { self.0.add(at).write_unaligned(*value) };
        }
        Ok(())
    }
}

/// Where a value, or a list of values, is read from.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct In<T>(*const T);

impl<T: Plain> In<T> {
    /// Returns whether the caller gave no address.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Reads the value; a null address is an invalid value.
    pub(crate) fn read(self) -> Result<T, Refusal> {
        if self.0.is_null() {
            return Err(Status::InvalidValue.into());
        }
        // SAFETY: not null, so the caller promises that a `T` is there (see the module), all bits of which are valid.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Reads a list whose length the caller stated; an empty one from any address.
    pub(crate) fn list(self, count: usize) -> Result<Vec<T>, Refusal> {
        if count > 0 && self.0.is_null() {
            return Err(Status::InvalidValue.into());
        }
        // SAFETY: not null, and the caller promises `count` values from there on.
        Ok((0..count).map(|at| unsafe { self.0.add(at).read_unaligned() }).collect())
    }

    /// Returns the same list as places for results: some functions give results in the place of values.
    pub(crate) fn places(self) -> Out<T> {
        Out(self.0.cast_mut())
    }

    /// Returns what is behind this value.
    pub(crate) fn behind<U: Plain>(self) -> In<U> {
        In(self.0.wrapping_add(1).cast())
    }

    /// Reads one value of a list.
    pub(crate) fn at(self, at: usize) -> Result<T, Refusal> {
        if self.0.is_null() {
            return Err(Status::InvalidValue.into());
        }
        // SAFETY: not null, and the caller promises a list that goes at least that far: lists are read up to the end
        // that the manual defines for them.
        Ok(unsafe { self.0.add(at).read_unaligned() })
    }
}

/// A text of C.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// Reads the text; bytes that are no UTF-8 are replaced.
    pub(crate) fn read(self) -> Result<String, Refusal> {
        Ok(String::from_utf8_lossy(&self.bytes()?).into_owned())
    }

    /// Reads the bytes before the NUL.
    pub(crate) fn bytes(self) -> Result<Vec<u8>, Refusal> {
        if self.0.is_null() {
            return Err(Status::InvalidValue.into());
        }
        // SAFETY: not null, so the caller promises a text that ends with a NUL.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes().to_vec())
    }
}

/// An address of host memory whose meaning the call decides: the source or target of a copy, an image, an argument.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Host(*mut c_void);

// SAFETY: every number of 64 bits is a raw address.
unsafe impl Plain for Host {}

// SAFETY: an address as such can be used from any thread. What is there is read for the calls alone for which the program promises
// it, which might be made by another thread than the one that handed the address in.
unsafe impl Send for Host {}

impl Host {
    /// Returns the number of the address.
    pub(crate) fn number(self) -> u64 {
        self.0.addr() as u64
    }

    /// Returns whether the address is null.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the address some bytes further on.
    pub(crate) fn offset(self, bytes: usize) -> Host {
        Host(self.0.wrapping_byte_add(bytes))
    }

    /// Reads bytes. The manual makes the caller promise them for the parameter that this address came in by.
    pub(crate) fn read(self, count: usize) -> Result<Vec<u8>, Refusal> {
        if count > 0 && self.0.is_null() {
            return Err(Status::InvalidValue.into());
        }
        let mut bytes = vec![0_u8; count];
        // SAFETY: not null, and the caller promises `count` bytes from there on; the vector has as many.
        unsafe { bytes.as_mut_ptr().copy_from_nonoverlapping(self.raw(), count) };
        Ok(bytes)
    }

    /// Returns this address as that of a text.
    pub(crate) fn text(self) -> Text {
        Text(self.0.cast())
    }

    /// Returns this address as that of a value, or of a list.
    pub(crate) fn values<T: Plain>(self) -> In<T> {
        In(self.0.cast())
    }

    /// Returns this address as that of a result.
    pub(crate) fn result<T: Plain>(self) -> Out<T> {
        Out(self.0.cast())
    }

    /// Returns the raw address, for copies.
    pub(crate) fn raw(self) -> *mut u8 {
        self.0.cast()
    }

    /// Returns the address of a function, for a caller that asks for it.
    pub(crate) fn function(address: *const ()) -> Host {
        Host(address.cast_mut().cast())
    }

    /// Returns the host's address with this number. Only copies follow it, as they follow one that a caller hands in.
    pub(crate) fn at(number: u64) -> Host {
        // A number of 64 bits is an address on every platform of the driver.
        Host(std::ptr::with_exposed_provenance_mut(usize::try_from(number).unwrap_or(0)))
    }
}

/// A function of the host that a stream calls.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct HostFunction(Option<unsafe extern "C" fn(Host)>);

// SAFETY: null is `None`, and every other pattern of bits an address of code, which is called only where the caller promises that
// it is one.
unsafe impl Plain for HostFunction {}

impl HostFunction {
    /// Calls the function. No lock may be held: it might call the driver.
    pub(crate) fn call(self, data: Host) -> Answer {
        let function = self.0.ok_or(Status::InvalidValue)?;
        // SAFETY: the caller promises a function of this type that can be called with `data` at any time after the call.
        unsafe { function(data) };
        Ok(())
    }
}

/// A function that is told that a stream has come so far.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamCallback(Option<unsafe extern "C" fn(u64, i32, Host)>);

impl StreamCallback {
    /// Calls the function. No lock may be held.
    pub(crate) fn call(self, stream: u64, data: Host) -> Answer {
        let function = self.0.ok_or(Status::InvalidValue)?;
        // SAFETY: as for `HostFunction`.
        unsafe { function(stream, 0, data) };
        Ok(())
    }
}

/// A function that says how much dynamic shared memory a block of a size needs.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedSize(Option<unsafe extern "C" fn(i32) -> usize>);

impl SharedSize {
    /// Returns the bytes for a block of this many threads; `otherwise` if the caller gave no function. No lock may be held.
    pub(crate) fn of(self, block: i32, otherwise: usize) -> usize {
        // SAFETY: the caller promises a function of this type.
        self.0.map_or(otherwise, |function| unsafe { function(block) })
    }
}
