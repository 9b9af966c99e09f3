//! The one device that programs find: its limits and attributes.

use std::env;

/// What the device is. The environment says which compute capability and how many multiprocessors
/// (`WEFT_RECORD_DEVICE=sm_90,132`, which is also what is taken where it says nothing).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Device {
    /// Compute capability, such as 9 and 0.
    pub(crate) capability: (u32, u32),
    /// Number of multiprocessors.
    pub(crate) multiprocessors: u32,
}

/// Its name.
pub(crate) const NAME: &str = "weft recording device";
/// Identifies it: any number that is the same in every run.
pub(crate) const UUID: [u8; 16] = *b"weft-recorder-00";
/// Bytes of its memory.
pub(crate) const MEMORY: u64 = 80 << 30;
/// Most threads of a block.
pub(crate) const THREADS: u32 = 1024;
/// Largest block in each dimension.
pub(crate) const BLOCK: [u32; 3] = [1024, 1024, 64];
/// Largest grid in each dimension.
pub(crate) const GRID: [u32; 3] = [0x7fff_ffff, 0xffff, 0xffff];
/// Shared memory that a block has without asking for more.
pub(crate) const SHARED: u64 = 48 << 10;
/// Shared memory of a block that the system keeps for itself, from compute capability 8.0.
const SYSTEM_SHARED: u64 = 1 << 10;

impl Device {
    /// Reads the environment.
    pub(crate) fn from_environment() -> Self {
        env::var("WEFT_RECORD_DEVICE")
            .ok()
            .and_then(|text| Device::parse(&text))
            .unwrap_or(Device { capability: (9, 0), multiprocessors: 132 })
    }

    /// Reads `sm_90,132`; the number of multiprocessors might be left out. `None` for anything else.
    fn parse(text: &str) -> Option<Self> {
        let (name, count) = text.split_once(',').unwrap_or((text, "132"));
        let digits =
            name.trim().strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let number: u32 = digits.parse().ok().filter(|number| (10..1000).contains(number))?;
        let multiprocessors =
            count.trim().parse().ok().filter(|count| (1..=4096).contains(count))?;
        Some(Device { capability: (number / 10, number % 10), multiprocessors })
    }

    /// Returns the name of the target, such as `sm_90`.
    pub(crate) fn target(self) -> String {
        format!("sm_{}{}", self.capability.0, self.capability.1)
    }

    /// Returns its compute capability as one number, such as 90.
    pub(crate) fn number(self) -> u32 {
        self.capability.0 * 10 + self.capability.1
    }

    /// Returns the shared memory of a multiprocessor (programming guide, "Technical specifications per compute capability").
    pub(crate) fn shared_per_multiprocessor(self) -> u64 {
        let kilobytes = match self.number() {
            90 | 100..=119 => 228,
            80 | 87 => 164,
            86 | 89 | 120.. => 100,
            75 => 64,
            _ => 96,
        };
        kilobytes << 10
    }

    /// Returns the most shared memory that a block can have if its kernel asks for it.
    pub(crate) fn most_shared(self) -> u64 {
        self.shared_per_multiprocessor() - self.reserved_shared()
    }

    fn reserved_shared(self) -> u64 {
        if self.number() >= 80 { SYSTEM_SHARED } else { 0 }
    }

    /// Returns the most threads of a multiprocessor.
    pub(crate) fn threads_per_multiprocessor(self) -> u32 {
        match self.number() {
            75 => 1024,
            86..=89 | 120.. => 1536,
            _ => 2048,
        }
    }

    /// Returns the most blocks of a multiprocessor.
    pub(crate) fn blocks_per_multiprocessor(self) -> u32 {
        match self.number() {
            75 | 86 | 87 => 16,
            89 | 120.. => 24,
            _ => 32,
        }
    }

    /// Returns whether blocks can be launched in clusters.
    pub(crate) fn has_clusters(self) -> bool {
        self.number() >= 90
    }

    /// Returns how many blocks of a kernel a multiprocessor has room for, by threads and shared memory. Registers are not known
    /// for PTX, so it is never fewer than on the device, but might be more.
    pub(crate) fn resident_blocks(self, threads: u32, shared: u64) -> u32 {
        let warps = threads.div_ceil(32).max(1);
        let by_threads = self.threads_per_multiprocessor() / (warps * 32);
        let each = shared + self.reserved_shared();
        let by_shared = self.shared_per_multiprocessor().checked_div(each).unwrap_or(u64::MAX);
        let by_shared =
            if shared == 0 { u32::MAX } else { u32::try_from(by_shared).unwrap_or(u32::MAX) };
        by_threads.min(by_shared).min(self.blocks_per_multiprocessor())
    }

    /// Returns an attribute by its number (`CUdevice_attribute`); `None` if there is none of this number. Attributes that are not
    /// listed are 0: what they are about is not supported.
    pub(crate) fn attribute(self, number: i32) -> Option<i32> {
        let bytes = |value: u64| i32::try_from(value).unwrap_or(i32::MAX);
        let count = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        Some(match number {
            1 => count(THREADS),
            2..=4 => count(BLOCK[usize::try_from(number - 2).ok()?]),
            5..=7 => count(GRID[usize::try_from(number - 5).ok()?]),
            8 => bytes(SHARED),
            11 => i32::MAX,
            // Constant memory, registers of a block and of a multiprocessor.
            9 | 12 | 82 => 1 << 16,
            // Clock rates in kHz, of processor and memory.
            13 => 1_500_000,
            36 => 2_500_000,
            14 | 30 => 512,
            // Threads of a warp, alignment of rows of textures.
            10 | 51 => 32,
            16 => count(self.multiprocessors),
            // Largest textures and surfaces; textures cannot be made.
            21..=29 | 42..=49 | 52..=74 | 77 => 1 << 14,
            37 => 5120,
            38 => 50 << 20,
            39 => count(self.threads_per_multiprocessor()),
            40 => 3,
            // Copies beside kernels, mapped host memory, concurrent kernels, unified addresses.
            15 | 19 | 31 | 41
            // Priorities, caches, managed memory, its concurrent use, preemption.
            | 78..=80 | 83 | 89 | 90
            // Registered host memory by its own address, cooperative launches, registering.
            | 91 | 95 | 99
            // Virtual memory management, memory pools, domains of memory synchronization, function pointers.
            | 102 | 115 | 126 | 129 => 1,
            75 => count(self.capability.0),
            76 => count(self.capability.1),
            81 => bytes(self.shared_per_multiprocessor()),
            87 => 2,
            97 => bytes(self.most_shared()),
            106 => count(self.blocks_per_multiprocessor()),
            111 => bytes(self.reserved_shared()),
            // Clusters, tensor maps.
            120 | 127 => i32::from(self.has_clusters()),
            131 | 134 => -1,
            17..=147 => 0,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Device;

    #[test]
    fn devices_are_named_by_target_and_multiprocessors() {
        let device = |capability, multiprocessors| Some(Device { capability, multiprocessors });
        assert_eq!(Device::parse("sm_90,132"), device((9, 0), 132));
        assert_eq!(Device::parse("sm_100a, 148"), device((10, 0), 148));
        assert_eq!(Device::parse("sm_75"), device((7, 5), 132));
        for wrong in ["", "90", "sm_", "sm_9", "sm_90,0", "sm_90,many", "compute_90"] {
            assert_eq!(Device::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Device::parse("sm_100a").unwrap().target(), "sm_100");
    }

    /// From the table of the programming guide: 227 KB of 228 for a block of an H100, 99 of 100 for `sm_86`, 64 for `sm_75`.
    #[test]
    fn limits_are_those_of_the_programming_guide() {
        let of = |text| Device::parse(text).unwrap();
        assert_eq!(of("sm_90").attribute(97), Some(227 << 10));
        assert_eq!(of("sm_86").attribute(97), Some(99 << 10));
        assert_eq!(of("sm_75").attribute(97), Some(64 << 10));
        // 2048 threads make 2 blocks of 1024 and 7 of 288 (9 warps); 32 blocks at most.
        assert_eq!(of("sm_90").resident_blocks(1024, 0), 2);
        assert_eq!(of("sm_90").resident_blocks(288, 0), 7);
        assert_eq!(of("sm_90").resident_blocks(32, 0), 32);
        // 228 KB hold two blocks of 100 KB with 1 KB each for the system.
        assert_eq!(of("sm_90").resident_blocks(32, 100 << 10), 2);
        assert_eq!(of("sm_90").attribute(148), None);
    }
}
