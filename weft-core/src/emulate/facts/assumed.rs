//! What a check assumes of open values; the report lists it.

/// What the runs of a check assumed.
#[allow(clippy::struct_excessive_bools, reason = "each is a sentence of its own")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assumed {
    /// A sum that is known modulo a number other than a power of two does not wrap around.
    pub indices: bool,
    /// A loop that waits for an open value ends.
    pub waits_end: bool,
    /// A store at an open address stays within the variable that its address starts from.
    pub variables: bool,
    /// A load of shared memory at an open address reads bytes that were written.
    pub written: bool,
    /// The open index of an indexed branch leads to one of its targets.
    pub targets: bool,
    /// `elect.sync` elects the lowest lane of its mask.
    pub elected: bool,
    /// Lanes exchanged or synchronized in groups. `activemask` finds only lanes active together that came to it together.
    pub grouped: bool,
    /// Fences between the proxies order all that happens before them.
    pub proxies: bool,
    /// Arrivals and waits at mbarriers that state no scope order the threads of the cluster.
    pub scopes: bool,
    /// Products of matrices see what registers were set to before them.
    pub products: bool,
    /// A tensor core does what a thread issues in order, and no `tcgen05.fence` is missing.
    pub tensor_cores: bool,
    /// Of the orders in which ctas take over the work of others, two are run.
    pub takeovers: bool,
    /// Counters of signals hold zero at the launch if nothing states what they hold.
    pub zero_counters: bool,
}

impl Assumed {
    /// Joins what other runs of the check assumed.
    pub fn join(&mut self, other: Self) {
        let Self {
            indices,
            waits_end,
            variables,
            written,
            targets,
            elected,
            grouped,
            proxies,
            scopes,
            products,
            tensor_cores,
            takeovers,
            zero_counters,
        } = other;
        self.indices |= indices;
        self.waits_end |= waits_end;
        self.variables |= variables;
        self.written |= written;
        self.targets |= targets;
        self.elected |= elected;
        self.grouped |= grouped;
        self.proxies |= proxies;
        self.scopes |= scopes;
        self.products |= products;
        self.tensor_cores |= tensor_cores;
        self.takeovers |= takeovers;
        self.zero_counters |= zero_counters;
    }
}
