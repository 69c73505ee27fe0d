//! `sidecar bench primitives`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::up::Interrupts;
use super::{Place, say};
use crate::failure::{Failure, Result};
use crate::primitives::{self, Mode, Section, Workers};
use crate::process::cpus;
use crate::testbed::catalogue::Catalogue;

#[derive(Args)]
pub struct Primitives {
    /// Duration: under 1, 5 and 15 minutes on a quiet machine
    #[arg(long, value_enum, default_value = "quick")]
    mode: Mode,
    /// Measure only these parts
    #[arg(long, value_name = "PART,…", value_enum, value_delimiter = ',')]
    only: Vec<Section>,
    /// The CPU to measure on [default: the last allowed CPU]
    #[arg(long, value_name = "N")]
    cpu: Option<usize>,
    /// Write primitives.json into this folder instead of standard output (k6/schemas/primitives.schema.json)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

impl Primitives {
    pub fn run(self) -> Result<u8> {
        let cpu = choose(self.cpu)?;
        let root = Catalogue::find(self.place.root)
            .ok()
            .map(|catalogue| catalogue.root);
        let workers = Workers::find(root.as_deref())?;
        if let Some(out) = &self.out {
            std::fs::create_dir_all(out).map_err(|error| unwritable(out, &error))?;
        }
        let interrupts = Interrupts::listen()?;
        let say_part = |what: &str| eprintln!("sidecar: {what}");
        let report = primitives::run(
            &workers,
            self.mode,
            &self.only,
            cpu,
            &interrupts.arrived,
            say_part,
        )?;
        let json = serde_json::to_string_pretty(&report).unwrap_or_default();
        match &self.out {
            Some(out) => {
                let path = out.join("primitives.json");
                std::fs::write(&path, json + "\n").map_err(|error| unwritable(&path, &error))?;
            }
            None => say(json),
        }
        Ok(0)
    }
}

fn choose(cpu: Option<usize>) -> Result<usize> {
    cpus::check("--cpu", &cpu)?;
    let last = cpus::allowed()?.last().copied();
    Ok(cpu.or(last).unwrap_or_default())
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::invalid(
        format!("--out: {}: {error}", path.display()),
        "name a folder that can be written",
    )
}
