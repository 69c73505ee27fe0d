//! Numbers for people.

const UNITS: [(&str, f64); 3] = [
    ("GiB/s", 1_073_741_824.0),
    ("MiB/s", 1_048_576.0),
    ("KiB/s", 1024.0),
];

/// Three significant digits.
pub fn digits(value: f64) -> String {
    match value {
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

/// Such as `2.06 µs`.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// Such as `29.6 MiB/s`.
pub fn throughput(bytes_per_s: f64) -> String {
    let (unit, scale) = UNITS
        .into_iter()
        .find(|(_, scale)| bytes_per_s >= *scale)
        .unwrap_or(("B/s", 1.0));
    format!("{} {unit}", digits(bytes_per_s / scale))
}

/// Such as `64 KiB`; `1460 B` where it is no whole number of them.
pub fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        bytes if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => format!("{} KiB", bytes >> 10),
        bytes => format!("{bytes} B"),
    }
}

/// Such as `1,000,000`.
pub fn count(number: u64) -> String {
    let text = number.to_string();
    let mut out = String::new();
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && (text.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        assert_eq!(time(0.322), "0.32 ns");
        assert_eq!(time(2060.0), "2.06 µs");
        assert_eq!(time(775_000.0), "775 µs");
        assert_eq!(time(12_345_678.0), "12.3 ms");
        assert_eq!(throughput(29.6 * 1_048_576.0), "29.6 MiB/s");
        assert_eq!(throughput(7.31 * 1_073_741_824.0), "7.31 GiB/s");
        assert_eq!(size(1460), "1460 B");
        assert_eq!(size(64 << 10), "64 KiB");
        assert_eq!(size(1 << 20), "1 MiB");
        assert_eq!(count(1_000_000), "1,000,000");
        assert_eq!(count(64), "64");
    }
}
