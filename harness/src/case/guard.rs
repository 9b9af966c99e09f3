//! Confines a panic of the checker to the case in which it happens: the case fails with the panic's message, the other
//! cases run on.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

use weft_core::report::escape;

use super::JobError;

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs a panic hook, for a program's `main`. A panic within the checker then prints nothing by itself: its message
/// and source position go into the error of its case. All other panics are printed as before; so is every panic if
/// `RUST_BACKTRACE` asks for a backtrace.
pub fn hook_panics() {
    let previous = panic::take_hook();
    let wants_backtrace = std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0");
    panic::set_hook(Box::new(move |info| {
        let is_guarded = IS_GUARDED.get();
        if is_guarded {
            PLACE.set(place(info));
        }
        if !is_guarded || wants_backtrace {
            previous(info);
        }
    }));
}

fn place(info: &PanicHookInfo<'_>) -> Option<String> {
    info.location().map(ToString::to_string)
}

/// Runs `work` and turns a panic in it into an error. `subject` names what is checked in that error: a file, or a
/// kernel with its file and launch.
pub(super) fn guarded<T>(subject: &str, work: impl FnOnce() -> T) -> Result<T, JobError> {
    let was_guarded = IS_GUARDED.replace(true);
    PLACE.set(None);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(was_guarded);
    result.map_err(|payload| {
        let place = PLACE.take().map(|place| format!(" ({place})")).unwrap_or_default();
        let lines = message(payload.as_ref()).lines().map(|line| escape(line.trim()));
        let message = lines.collect::<Vec<_>>().join(", ") + &place;
        JobError::Panic { subject: subject.to_owned(), message }
    })
}

/// Returns the message of a panic, or `no message` if its payload is not a string.
fn message(payload: &dyn Any) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
