//! Queries as they come from kernels: can two threads access one address?
