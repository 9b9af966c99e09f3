//! The functions of the driver interface, a file a chapter of the manual. Each file starts with its part of the table of exports.

mod addresses;
pub(crate) mod allocations;
mod arrays;
mod callbacks;
pub(crate) mod contexts;
pub(crate) mod copies;
pub(crate) mod devices;
pub(crate) mod entry;
mod errors;
pub(crate) mod events;
pub(crate) mod general;
pub(crate) mod graphs;
pub(crate) mod kernels;
pub(crate) mod launch;
pub(crate) mod libraries;
mod links;
mod missing;
pub(crate) mod modules;
pub(crate) mod nodes;
pub(crate) mod occupancy;
pub(crate) mod pools;
mod regions;
pub(crate) mod sets;
pub(crate) mod streams;
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
        general::EXPORTS,
        graphs::EXPORTS,
        kernels::EXPORTS,
        launch::EXPORTS,
        libraries::EXPORTS,
        links::EXPORTS,
        modules::EXPORTS,
        nodes::EXPORTS,
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
