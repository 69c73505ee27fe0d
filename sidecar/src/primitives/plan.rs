//! What is measured, how long and how often.

use clap::ValueEnum;
use serde::Serialize;

/// How long it all takes: under one minute, five and fifteen on a quiet machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    Smoke,
    Quick,
    Full,
}

/// A part of the measurement, which has a worker to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// The same work twice, twice the work, and none: is the measurement itself sound?
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

impl Section {
    pub fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Memory => "memory",
            Self::Aead => "aead",
            Self::Hash => "hash",
            Self::Domain => "domain",
            Self::Ip => "ip",
            Self::Geoip => "geoip",
            Self::Buffers => "buffers",
        }
    }

    /// The build without CPU extensions measures these, too.
    pub fn has_portable(self) -> bool {
        matches!(self, Self::Aead | Self::Hash)
    }
}

/// All that makes two runs comparable.
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
            // Many short rounds: two ciphers of 42 pairs are told apart from 15 rounds on.
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
            // No core has a cache of that size to itself.
            block_bytes: 256 << 20,
        }
    }
}

impl Plan {
    /// As the worker's options.
    pub fn options(&self) -> Vec<String> {
        let rules: Vec<String> = self.rules.iter().map(u64::to_string).collect();
        [
            ("--rounds", self.rounds.to_string()),
            ("--warm-up-ms", self.warm_up_ms.to_string()),
            ("--measure-ms", self.measure_ms.to_string()),
            ("--samples", self.samples.to_string()),
            ("--resamples", self.resamples.to_string()),
            ("--rules", rules.join(",")),
            ("--most-regexes", self.most_regexes.to_string()),
            ("--block-bytes", self.block_bytes.to_string()),
        ]
        .into_iter()
        .flat_map(|(name, value)| [name.to_owned(), value])
        .collect()
    }
}

/// The sections to run, in order: those that were asked for, all where none was, and always the one by which the others
/// are judged.
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
