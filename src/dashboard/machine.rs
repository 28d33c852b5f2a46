//! Load of the machine that serves. A figure is missing if the system does not report it.

use serde::Serialize;

/// Figures of this machine for the pages.
#[derive(Debug, Serialize)]
pub(super) struct MachineFigures {
    /// CPUs that this process may use.
    cpus: Option<usize>,
    /// Processes running or waiting, averaged over 1, 5 and 15 minutes.
    load: Option<[f64; 3]>,
    /// Bytes.
    memory: Option<u64>,
    /// Bytes that are free or can be freed.
    available: Option<u64>,
}

impl MachineFigures {
    pub(super) fn now() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let memory = read("/proc/meminfo");
        Self {
            cpus: std::thread::available_parallelism().ok().map(usize::from),
            load: load(&read("/proc/loadavg")),
            memory: kibibytes(&memory, "MemTotal:"),
            available: kibibytes(&memory, "MemAvailable:"),
        }
    }
}

fn load(text: &str) -> Option<[f64; 3]> {
    let mut figures = text.split_ascii_whitespace().map(|word| word.parse().ok());
    Some([figures.next()??, figures.next()??, figures.next()??])
}

fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key))?;
    rest.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_files_are_read() {
        assert_eq!(load("0.52 1.00 2.25 1/300 4242\n"), Some([0.52, 1.0, 2.25]));
        assert_eq!((load(""), load("0.5 x 1")), (None, None));
        let text = "MemTotal:       16 kB\nMemAvailable:    8 kB\n";
        assert_eq!((kibibytes(text, "MemTotal:"), kibibytes(text, "MemAvailable:")), (Some(16_384), Some(8_192)));
        assert_eq!((kibibytes(text, "MemFree:"), kibibytes("MemTotal: x", "MemTotal:")), (None, None));
    }
}
