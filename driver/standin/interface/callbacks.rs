//! Functions of the host that a stream calls: on a thread of their own, as the driver does. The call that asks for one waits until it has
//! ended, so that what it does is done before what follows; one that waits for the program itself goes on beside it.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::call::Call;
use crate::contexts;
use crate::doubt;
use crate::state;
use crate::status::{Answer, Status, refuse};

/// How long a call waits: much longer than functions need that wait for nothing.
const PATIENCE: Duration = Duration::from_secs(2);

/// Calls a function of the host. No lock may be held: it might call the driver.
pub(super) fn run(call: &Call, function: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    let (done, waiting) = mpsc::channel();
    let (context, caller) = (contexts::current(), doubt::own());
    let body = move || {
        // It acts for the thread that asks for it.
        doubt::take_over(caller);
        if let Some(context) = context {
            contexts::set(context);
        }
        // Nobody waits for one that takes long.
        let answer = function();
        let mut state = state::lock();
        if done.send((answer, doubt::own())).is_err() {
            state.memory.beside -= 1;
        }
    };
    let thread = thread::Builder::new().name("weft-callbacks".to_owned()).spawn(body);
    thread.map_err(|_| refuse(Status::OutOfMemory, "no thread can be started"))?;
    let mut told = waiting.recv_timeout(PATIENCE).ok();
    if told.is_none() {
        let mut state = call.any();
        // It might have ended since.
        told = waiting.try_recv().ok();
        if told.is_none() {
            state.memory.left_to_host(call.function);
            state.memory.beside += 1;
            drop(waiting);
            return Ok(());
        }
    }
    // The program waits for it, and for what it has read.
    let Some((answer, own)) = told else { return Ok(()) };
    doubt::take_over(own);
    answer
}
