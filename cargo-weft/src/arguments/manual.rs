//! Completions for shells, and manual pages, both from the definition of the command line.

use std::io;

use clap_complete::Shell;

use super::command::definition;

/// Returns the completions of `cargo-weft` for a shell.
pub(crate) fn completions(shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut definition(), "cargo-weft", &mut text);
    text
}

/// Returns the manual pages, each with the name of its file: that of the whole first, then those of the commands.
pub(crate) fn pages() -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut command = definition().name("cargo-weft").bin_name("cargo-weft");
    command.build();
    let mut pages = vec![page(&command, "cargo-weft")?];
    for own in command.get_subcommands().filter(|own| own.get_name() != "help") {
        pages.push(page(own, &format!("cargo-weft-{}", own.get_name()))?);
    }
    Ok(pages)
}

fn page(command: &clap::Command, name: &str) -> io::Result<(String, Vec<u8>)> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone().display_name(name)).title(name).render(&mut text)?;
    Ok((format!("{name}.1"), text))
}
