//! The processor, as Linux describes it in `/proc/cpuinfo`. Other systems tell the architecture.

use std::env::consts::ARCH;

// 64-bit ARM has these in place of a model.
const IMPLEMENTER: &str = "CPU implementer";
const VARIANT: &str = "CPU variant";
const PART: &str = "CPU part";

/// Name of the processor for people; machines of one name play alike under a clock.
pub(crate) fn processor() -> String {
    name_of(&cpu_info())
}

/// Description of the processor for a build. A program built for "this CPU" may not run on another
/// machine that shares the cache.
pub(crate) fn processor_features() -> String {
    features_of(&cpu_info())
}

fn cpu_info() -> String {
    std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

/// The first line of a key.
fn line<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find(|line| line.starts_with(key))
}

fn name_of(text: &str) -> String {
    let value = |key: &str| Some(line(text, key)?.split_once(':')?.1.trim());
    let number = |key: &str, word: &str| Some(format!(", {word} {}", value(key)?));
    let numbers = || {
        let numbers = [(IMPLEMENTER, "implementer"), (PART, "part"), (VARIANT, "variant")];
        numbers.into_iter().filter_map(|(key, word)| number(key, word)).collect::<String>()
    };
    value("model name").map_or_else(|| format!("{ARCH}{}", numbers()), str::to_owned)
}

fn features_of(text: &str) -> String {
    line(text, "model name").map_or_else(
        || {
            let keys = [IMPLEMENTER, VARIANT, PART, "Features"];
            keys.iter().filter_map(|key| line(text, key)).collect::<Vec<_>>().join("; ")
        },
        str::to_owned,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arm_processors_are_told_apart() {
        let of = |part: &str| {
            format!(
                "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\n\
                 CPU variant\t: 0x3\nCPU part\t: {part}\n\nprocessor\t: 1\nCPU part\t: 0xfff\n"
            )
        };
        assert_eq!(
            features_of(&of("0xd0c")),
            "CPU implementer\t: 0x41; CPU variant\t: 0x3; CPU part\t: 0xd0c; Features\t: fp asimd"
        );
        assert_ne!(features_of(&of("0xd0c")), features_of(&of("0xd49")));
        assert_eq!(name_of(&of("0xd0c")), format!("{ARCH}, implementer 0x41, part 0xd0c, variant 0x3"));
        let named = "model name\t: A\nmodel name\t: B\n";
        assert_eq!([name_of(named), features_of(named)], ["A", "model name\t: A"]);
        assert_eq!([name_of(""), features_of("")], [ARCH, ""]);
    }
}
