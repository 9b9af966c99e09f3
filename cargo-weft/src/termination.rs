//! What `SIGTERM` does to a program that is recorded: it ends as on Ctrl-C, which a terminal sends to all processes itself.

#[cfg(target_os = "linux")]
pub(crate) use linux::forward;

/// Starts a program, after `prepare`, which starts threads.
#[cfg(not(target_os = "linux"))]
pub(crate) fn forward<T>(
    _record: &std::path::Path,
    prepare: impl FnOnce() -> Result<(), crate::record::RecordingError>,
    start: impl FnOnce() -> Result<T, crate::record::RecordingError>,
) -> Result<T, crate::record::RecordingError> {
    prepare()?;
    start()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::fs;
    use std::io;
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::Path;
    use std::thread;

    use nix::sys::signal::{SigSet, Signal, kill};
    use nix::unistd::Pid;

    use crate::record::RecordingError;

    /// Starts a program, after `prepare`, which starts threads, and passes `SIGTERM` to all processes that record into the folder `record`:
    /// the program and those that it has started.
    pub(crate) fn forward<T>(
        record: &Path,
        prepare: impl FnOnce() -> Result<(), RecordingError>,
        start: impl FnOnce() -> Result<T, RecordingError>,
    ) -> Result<T, RecordingError> {
        let failed = |error| RecordingError::Signals(io::Error::from(error));
        let mut terminated = SigSet::empty();
        terminated.add(Signal::SIGTERM);
        // The signal waits for the thread that asks for it only if every thread keeps it off; threads inherit that.
        terminated.thread_block().map_err(failed)?;
        prepare()?;
        let mut entry = OsString::from(weft_driver::RECORD).into_vec();
        entry.push(b'=');
        entry.extend_from_slice(record.as_os_str().as_encoded_bytes());
        thread::spawn(move || {
            while terminated.wait().is_ok() {
                for process in processes(&entry) {
                    // One that has ended meanwhile needs no signal.
                    let _ = kill(process, Signal::SIGTERM);
                }
            }
        });
        // Programs inherit it too, but are meant to end.
        terminated.thread_unblock().map_err(failed)?;
        let started = start();
        terminated.thread_block().map_err(failed)?;
        started
    }

    /// Returns the processes with this entry in their environment.
    fn processes(entry: &[u8]) -> Vec<Pid> {
        let has = |pid: &i32| {
            let all = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            all.split(|byte| *byte == 0).any(|own| own == entry)
        };
        let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        all.filter_map(pid).filter(has).map(Pid::from_raw).collect()
    }
}
