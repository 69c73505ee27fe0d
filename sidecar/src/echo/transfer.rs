//! A bulk transfer, as a probe asks for it and an echo server serves it ([`super::bulk`]).

use serde::{Deserialize, Serialize};

/// The traffic of a throughput probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Transfer {
    /// Bytes per connection and direction.
    #[arg(long, value_name = "N", default_value_t = Self::default().bytes, help = "Bytes per connection and direction")]
    pub bytes: u64,
    /// Bytes per connection and direction of a warm-up. The default is `bytes`.
    #[arg(skip)]
    pub warmup_bytes: Option<u64>,
    /// Bytes of one write.
    #[arg(long, value_name = "N", default_value_t = Self::default().write_bytes, help = "Bytes of one write")]
    pub write_bytes: u64,
    #[arg(long, value_enum, default_value = "up")]
    pub direction: Direction,
    /// Whether every byte is checked, in both directions. Otherwise the receiver checks each KiB's number, and all bytes of one KiB in 16.
    #[arg(skip)]
    pub every_byte: bool,
}

impl Default for Transfer {
    fn default() -> Self {
        Self {
            bytes: 64 << 20,
            warmup_bytes: None,
            write_bytes: 64 << 10,
            direction: Direction::default(),
            every_byte: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    #[default]
    Up = 1,
    Down = 2,
    Both = 3,
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
