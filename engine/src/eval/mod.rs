//! Static evaluation of positions.
