//! The measured parts, and the duration and number of measurements.

use clap::ValueEnum;
use serde::Serialize;

/// The total duration: under one minute, five minutes or fifteen minutes on a quiet machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Smoke,
    Quick,
    Full,
}

/// A part of the measurement, which has its own worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Controls of the measurement itself: the same work twice, twice the work, and no work
    Control,
    /// Bandwidth of the memory beyond the caches
    Memory,
    /// AES-128-GCM, AES-256-GCM, ChaCha20-Poly1305
    Aead,
    /// SHA-256, BLAKE3
    Hash,
    /// Domain rules: suffix, keyword, regular expression
    Domain,
    /// Address rules
    Ip,
    /// Country of an address
    Geoip,
    /// Buffers, headers, the state of a connection
    Buffers,
}

shown_as_json!(Section);

impl Section {
    /// Whether the build without CPU extensions measures this part as well.
    pub fn has_portable(self) -> bool {
        matches!(self, Self::Aead | Self::Hash)
    }
}

/// All settings that must be equal to compare two runs. The worker gets them as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    pub rounds: u32,
    pub warm_up_ms: u32,
    pub measure_ms: u32,
    pub samples: u32,
    pub resamples: u32,
    pub rules: Vec<u64>,
    pub most_regexes: u64,
    pub block_bytes: u64,
}

impl Mode {
    pub fn plan(self) -> Plan {
        let (rounds, warm_up_ms, measure_ms, samples, resamples) = match self {
            Self::Smoke => (1, 20, 80, 10, 2000),
            // Many short rounds: from 15 rounds on, two ciphers out of 42 pairs can be distinguished.
            Self::Quick => (16, 10, 35, 10, 2000),
            Self::Full => (24, 25, 90, 20, 5000),
        };
        let smoke = self == Self::Smoke;
        Plan {
            rounds,
            warm_up_ms,
            measure_ms,
            samples,
            resamples,
            rules: if smoke {
                vec![1000, 100_000]
            } else {
                vec![1000, 100_000, 1_000_000]
            },
            most_regexes: if smoke { 1000 } else { 100_000 },
            // Larger than any cache of a single core.
            block_bytes: 256 << 20,
        }
    }
}

/// The sections to run, in order: the requested ones, or all if none was requested. The control section always runs, because the other
/// sections are judged by it.
pub fn sections(only: &[Section]) -> Vec<Section> {
    Section::value_variants()
        .iter()
        .copied()
        .filter(|section| only.is_empty() || only.contains(section) || *section == Section::Control)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_judges_the_others_is_always_run() {
        assert_eq!(sections(&[]).len(), 8);
        assert_eq!(
            sections(&[Section::Hash]),
            [Section::Control, Section::Hash]
        );
    }

    #[test]
    fn a_longer_mode_measures_longer() {
        let total = |mode: Mode| {
            let plan = mode.plan();
            plan.rounds * (plan.warm_up_ms + plan.measure_ms)
        };
        assert!(total(Mode::Smoke) < total(Mode::Quick) && total(Mode::Quick) < total(Mode::Full));
    }
}
