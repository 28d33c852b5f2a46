//! Compile-time check that panics unwind, because [`grammar`](super::grammar) catches panics of the
//! protocol crate.

#[cfg(panic = "abort")]
compile_error!(
    "quintain must be built with panic = \"unwind\": its protocol crate panics on some lines that engines print, and with \
     panic = \"abort\" such a line would end a run; remove panic = \"abort\" from the Cargo profile (the profile `engine` is for \
     destrier alone)"
);
