//! Numbers in the files of control groups.

use std::ops::{AddAssign, Sub};
use std::path::Path;

use serde::Serialize;

use super::hierarchy::Version;

/// How often a quota stopped a group's processes. A group's period is 100 ms unless another program has set it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Throttled {
    /// Periods in which the processes used CPU time.
    pub periods: u64,
    pub throttled_periods: u64,
    /// Time for which the quota stopped threads, summed over CPUs, seconds.
    pub throttled_s: f64,
}

impl AddAssign for Throttled {
    fn add_assign(&mut self, other: Self) {
        self.periods += other.periods;
        self.throttled_periods += other.throttled_periods;
        self.throttled_s += other.throttled_s;
    }
}

impl Sub for Throttled {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            periods: self.periods.saturating_sub(before.periods),
            throttled_periods: self
                .throttled_periods
                .saturating_sub(before.throttled_periods),
            throttled_s: (self.throttled_s - before.throttled_s).max(0.0),
        }
    }
}

/// The number after a word in lines of the form `WORD NUMBER`.
pub fn after(text: &str, word: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        (name == word).then(|| value.trim().parse().ok())?
    })
}

/// A file that has one number; `None` for `max` and if it cannot be read.
pub fn number(folder: &Path, file: &str) -> Option<u64> {
    let text = std::fs::read_to_string(folder.join(file)).ok()?;
    text.trim().parse().ok()
}

/// `None` if the group cannot be read. A group without a quota has no throttled periods.
pub fn throttled(folder: &Path) -> Option<Throttled> {
    let text = std::fs::read_to_string(folder.join("cpu.stat")).ok()?;
    let seconds = match after(&text, "throttled_usec") {
        Some(microseconds) => microseconds as f64 / 1e6,
        None => after(&text, "throttled_time").unwrap_or(0) as f64 / 1e9,
    };
    Some(Throttled {
        periods: after(&text, "nr_periods").unwrap_or(0),
        throttled_periods: after(&text, "nr_throttled").unwrap_or(0),
        throttled_s: seconds,
    })
}

/// A group's quota in percent of one CPU.
pub fn quota(version: Version, folder: &Path) -> Option<f64> {
    let (quota, period) = match version {
        Version::One => (
            number(folder, "cpu.cfs_quota_us")?, // -1 without a quota
            number(folder, "cpu.cfs_period_us")?,
        ),
        Version::Two => {
            let text = std::fs::read_to_string(folder.join("cpu.max")).ok()?;
            let (quota, period) = text.trim().split_once(' ')?;
            (quota.parse().ok()?, period.parse().ok()?)
        }
    };
    (period > 0).then(|| quota as f64 / period as f64 * 100.0)
}

/// From this on, a limit of version 1 means none.
const UNLIMITED: u64 = 1 << 60;

/// A group's limit of memory, bytes.
pub fn memory(version: Version, folder: &Path) -> Option<u64> {
    let file = version.of("memory.limit_in_bytes", "memory.max");
    number(folder, file).filter(|bytes| *bytes < UNLIMITED)
}

/// The most memory that a group has used, bytes; `None` if unknown, as with version 2 on Linux before 5.19.
pub fn peak(version: Version, folder: &Path) -> Option<u64> {
    let file = version.of("memory.max_usage_in_bytes", "memory.peak");
    number(folder, file)
}

/// How many processes of a group the kernel has killed for memory.
pub fn killed(version: Version, folder: &Path) -> Option<u64> {
    let file = version.of("memory.oom_control", "memory.events");
    let text = std::fs::read_to_string(folder.join(file)).ok()?;
    after(&text, "oom_kill")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    #[test]
    fn version_1_is_read() {
        let group = folder(&[
            (
                "cpu.stat",
                "nr_periods 40\nnr_throttled 7\nthrottled_time 1500000000\nnr_bursts 0\n",
            ),
            ("cpu.cfs_quota_us", "60000\n"),
            ("cpu.cfs_period_us", "100000\n"),
            ("memory.limit_in_bytes", "67108864\n"),
            ("memory.max_usage_in_bytes", "1048576\n"),
            (
                "memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
            ),
        ]);
        let expected = Throttled {
            periods: 40,
            throttled_periods: 7,
            throttled_s: 1.5,
        };
        assert_eq!(throttled(group.path()), Some(expected));
        assert_eq!(quota(Version::One, group.path()), Some(60.0));
        assert_eq!(memory(Version::One, group.path()), Some(64 << 20));
        assert_eq!(peak(Version::One, group.path()), Some(1 << 20));
        assert_eq!(killed(Version::One, group.path()), Some(2));
    }

    #[test]
    fn version_2_is_read() {
        let group = folder(&[
            (
                "cpu.stat",
                "usage_usec 9\nnr_periods 4\nnr_throttled 3\nthrottled_usec 250000\n",
            ),
            ("cpu.max", "150000 100000\n"),
            ("memory.max", "67108864\n"),
            ("memory.events", "low 0\nmax 9\noom 2\noom_kill 1\n"),
        ]);
        assert_eq!(throttled(group.path()).unwrap().throttled_s, 0.25);
        assert_eq!(quota(Version::Two, group.path()), Some(150.0));
        assert_eq!(memory(Version::Two, group.path()), Some(64 << 20));
        assert_eq!(peak(Version::Two, group.path()), None);
        assert_eq!(killed(Version::Two, group.path()), Some(1));
    }

    #[test]
    fn no_limit_is_none() {
        let one = folder(&[
            ("cpu.cfs_quota_us", "-1\n"),
            ("cpu.cfs_period_us", "100000\n"),
            ("memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        let two = folder(&[("cpu.max", "max 100000\n"), ("memory.max", "max\n")]);
        for (version, group) in [(Version::One, &one), (Version::Two, &two)] {
            assert_eq!(quota(version, group.path()), None);
            assert_eq!(memory(version, group.path()), None);
        }
    }
}
