//! `quintain fastchess` and `quintain cutechess`: the command lines and the console of the leading runners, for the scripts and
//! frameworks that call them. Also what this program is when it is started under one of their names.
//!
//! Reading order: `invocation` (what can be asked for), `words` and `engine` (how it is written), `grammar` and `cutechess` (one
//! option an arm), `check` (what they mean together).

mod check;
mod cutechess;
mod engine;
mod grammar;
mod invocation;
mod words;

#[cfg(test)]
mod tests;
