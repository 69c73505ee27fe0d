//! Deliberate faults of an echo server, for tests that know what a probe must report.

use serde::{Deserialize, Serialize};

use crate::failure::{Result, refuse};

/// Longest delay, jitter and stall, ms.
const MAX_MS: f64 = 60_000.0;

/// All faults may be combined. Fractions are exact: 1 % of each 1,000 datagrams is 10, chosen by the seed. Delay, jitter, stall, rate and
/// corruption apply to UDP and TCP. Loss, duplication, reordering and truncation apply to UDP only, and `tcp` to TCP only.
///
/// On TCP, each read of the server counts as one request. A request of up to about 64 KiB that is sent in one write is normally one read;
/// larger requests are several. The answers of a connection keep their order despite jitter; answers over UDP may not.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
#[command(next_help_heading = "Faults")]
pub struct Faults {
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Added to each answer, ms.
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    pub delay_ms: f64,
    /// Added to the delay of each answer: uniform from 0 to this, ms.
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    pub jitter_ms: f64,
    /// Fraction of datagrams without an answer.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    pub loss: f64,
    /// Fraction of answered datagrams that get two answers.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    pub duplicate: f64,
    /// Fraction of answered datagrams whose answer is held back until 3 later answers are sent, or for 50 ms.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    pub reorder: f64,
    #[arg(skip)]
    pub stall: Option<Stall>,
    /// Limit of the payload of all connections and datagrams together, bytes per second.
    #[arg(long = "rate", value_name = "BYTES")]
    pub rate_bytes_per_s: Option<u64>,
    /// Fraction of answers with one wrong byte.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    pub corrupt: f64,
    /// Answers over UDP are cut to this size, bytes.
    #[arg(long, value_name = "BYTES")]
    pub truncate: Option<usize>,
    #[command(flatten)]
    pub tcp: TcpFaults,
}

/// After `after` answers, all answers are held once for `ms` milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    pub after: u64,
    pub ms: u64,
}

/// The last bytes of a connection whose far end answers the client's end.
pub const FAREWELL: &[u8; 8] = b"farewell";

/// An action instead of an answer, after a number of answers on one connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct TcpFaults {
    /// TCP: reads everything and never answers.
    #[arg(long)]
    pub silent: bool,
    /// TCP: resets a connection after this number of answers.
    #[arg(long, value_name = "N")]
    pub reset_after: Option<u64>,
    /// TCP: ends a connection after this number of answers.
    #[arg(long, value_name = "N")]
    pub close_after: Option<u64>,
    /// Answers the client's end (FIN) with [`FAREWELL`] before it closes.
    #[arg(skip)]
    pub farewell: bool,
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
        refuse(
            self.rate_bytes_per_s == Some(0),
            "faults.rate_bytes_per_s is 0",
            "give at least 1, or leave it out",
        )
    }
}

fn bound(name: &str, value: f64, most: f64) -> Result<()> {
    refuse(
        !(0.0..=most).contains(&value),
        &format!("faults.{name} is {value}, not from 0 to {most}"),
        &format!("give 0 to {most}"),
    )
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
