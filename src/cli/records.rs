//! `quintain records FILE.csv`: a file of test records as a table.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::files;
use crate::report::record_table::Records;
use crate::run::progress;

/// Bytes of the longest file that is read.
const LONGEST: u64 = 16 << 20;

const EXAMPLES: &str = "\
The file has a line per test under the heading \
`date,topic,step,new,base,limit,bounds,seed,options,ptnml,folder`. `new` and `base` are SPECs; \
`limit` is nodes=5000 or a clock as in 8+0.08; `bounds` and `ptnml` have commas and stand in \
quotes; `options` are further flags. `seed`, `options` and `folder`, which lies beside the file, \
may be empty. Bounds are normalized, alpha and beta 0.05. Pairs, verdict, the estimate after the \
stop and the command are computed from these.

Examples:
  quintain records results/records.csv
  quintain records results/records.csv --csv > all.csv";

/// Checks a file of test records and prints it as Markdown tables.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct RecordsArgs {
    /// The records.
    #[arg(value_name = "FILE.csv")]
    file: PathBuf,
    /// Print CSV with the computed columns instead.
    #[arg(long)]
    csv: bool,
}

/// Prints the records to `out`.
pub(super) fn run(args: &RecordsArgs, out: &mut impl Write) -> Result<()> {
    let text = files::read_input(&args.file, LONGEST)
        .with_context(|| format!("{}: cannot read it; give a file of records", args.file.display()))?;
    let records = Records::parse(&args.file, &text)?;
    let table = if args.csv { records.csv() } else { records.markdown() };
    progress::write(out, table.as_bytes())?;
    Ok(())
}
