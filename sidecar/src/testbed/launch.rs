//! The start of a testbed as it was asked for.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalogue::Testbed;
use super::hop::{Over, Place};
use super::log_folder;
use super::variables::Values;
use crate::failure::Result;
use crate::limits::ledger::Ledger;
use crate::limits::spec::Limits;

/// The wishes of a start's caller.
#[derive(Debug, Default)]
pub struct Asked {
    pub variables: Values,
    pub over: Over,
    /// Limits of this start alone.
    pub limits: Option<Limits>,
    /// The name of the folder of the instance's logs; the default is its id.
    pub log_name: Option<String>,
}

pub struct Launch<'a> {
    pub testbed: &'a Testbed,
    /// The place of the instance's hop.
    pub place: Place,
    /// Limits of this start alone.
    pub limits: Option<Limits>,
    pub ledger: Arc<Ledger>,
    pub root: &'a Path,
    pub id: String,
    /// The log folder of all instances, and the name of this instance's folder in it.
    pub logs: &'a Path,
    pub log_name: &'a str,
    /// The instance's folder, once it exists. A second attempt keeps it.
    pub log_dir: OnceCell<PathBuf>,
    pub cancelled: &'a dyn Fn() -> bool,
    pub reserve_ports: &'a dyn Fn(usize) -> std::io::Result<Vec<u16>>,
}

impl Launch<'_> {
    /// Makes the log folder, unless it exists.
    pub fn log_dir(&self) -> Result<&Path> {
        if let Some(folder) = self.log_dir.get() {
            return Ok(folder);
        }
        let folder = log_folder::make(self.logs, self.log_name)?;
        Ok(self.log_dir.get_or_init(|| folder))
    }
}
