//! cuRAND: generators and what they write. Generators for the host's memory are not there: their numbers would be needed at once.

use crate::call::Call;
use crate::foreign::Out;
use crate::math::codes;
use crate::math::own;
use crate::results::{Results, Runs};
use crate::status::{Answer, Status, refuse};

/// The version of the library, as `CURAND_VERSION` counts.
const LIBRARY_VERSION: i32 = 10_400;

library! { codes::random;
    "curandCreateGenerator" narrow (generator: Out<u64>, kind: i32) => |call| create(call, generator, kind);
    "curandDestroyGenerator" narrow (generator: u64) => |call| call.ready()?.library.destroy_generator(generator);
    "curandGetVersion" narrow (version: Out<i32>) => |_call| version.give(LIBRARY_VERSION);
    "curandGetProperty" narrow (property: i32, value: Out<i32>) => |_call| match property {
        0 => value.give(LIBRARY_VERSION / 1000),
        1 => value.give(LIBRARY_VERSION / 100 % 10),
        2 => value.give(LIBRARY_VERSION % 100),
        _ => Err(refuse(Status::InvalidValue, format!("there is no property {property}"))),
    };
    "curandSetStream" narrow (generator: u64, stream: u64) => |call| {
        let mut state = call.ready()?;
        state.library.generator(generator)?;
        state.streams.stream(stream)?;
        state.library.generator(generator)?.stream = stream;
        Ok(())
    };
    "curandSetPseudoRandomGeneratorSeed" narrow (generator: u64, _seed: u64) => |call| {
        if call.ready()?.library.generator(generator)?.is_quasi() {
            return Err(refuse(Status::NotPermitted, "seeds a generator of quasi-random numbers"));
        }
        Ok(())
    };
    "curandSetGeneratorOffset" narrow (generator: u64, _offset: u64) => |call| call.ready()?.library.generator(generator).map(|_| ());
    "curandSetGeneratorOrdering" narrow (generator: u64, _order: i32) => |call| call.ready()?.library.generator(generator).map(|_| ());
    "curandSetQuasiRandomGeneratorDimensions" narrow (generator: u64, dimensions: u32) => |call| {
        let own = *call.ready()?.library.generator(generator)?;
        if !own.is_quasi() {
            return Err(refuse(Status::NotPermitted, "sets the dimensions of a generator of pseudo-random numbers"));
        }
        if !(1..=20_000).contains(&dimensions) {
            return Err(refuse(Status::InvalidValue, format!("{dimensions} dimensions, of 1 to 20000")));
        }
        Ok(())
    };
    "curandGenerateSeeds" narrow (generator: u64) => |call| call.ready()?.library.generator(generator).map(|_| ());
    "curandGenerate" narrow (generator: u64, to: u64, count: usize) => |call| generate(call, generator, to, count, 4);
    "curandGenerateLongLong" narrow (generator: u64, to: u64, count: usize) => |call| generate(call, generator, to, count, 8);
    "curandGenerateUniform" narrow (generator: u64, to: u64, count: usize) => |call| generate(call, generator, to, count, 4);
    "curandGenerateUniformDouble" narrow (generator: u64, to: u64, count: usize) => |call| generate(call, generator, to, count, 8);
    "curandGenerateNormal" narrow (generator: u64, to: u64, count: usize, _mean: f32, _deviation: f32) => |call| pairs(call, generator, to, count, 4);
    "curandGenerateNormalDouble" narrow (generator: u64, to: u64, count: usize, _mean: f64, _deviation: f64) => |call| pairs(call, generator, to, count, 8);
    "curandGenerateLogNormal" narrow (generator: u64, to: u64, count: usize, _mean: f32, _deviation: f32) => |call| pairs(call, generator, to, count, 4);
    "curandGenerateLogNormalDouble" narrow (generator: u64, to: u64, count: usize, _mean: f64, _deviation: f64) => |call| pairs(call, generator, to, count, 8);
    "curandGeneratePoisson" narrow (generator: u64, to: u64, count: usize, _lambda: f64) => |call| generate(call, generator, to, count, 4);
    "curandGeneratePoissonMethod" narrow (generator: u64, to: u64, count: usize, _lambda: f64, _method: i32) => |call| generate(call, generator, to, count, 4);
}

fn create(call: &Call, generator: Out<u64>, kind: i64) -> Answer {
    let mut state = call.started()?;
    let known = matches!(kind, 100 | 101 | 121 | 141 | 142 | 161 | 200..=204);
    let kind = i32::try_from(kind).ok().filter(|_| known).ok_or_else(|| {
        refuse(Status::NotPermitted, format!("there is no type {kind} of generators"))
    })?;
    let fresh = state.handle();
    generator.give(fresh)?;
    state.library.add_generator(fresh, kind);
    Ok(())
}

fn generate(call: &Call, generator: u64, to: u64, count: usize, bytes: u64) -> Answer {
    let stream = call.ready()?.library.generator(generator)?.stream;
    let length = (count as u64).checked_mul(bytes);
    let length = length.ok_or_else(|| refuse(Status::InvalidValue, "the sizes are too large"))?;
    own::submit(call, stream, Results::Runs(vec![Runs::one(to, length)]))
}

/// Pseudo-random numbers of normal distributions come in pairs.
fn pairs(call: &Call, generator: u64, to: u64, count: usize, bytes: u64) -> Answer {
    let own = *call.ready()?.library.generator(generator)?;
    if !own.is_quasi() && !count.is_multiple_of(2) {
        let reason = format!("asks for {count} numbers, which come in pairs");
        return Err(refuse(Status::MisalignedAddress, reason));
    }
    generate(call, generator, to, count, bytes)
}
