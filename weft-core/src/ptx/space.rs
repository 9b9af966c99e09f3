//! PTX state spaces.

/// A state space of variables and accesses (PTX ISA §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Space {
    Generic,
    Register,
    Const,
    Global,
    Local,
    Param,
    Shared,
    Texture,
}

impl Space {
    /// Returns the name of the space as it stands before "memory" in a message.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Register => "register",
            Self::Const => "constant",
            Self::Global => "global",
            Self::Local => "local",
            Self::Param => "parameter",
            Self::Shared => "shared",
            Self::Texture => "texture",
        }
    }
}
