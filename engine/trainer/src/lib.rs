//! Training of Destrier's evaluation: data, networks, and the weights of the classical terms.
//!
//! | module | contents |
//! | --- | --- |
//! | [`data`] | scored games and positions, in every usual format |
//! | [`train`] | networks (NNUE) on the CPU; the same seed gives the same bytes |
//! | [`texel`] | weights of the classical evaluation, fitted to results |
//! | [`compare`] | matches between networks |
//! | [`lab`] | what the inputs of a network see, and what they cost |
//! | [`heat`] | heat maps as SVG |
//! | [`serve`] | encoded positions for trainers in other programs |
//! | [`loss`] | losses of networks on positions of other engines' games |
//! | [`shards`] | self-play in checked shards that a stop does not lose |
//! | [`bootstrap`] | the loop of self-play, training and match |
//!
//! Data of any format is read in the same way. Here a text file of one position:
//!
//! ```
//! use destrier_trainer::data::read;
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("positions.txt");
//! // FEN | centipawns from White's view | result of White
//! let fen = "r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
//! std::fs::write(&file, format!("{fen} | 30 | 0.5\n"))?;
//!
//! for entry in read::open(&file, None)?.entries {
//!     for position in entry?.positions() {
//!         assert_eq!(position.score, 30);
//!         // The record of 32 bytes that training reads is from the side to move's view.
//!         assert_eq!(position.to_bullet().score, -30);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The program `destrier-trainer` runs all of these modules. A network is trained from a plan, of
//! which `engine/trainer/plans` has examples.

#![deny(missing_docs)]

pub mod bootstrap;
pub mod compare;
pub mod data;
pub mod heat;
pub mod lab;
pub mod loss;
pub mod serve;
pub mod shards;
pub mod texel;
pub mod train;

#[cfg(test)]
#[path = "../../../tests/skip.rs"]
mod skip;
