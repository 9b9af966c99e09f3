//! Texture object management: how elements of arrays are described. Arrays and textures themselves are not supported.

/// `cudaChannelFormatDesc`: bits of x, y, z and w, and the kind of number.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct ChannelFormat {
    bits: [i32; 4],
    kind: u32,
}

/// Returns the description of its parts.
// SAFETY: the symbol is one of the runtime library's, whose place this library takes.
#[unsafe(no_mangle)]
extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: u32) -> ChannelFormat {
    ChannelFormat { bits: [x, y, z, w], kind }
}
