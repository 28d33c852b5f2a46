//! The `quintain` program: reads the command line, runs it, and turns the outcome into an exit
//! code.

use std::process::ExitCode;

fn main() -> ExitCode {
    quintain::cli::main()
}
