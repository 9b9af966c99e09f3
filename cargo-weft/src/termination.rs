//! What `SIGTERM` does to a program that is recorded: it ends as on Ctrl-C, which a terminal sends to all processes itself.

#[cfg(target_os = "linux")]
pub(crate) use linux::forward;

/// Passes `SIGTERM` on to a program, where that is possible.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn forward(_record: &std::path::Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::fs;
    use std::io;
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::Path;
    use std::thread;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    use signal_hook::consts::SIGTERM;
    use signal_hook::iterator::Signals;

    /// From now on, passes `SIGTERM` to all processes that record into the folder `record`: a program that is started after this, and
    /// those that it starts. They do not inherit what the signal does here.
    pub(crate) fn forward(record: &Path) -> io::Result<()> {
        let mut terminated = Signals::new([SIGTERM])?;
        let mut entry = OsString::from(weft_driver::RECORD).into_vec();
        entry.push(b'=');
        entry.extend_from_slice(record.as_os_str().as_encoded_bytes());
        thread::spawn(move || {
            for _ in terminated.forever() {
                for process in processes(&entry) {
                    // One that has ended meanwhile needs no signal.
                    let _ = kill(process, Signal::SIGTERM);
                }
            }
        });
        Ok(())
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
