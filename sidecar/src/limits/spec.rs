//! Limits in words, such as `cpu:50%,memory:64mib`.

use std::fmt;
use std::str::FromStr;

use crate::failure::{Failure, Result};

/// The most percent of one CPU.
const CPU_MOST: u32 = 100_000;
const MEMORY_LEAST: u64 = 1 << 20;
const MEMORY_MOST: u64 = 1 << 44;
/// Units of memory, the largest first.
const UNITS: [(&str, u64); 3] = [("gib", 1 << 30), ("mib", 1 << 20), ("kib", 1 << 10)];

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Percent of one CPU; 200 means two CPUs.
    pub cpu_percent: Option<u32>,
    pub memory_bytes: Option<u64>,
}

impl FromStr for Limits {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self> {
        let mut limits = Self::default();
        for item in text.split(',').map(str::trim) {
            let (name, value) = item.split_once(':').unwrap_or((item, ""));
            let twice = match name {
                "cpu" => limits.cpu_percent.replace(cpu(text, value)?).is_some(),
                "memory" => limits.memory_bytes.replace(memory(text, value)?).is_some(),
                _ => return Err(wrong(text, format!("there is no limit {name:?}"))),
            };
            if twice {
                return Err(wrong(text, format!("{name} is given twice")));
            }
        }
        Ok(limits)
    }
}

fn cpu(text: &str, value: &str) -> Result<u32> {
    let percent = value
        .strip_suffix('%')
        .and_then(|number| number.parse().ok());
    percent
        .filter(|percent| (1..=CPU_MOST).contains(percent))
        .ok_or_else(|| {
            wrong(
                text,
                format!(
                    "cpu:{value} is not a whole number of percent of one CPU, 1% to {CPU_MOST}%"
                ),
            )
        })
}

fn memory(text: &str, value: &str) -> Result<u64> {
    let lower = value.to_ascii_lowercase();
    let bytes = UNITS.iter().find_map(|(unit, size)| {
        let number: u64 = lower.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(*size)
    });
    bytes
        .filter(|bytes| (MEMORY_LEAST..=MEMORY_MOST).contains(bytes))
        .ok_or_else(|| {
            wrong(
                text,
                format!("memory:{value} is not a size such as 64mib or 1gib, 1mib to 16384gib"),
            )
        })
}

fn wrong(text: &str, why: String) -> Failure {
    Failure::invalid(
        format!("limits {text:?}: {why}"),
        "give cpu:PERCENT%, memory:SIZE or both, such as cpu:50%,memory:64mib",
    )
}

/// Bytes in the largest unit that divides them.
pub fn size(bytes: u64) -> String {
    let unit = UNITS.iter().find(|(_, size)| bytes.is_multiple_of(*size));
    unit.map_or_else(
        || format!("{bytes}b"),
        |(unit, size)| format!("{}{unit}", bytes / size),
    )
}

impl fmt::Display for Limits {
    /// Always in the same form, so that equal limits have equal texts.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpu = self.cpu_percent.map(|percent| format!("cpu:{percent}%"));
        let memory = self
            .memory_bytes
            .map(|bytes| format!("memory:{}", size(bytes)));
        let items: Vec<_> = cpu.into_iter().chain(memory).collect();
        out.write_str(&items.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_written_in_one_form() {
        for (text, form) in [
            ("cpu:50%", "cpu:50%"),
            ("memory:64mib", "memory:64mib"),
            ("memory:65536KiB, cpu:150%", "cpu:150%,memory:64mib"),
            ("memory:2GiB", "memory:2gib"),
        ] {
            assert_eq!(text.parse::<Limits>().unwrap().to_string(), form);
        }
    }

    #[test]
    fn wrong_limits_are_one_clear_line() {
        for (text, part) in [
            ("", "there is no limit \"\""),
            ("cpu", "cpu: is not"),
            ("cpu:50", "cpu:50 is not a whole number of percent"),
            ("cpu:0%", "cpu:0% is not"),
            ("cpu:100001%", "1% to 100000%"),
            ("cpu:5.5%", "cpu:5.5% is not"),
            ("memory:64", "memory:64 is not a size such as 64mib"),
            ("memory:64mb", "memory:64mb is not"),
            ("memory:1023kib", "memory:1023kib is not"),
            ("memory:-1mib", "memory:-1mib is not"),
            ("memory:99999999999999999999gib", "is not a size"),
            ("memory:17179869184gib", "is not a size"),
            ("disk:1gib", "there is no limit \"disk\""),
            ("cpu:50%,cpu:60%", "cpu is given twice"),
            ("cpu:50%,", "there is no limit \"\""),
        ] {
            let failure = text.parse::<Limits>().unwrap_err().to_string();
            assert!(failure.contains(part), "{text}: {failure}");
            assert!(
                failure.contains("such as cpu:50%,memory:64mib"),
                "{failure}"
            );
            assert!(!failure.contains('\n'));
        }
    }
}
