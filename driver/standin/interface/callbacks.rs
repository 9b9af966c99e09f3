//! Functions of the host that a stream calls: on a thread of their own, as the driver does. The call that asks for one waits until it has
//! ended, so that what it does is done before what follows; one that waits for the program itself goes on beside it.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::call::Call;
use crate::contexts;
use crate::status::{Answer, Status, refuse};

/// How long a call waits: much longer than functions need that wait for nothing.
const PATIENCE: Duration = Duration::from_secs(2);

/// Calls a function of the host. No lock may be held: it might call the driver.
pub(super) fn run(call: &Call, function: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    let (done, waiting) = mpsc::channel();
    let context = contexts::current();
    let body = move || {
        if let Some(context) = context {
            contexts::set(context);
        }
        // Nobody waits for one that takes long.
        let _ = done.send(function());
    };
    let thread = thread::Builder::new().name("weft-callbacks".to_owned()).spawn(body);
    thread.map_err(|_| refuse(Status::OutOfMemory, "no thread can be started"))?;
    match waiting.recv_timeout(PATIENCE) {
        Ok(answer) => answer,
        Err(_) => {
            call.any().memory.left_to_host(call.function);
            Ok(())
        }
    }
}
