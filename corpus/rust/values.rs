//! Kernels on numbers, text and other values: overflow checks, wide integers, formatting, trait objects.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x};
use core::cell::{Cell, RefCell};
use core::fmt::{self, Write};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe { core::arch::nvptx::trap() }
}

fn index() -> usize {
    unsafe { (_block_idx_x() * _block_dim_x() + _thread_idx_x()) as usize }
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn wide(a: *const u128, to: *mut u128) {
    let x = *a.add(index());
    *to.add(index()) = x.wrapping_mul(x).rotate_left(7) ^ u128::from(x.leading_zeros());
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn wide_division(a: *const u128, to: *mut u128, by: u128) {
    let x = *a.add(index());
    *to.add(index()) = x / by + x % 10;
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn checked(a: *const i32, to: *mut i32) {
    let x = *a.add(index());
    let y = x.checked_mul(3).and_then(|y| y.checked_add(1)).unwrap_or(i32::MAX);
    *to.add(index()) = y.saturating_sub(x).abs() / (x | 1) + x.pow(3);
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn parsed(a: *const u8, to: *mut u32) {
    let text = core::slice::from_raw_parts(a.add(index() * 8), 8);
    let number = core::str::from_utf8(text).ok().and_then(|text| text.trim().parse::<u32>().ok());
    *to.add(index()) = number.unwrap_or(u32::MAX);
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn letters(a: *const u8, to: *mut u32, n: usize) {
    let text = core::str::from_utf8_unchecked(core::slice::from_raw_parts(a, n));
    let vowels = text.chars().filter(|c| matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u'));
    *to.add(index()) = vowels.count() as u32;
}

struct Line {
    bytes: [u8; 24],
    used: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.used + text.len();
        self.bytes.get_mut(self.used..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.used = end;
        Ok(())
    }
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn formatted(a: *const i32, to: *mut [u8; 24]) {
    let mut line = Line { bytes: [0; 24], used: 0 };
    let done = write!(line, "{:>6} {:#x}", *a.add(index()), index());
    if done.is_ok() {
        *to.add(index()) = line.bytes;
    }
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn formatted_float(a: *const f32, to: *mut [u8; 24]) {
    let mut line = Line { bytes: [0; 24], used: 0 };
    write!(line, "{:.3}", *a.add(index())).unwrap();
    *to.add(index()) = line.bytes;
}

trait Shape {
    fn area(&self) -> f32;
}

struct Square(f32);
struct Circle(f32);

impl Shape for Square {
    fn area(&self) -> f32 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f32 {
        3.0 * self.0 * self.0
    }
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn dynamic(a: *const f32, to: *mut f32) {
    let x = *a.add(index());
    let (square, circle) = (Square(x), Circle(x));
    let shape: &dyn Shape = if index() % 2 == 0 { &square } else { &circle };
    *to.add(index()) = core::hint::black_box(shape).area();
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn cells(a: *const i32, to: *mut i32) {
    let (count, list) = (Cell::new(0), RefCell::new([0; 4]));
    for at in 0..4 {
        let x = *a.add(index() * 4 + at);
        if x > 0 {
            count.set(count.get() + 1);
            list.borrow_mut()[at] = x;
        }
    }
    let sum: i32 = list.borrow().iter().sum();
    *to.add(index()) = sum / core::num::NonZeroI32::new(count.get()).map_or(1, |n| n.get());
}

#[no_mangle]
pub unsafe extern "ptx-kernel" fn floats(a: *const f64, to: *mut f64) {
    let x = *a.add(index());
    let all: [f64; 4] = core::array::from_fn(|at| x.clamp(-1.0, at as f64 + 1.0));
    *to.add(index()) = all.into_iter().max_by(f64::total_cmp).map_or(x, |y| y.max(x).recip());
}

#[no_mangle]
#[allow(deprecated)]
pub unsafe extern "ptx-kernel" fn hashed(a: *const [u8; 20], to: *mut u64) {
    use core::hash::{Hash, Hasher, SipHasher};
    let mut hasher = SipHasher::new_with_keys(1, 2);
    (*a.add(index())).hash(&mut hasher);
    *to.add(index()) = hasher.finish();
}

/// A state machine whose states are an enum with fields.
#[no_mangle]
pub unsafe extern "ptx-kernel" fn machine(a: *const u8, to: *mut u32, n: usize) {
    #[derive(Clone, Copy)]
    enum State {
        Start,
        Digits(u32),
        Failed { at: usize },
    }
    let mut state = State::Start;
    for (at, byte) in core::slice::from_raw_parts(a, n).iter().enumerate() {
        state = match (state, byte) {
            (State::Start, b'0'..=b'9') => State::Digits(u32::from(byte - b'0')),
            (State::Digits(x), b'0'..=b'9') => State::Digits(x * 10 + u32::from(byte - b'0')),
            (State::Failed { .. }, _) => break,
            _ => State::Failed { at },
        };
    }
    *to.add(index()) = match state {
        State::Start => 0,
        State::Digits(x) => x,
        State::Failed { at } => at as u32,
    };
}
