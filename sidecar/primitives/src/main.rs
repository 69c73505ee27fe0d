//! Measures one section of the primitives with Criterion, and writes the results as JSON.
//!
//! `sidecar bench primitives` starts this program once per section. It also starts a second build without CPU extensions in its
//! cryptography, for the rows "portable". Known answers are checked before the measurements.

#![forbid(unsafe_code)]

mod aead;
mod bench;
mod buffers;
mod clock;
mod control;
mod features;
mod hash;
mod matching;
mod memory;
mod versions;

use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use bench::{Plan, Report};

#[cfg(all(
    feature = "portable",
    not(all(
        aes_backend = "soft",
        chacha20_backend = "soft",
        poly1305_backend = "soft",
        polyval_backend = "soft",
        sha2_backend = "soft"
    ))
))]
compile_error!(
    "the portable build needs its --cfg flags: make bin/primitives-portable, without RUSTFLAGS"
);

/// True in the build without CPU extensions in its cryptography.
pub const PORTABLE: bool = cfg!(feature = "portable");

/// Sizes of messages in bytes, as in the reference document: control packet, request, full TCP segment, TLS record, and bulk data.
pub const SIZES: [usize; 7] = [64, 512, 1460, 16 << 10, 64 << 10, 256 << 10, 1 << 20];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Section {
    Control,
    Memory,
    Aead,
    Hash,
    Domain,
    Ip,
    Geoip,
    Buffers,
}

#[derive(Parser)]
#[command(
    name = "primitives",
    version,
    about = "Measures one section; `sidecar bench primitives` runs all of them and prints the tables."
)]
struct Arguments {
    /// The section to measure
    #[arg(long)]
    section: Section,
    /// An empty folder for Criterion's files and, at the end, report.json
    #[arg(long, value_name = "DIR")]
    work: PathBuf,
    /// The plan as JSON
    #[arg(long, value_name = "JSON")]
    plan: Plan,
}

/// An error message of one line.
#[derive(Debug)]
pub struct Error(pub String);

impl Error {
    pub fn new(what: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    let plan = &arguments.plan;
    let suite = match arguments.section {
        Section::Control => control::suite(),
        Section::Memory => memory::suite(plan.block_bytes),
        Section::Aead => aead::suite()?,
        Section::Hash => hash::suite()?,
        Section::Domain => matching::domain::suite(&plan.rules, plan.most_regexes)?,
        Section::Ip => matching::ip::suite(&plan.rules)?,
        Section::Geoip => matching::geoip::suite(&plan.rules)?,
        Section::Buffers => buffers::suite(),
    };
    let report = bench::measure(suite, plan, &arguments.work)?;
    write(&report, &arguments.work.join("report.json"))
}

fn write(report: &Report, path: &std::path::Path) -> Result<(), Error> {
    let text = serde_json::to_vec(report).map_err(|error| Error::new("report", error))?;
    std::fs::write(path, text).map_err(|error| Error::new(path.display(), error))
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("primitives: {error}");
            ExitCode::FAILURE
        }
    }
}
