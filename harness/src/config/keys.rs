//! The keys of `weft.toml`, with what each of them does. The reader accepts the keys that stand here, and no others; the
//! schema ([`super::schema`]) describes them, and a test compares the reference page, `docs/weft-toml.md`, with the schema.

/// The keys of one kind of table.
pub(super) trait KeySet: Copy + 'static {
    /// All keys, each with its name and what it does.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// Returns the key with this name; `None` if there is none.
    fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own, _)| *own == name).map(|(key, ..)| *key)
    }

    /// Returns the names of all keys.
    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|(_, name, _)| *name).collect()
    }
}

/// Declares the keys of a kind of table.
macro_rules! keys {
    ($(#[$doc:meta])* $set:ident: $($key:ident $name:literal $about:literal,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum $set { $($key,)* }

        impl KeySet for $set {
            const ALL: &'static [(Self, &'static str, &'static str)] =
                &[$((Self::$key, $name, $about),)*];
        }
    };
}

keys! {
    /// The keys of the file.
    FileKey:
    Ptx "ptx" "PTX files of the package, beside those that its build script leaves in `OUT_DIR`: file patterns, relative to \
        the folder of `Cargo.toml`.",
    Default "default" "Settings for every kernel of the package.",
    Kernel "kernel" "What holds of the kernels with a name that matches: settings, accepted findings, launches.",
}

keys! {
    /// The keys that only `[[kernel]]` has.
    KernelKey:
    Name "name" "A regular expression on the kernel's name, mangled, demangled, or as reports show it.",
    Launch "launch" "The launches of the kernel, each of which is checked by itself.",
}

keys! {
    /// The keys that only `[[kernel.launch]]` has.
    LaunchKey:
    Label "label" "The name of the launch, which is part of the names of its test cases.",
}

keys! {
    /// The keys that `[[kernel]]` and `[[kernel.launch]]` have beside the settings.
    AcceptanceKey:
    Allow "allow" "Findings that are accepted, each with a reason.",
    Skip "skip" "The reason for which the kernel or the launch is not checked.",
}

keys! {
    /// The settings of a launch, keys of `[default]`, `[[kernel]]` and `[[kernel.launch]]`.
    SettingKey:
    Block "block" "Threads of a cta, in x, y and z.",
    Grid "grid" "Ctas of the grid, in x, y and z.",
    Cluster "cluster" "Ctas of a cluster, in x, y and z.",
    Shared "shared" "Dynamic shared memory of a cta.",
    WarpSynchronous "warp-synchronous" "Whether the lanes of a warp run in lock step.",
    Atomics "atomics" "How the results of atomics are modelled.",
    BarrierDivergence "barrier-divergence" "Which divergence at aligned barriers is a defect.",
    Witness "witness" "The number of concrete inputs with which an open verdict is tried, to find races.",
    Inputs "inputs" "Which values the host might pass for what the launch leaves open.",
    Limit "limit" "The most that the check of a kernel under a launch takes; a number is that of instructions.",
    Args "args" "Arguments of the kernel, by name or by position, counted from 0.",
    Buffers "buffers" "Buffers that arguments point into, by names of their own.",
    Requires "requires" "Conditions that hold of every launch that is meant.",
}

impl SettingKey {
    /// Whether the setting fits one kernel's parameters, so that `[default]` has none.
    pub(super) const fn is_of_one_kernel(self) -> bool {
        matches!(self, Self::Args | Self::Buffers | Self::Requires)
    }
}

keys! {
    /// The keys of `limit`.
    LimitKey:
    Instructions "instructions" "The most instructions that are run, in all ctas and passes, counted once a warp.",
    Memory "memory" "The most memory that is taken.",
}

keys! {
    /// The keys of a buffer, beside its contents.
    BufferKey:
    Size "size" "The bytes of the buffer.",
}

keys! {
    /// The keys of a pointer into a buffer.
    PointerKey:
    In "in" "The name of the buffer.",
    Offset "offset" "The bytes from the first byte of the buffer to where the pointer leads.",
}

keys! {
    /// The key of a tensor map.
    TensorKey:
    Tensor "tensor" "A tensor map, as `cuTensorMapEncodeTiled` makes one.",
}

keys! {
    /// The keys of `tensor`.
    BoxKey:
    BoxBytes "box-bytes" "The bytes of the box that a tensor copy moves: the product of the box's extents and the size of an element.",
}

keys! {
    /// The keys of an entry of `allow`.
    AllowKey:
    Code "code" "The code of the findings that are accepted.",
    At "at" "The line of a source or PTX file at which a finding must have a site to be accepted.",
    Reason "reason" "Why the findings are accepted.",
    Until "until" "The last day, in UTC, on which the findings are accepted.",
}
