//! `sidecar sample`.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use clap::Args;

use super::up::Interrupts;
use super::{say, table};
use crate::failure::{Failure, Result};
use crate::limits::ledger::Ledger;
use crate::process::role::Role;
use crate::process::usage::Source;
use crate::process::windows::{Manner, Windows};

const LOOK_EVERY: Duration = Duration::from_millis(50);

#[derive(Args)]
pub struct Sample {
    /// The process; its threads and descendants are included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    pid: i32,
    /// Stop after this many seconds [default: when the process ends, or Ctrl-C]
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Sample {
    pub fn run(self) -> Result<u8> {
        let limit = match self.seconds.map(Duration::try_from_secs_f64) {
            None => None,
            Some(Ok(limit)) if !limit.is_zero() => Some(limit),
            Some(_) => {
                return Err(Failure::invalid(
                    "--seconds is not a time",
                    "give a number above 0",
                ));
            }
        };
        let source = Source::pid("--pid", self.pid)?;
        let interrupts = Interrupts::listen()?;
        let windows = Windows::new(Ledger::new(None));
        let began = Instant::now();
        let what = (format!("pid {}", self.pid), Role::System, source.clone());
        let window = windows.open(vec![what], Manner::PEAKS)?;
        while source.exit().is_none() {
            let left = limit.map_or(LOOK_EVERY, |limit| {
                limit.saturating_sub(began.elapsed()).min(LOOK_EVERY)
            });
            if left.is_zero()
                || !matches!(
                    interrupts.arrived.recv_timeout(left),
                    Err(RecvTimeoutError::Timeout)
                )
            {
                break;
            }
        }
        let usage = windows.close(&window)?;
        if self.json {
            say(serde_json::to_string(&usage).unwrap_or_default());
        } else {
            say(table::usage(&usage).trim_end());
        }
        Ok(0)
    }
}
