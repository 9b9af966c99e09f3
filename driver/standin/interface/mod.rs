//! The functions of the driver interface, a file a chapter of the manual. Each file starts with its part of the table of exports.

mod addresses;
mod allocations;
mod arrays;
mod contexts;
mod copies;
mod devices;
mod entry;
mod errors;
mod events;
mod graphs;
mod kernels;
mod launch;
mod libraries;
mod links;
mod missing;
mod modules;
mod occupancy;
mod pools;
mod regions;
mod sets;
mod streams;
mod tensors;
mod textures;

use crate::exports::Export;

/// Returns all exported functions.
pub(crate) fn exports() -> impl Iterator<Item = &'static Export> {
    let chapters = [
        addresses::EXPORTS,
        allocations::EXPORTS,
        arrays::EXPORTS,
        contexts::EXPORTS,
        copies::EXPORTS,
        devices::EXPORTS,
        errors::EXPORTS,
        events::EXPORTS,
        graphs::EXPORTS,
        kernels::EXPORTS,
        launch::EXPORTS,
        libraries::EXPORTS,
        links::EXPORTS,
        modules::EXPORTS,
        occupancy::EXPORTS,
        pools::EXPORTS,
        regions::EXPORTS,
        sets::EXPORTS,
        streams::EXPORTS,
        tensors::EXPORTS,
        textures::EXPORTS,
        entry::EXPORTS,
        missing::EXPORTS,
    ];
    chapters.into_iter().flatten()
}
