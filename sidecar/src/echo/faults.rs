//! What an echo server does wrong on purpose, so that what a probe must report is known.

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};

/// Longest delay, jitter and stall, ms.
const MAX_MS: f64 = 60_000.0;

/// All of them may be given together. Fractions are exact: of each 1,000 datagrams, 1 % is 10,
/// chosen by the seed. Delay, jitter, stall, rate and corruption are for UDP and TCP; loss,
/// duplication, reordering and truncation for UDP only; `tcp` for TCP only.
///
/// On TCP each read of the server counts as one request. A request of up to some 64 KiB that is
/// sent in one write is one read as a rule; larger ones are several. A connection's answers keep
/// their order, whatever the jitter; those of UDP do not.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    pub seed: u64,
    /// Added to each answer, ms.
    pub delay_ms: f64,
    /// Added on top, uniform from 0 to this, ms.
    pub jitter_ms: f64,
    /// Fraction of the datagrams that is not answered.
    pub loss: f64,
    /// Fraction of the answered datagrams that is answered twice.
    pub duplicate: f64,
    /// Fraction of the answered datagrams whose answer is held back until 3 later ones are sent, or
    /// for 50 ms.
    pub reorder: f64,
    pub stall: Option<Stall>,
    /// Payload in all, of all connections and datagrams together.
    pub rate_bytes_per_s: Option<u64>,
    /// Fraction of the answers with one wrong byte.
    pub corrupt: f64,
    /// Answers with datagrams are cut to this size, bytes.
    pub truncate: Option<usize>,
    pub tcp: TcpFaults,
}

/// All answers are held for `ms`, once, after `after` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    pub after: u64,
    pub ms: u64,
}

/// What happens in place of the answer after so many answers on one connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TcpFaults {
    /// Reads everything and never answers.
    pub silent: bool,
    pub reset_after: Option<u64>,
    pub close_after: Option<u64>,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            seed: 1,
            delay_ms: 0.0,
            jitter_ms: 0.0,
            loss: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            stall: None,
            rate_bytes_per_s: None,
            corrupt: 0.0,
            truncate: None,
            tcp: TcpFaults::default(),
        }
    }
}

impl Faults {
    pub fn check(&self) -> Result<()> {
        for (name, value) in [("delay_ms", self.delay_ms), ("jitter_ms", self.jitter_ms)] {
            bound(name, value, MAX_MS)?;
        }
        for (name, value) in [
            ("loss", self.loss),
            ("duplicate", self.duplicate),
            ("reorder", self.reorder),
            ("corrupt", self.corrupt),
        ] {
            bound(name, value, 1.0)?;
        }
        if let Some(stall) = self.stall {
            bound("stall.ms", stall.ms as f64, MAX_MS)?;
        }
        if self.rate_bytes_per_s == Some(0) {
            return Err(Failure::invalid(
                "faults.rate_bytes_per_s is 0",
                "give at least 1, or leave it out",
            ));
        }
        Ok(())
    }
}

fn bound(name: &str, value: f64, most: f64) -> Result<()> {
    if (0.0..=most).contains(&value) {
        return Ok(());
    }
    Err(Failure::invalid(
        format!("faults.{name} is {value}, not from 0 to {most}"),
        format!("give 0 to {most}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_out_of_bounds_are_named() {
        for (text, name) in [
            (r#"{"loss": 1.5}"#, "faults.loss"),
            (r#"{"delay_ms": -1}"#, "faults.delay_ms"),
            (r#"{"rate_bytes_per_s": 0}"#, "faults.rate_bytes_per_s"),
            (
                r#"{"stall": {"after": 0, "ms": 3600000}}"#,
                "faults.stall.ms",
            ),
        ] {
            let faults: Faults = serde_json::from_str(text).unwrap();
            let failure = faults.check().unwrap_err();
            assert!(failure.error.starts_with(name), "{failure}");
        }
    }

    #[test]
    fn no_faults_are_right_and_unknown_ones_are_refused() {
        Faults::default().check().unwrap();
        assert_eq!(
            serde_json::from_str::<Faults>("{}").unwrap(),
            Faults::default()
        );
        assert!(serde_json::from_str::<Faults>(r#"{"lost": 0.1}"#).is_err());
    }
}
