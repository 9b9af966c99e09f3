//! Initialization, version and error handling.

use crate::call::Call;
use crate::exports::VERSION;
use crate::foreign::{Host, Out};
use crate::status::{self, Answer, Status, refuse};

exports! {
    cuInit(flags: u32) since 2000 one => initialise;
    cuDriverGetVersion(version: Out<i32>) since 2020 one => version;
    cuGetErrorName(error: i32, name: Out<Host>) since 6000 one => error_name;
    cuGetErrorString(error: i32, text: Out<Host>) since 6000 one => error_string;
    cuProfilerStart() since 4000 one => nothing;
    cuProfilerStop() since 4000 one => nothing;
}

fn initialise(call: &Call, flags: u32) -> Answer {
    let mut state = call.any();
    state.refuse_fork()?;
    if flags != 0 {
        return Err(refuse(Status::InvalidValue, "the flags are not 0"));
    }
    state.begin();
    Ok(())
}

fn version(_: &Call, version: Out<i32>) -> Answer {
    version.give(VERSION)
}

fn error_name(_: &Call, error: i32, name: Out<Host>) -> Answer {
    give(status::name(error), name)
}

fn error_string(_: &Call, error: i32, text: Out<Host>) -> Answer {
    give(status::name(error).and(status::sentence(error)), text)
}

/// Gives the address of a text that lives for ever; null for an unknown code, as the manual says.
fn give(text: Option<&'static str>, to: Out<Host>) -> Answer {
    to.give(text.map_or(Host::at(0), |text| Host::function(text.as_ptr().cast())))?;
    text.map(|_| ()).ok_or(Status::InvalidValue.into())
}

#[allow(clippy::unnecessary_wraps, reason = "the type that the table of exports takes")]
fn nothing(_: &Call) -> Answer {
    Ok(())
}
