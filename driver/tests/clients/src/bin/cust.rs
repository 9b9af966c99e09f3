//! A program that is linked to the driver. The first argument says what it does.

use std::{env, error, process, thread};

use cust::context::CurrentContext;
use cust::error::CudaError;
use cust::event::{Event, EventFlags, EventStatus};
use cust::launch;
use cust::memory::{CopyDestination, DeviceBuffer, LockedBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};

fn main() -> Result<(), Box<dyn error::Error>> {
    let context = cust::quick_init()?;
    let module = Module::from_ptx(clients::PTX, &[])?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let scale = module.get_function("scale")?;
    let x = DeviceBuffer::from_slice(&[1.0_f32, 2.0])?;
    // SAFETY: the stand-in runs no kernel.
    unsafe { launch!(scale<<<1, 32, 0, stream>>>(x.as_device_ptr(), 2.0_f32, 2_u32))? };
    match env::args().nth(1).as_deref() {
        Some("polls") => {
            let event = Event::new(EventFlags::DISABLE_TIMING)?;
            event.record(&stream)?;
            while event.query()? == EventStatus::NotReady {}
            let pinned = LockedBuffer::new(&7.0_f32, 2)?;
            let y = DeviceBuffer::from_slice(&pinned)?;
            // SAFETY: as above.
            unsafe { launch!(scale<<<2, 32, 0, stream>>>(y.as_device_ptr(), 0.5_f32, 1_u32))? };
        }
        Some("asserts") => {
            stream.synchronize()?;
            let mut back = [0.0_f32; 2];
            x.copy_to(&mut back)?;
            assert_eq!(back, [2.0, 4.0], "what no kernel has computed");
        }
        Some("aborts") => process::abort(),
        Some("threads") => {
            let launch = |grid: u32| -> Result<(), CudaError> {
                CurrentContext::set_current(&context)?;
                let module = Module::from_ptx(clients::PTX, &[])?;
                let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
                let scale = module.get_function("scale")?;
                let x = DeviceBuffer::from_slice(&[1.0_f32, 2.0])?;
                // SAFETY: as above.
                unsafe {
                    launch!(scale<<<grid, 32, 0, stream>>>(x.as_device_ptr(), 2.0_f32, 2_u32))
                }
            };
            let launch = &launch;
            thread::scope(|scope| {
                let all = [2, 3, 4, 5].map(|grid| scope.spawn(move || launch(grid)));
                all.into_iter().try_for_each(|own| own.join().expect("the thread ends"))
            })?;
        }
        other => return Err(format!("there is nothing called {other:?}").into()),
    }
    Ok(())
}
