//! A bulk transfer, as a probe asks for it and an echo server serves it ([`super::bulk`]).

use serde::{Deserialize, Serialize};

/// The traffic of a throughput probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// Bytes per connection and direction.
    #[serde(default = "transfer_bytes")]
    pub bytes: u64,
    /// Bytes per connection and direction of a warm-up. The default is `bytes`.
    #[serde(default)]
    pub warmup_bytes: Option<u64>,
    /// Bytes of one write.
    #[serde(default = "write_bytes")]
    pub write_bytes: u64,
    #[serde(default)]
    pub direction: Direction,
    /// Whether every byte is checked, in both directions. Otherwise the receiver checks each KiB's number, and all bytes of one KiB in 16.
    #[serde(default)]
    pub every_byte: bool,
}

impl Default for Transfer {
    fn default() -> Self {
        Self {
            bytes: transfer_bytes(),
            warmup_bytes: None,
            write_bytes: write_bytes(),
            direction: Direction::default(),
            every_byte: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    #[default]
    Up,
    Down,
    Both,
}

impl Direction {
    pub fn up(self) -> bool {
        self != Self::Down
    }

    pub fn down(self) -> bool {
        self != Self::Up
    }

    pub fn count(self) -> usize {
        1 + usize::from(self == Self::Both)
    }
}

fn transfer_bytes() -> u64 {
    64 << 20
}

fn write_bytes() -> u64 {
    64 << 10
}
