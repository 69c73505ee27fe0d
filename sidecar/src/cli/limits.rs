//! `sidecar limits`.

use clap::Args;

use super::say;
use crate::failure::Result;
use crate::limits::group::Group;
use crate::limits::spec::Limits;
use crate::limits::stale;

#[derive(Args)]
pub struct Check {
    /// Such as cpu:50%,memory:64mib
    limits: String,
}

impl Check {
    /// Makes a control group and removes it. Exit code 2 means that the text is wrong, and 4 that this machine or user cannot set limits.
    pub fn run(self) -> Result<u8> {
        let limits: Limits = self.limits.parse()?;
        stale::clear();
        Group::make(limits)?.remove();
        say(limits);
        Ok(0)
    }
}
