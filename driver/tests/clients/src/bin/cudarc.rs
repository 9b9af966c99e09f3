//! A program that loads the driver. The first argument says what it does.

use std::{env, error};

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::{self, Ptx};

/// The same kernel for the compiler.
const SOURCE: &str = "extern \"C\" __global__ void scale(float *x, float a, int n)\n\
    { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= a; }\n";

fn main() -> Result<(), Box<dyn error::Error>> {
    let ptx = match env::args().nth(1).as_deref() {
        Some("compiles") => {
            // SAFETY: it is only looked for.
            if !unsafe { nvrtc::sys::is_culib_present() } {
                println!("there is no libnvrtc");
                return Ok(());
            }
            nvrtc::compile_ptx(SOURCE)?
        }
        _ => Ptx::from_src(clients::PTX),
    };
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let scale = context.load_module(ptx)?.load_function("scale")?;
    let mut x = stream.clone_htod(&[1.0_f32, 2.0])?;
    let mut launch = stream.launch_builder(&scale);
    launch.arg(&mut x).arg(&2.0_f32).arg(&2_u32);
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (32, 1, 1), shared_mem_bytes: 0 };
    // SAFETY: the stand-in runs no kernel.
    unsafe { launch.launch(config)? };
    let back = stream.clone_dtoh(&x)?;
    assert_eq!(back, [2.0, 4.0], "what no kernel has computed");
    Ok(())
}
