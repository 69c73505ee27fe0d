//! What machine this is.

use procfs::{CpuInfo, Current, Meminfo};
use serde::Serialize;

/// The fields of `run.host` in a result.
#[derive(Debug, Clone, Serialize)]
pub struct Host {
    pub os: String,
    pub kernel: String,
    pub cpu_model: String,
    pub cpus: usize,
    pub memory_bytes: u64,
}

pub fn host() -> Host {
    Host {
        os: os().unwrap_or_else(|| "Linux".to_owned()),
        kernel: nix::sys::utsname::uname()
            .map(|names| names.release().to_string_lossy().into_owned())
            .unwrap_or_default(),
        cpu_model: CpuInfo::current()
            .ok()
            .and_then(|cpu| cpu.model_name(0).map(str::to_owned))
            .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cpus: cpus(),
        memory_bytes: Meminfo::current().map_or(0, |memory| memory.mem_total),
    }
}

/// Cores that are online.
pub fn cpus() -> usize {
    nix::unistd::sysconf(nix::unistd::SysconfVar::_NPROCESSORS_ONLN)
        .ok()
        .flatten()
        .and_then(|cpus| usize::try_from(cpus).ok())
        .unwrap_or(1)
        .max(1)
}

fn os() -> Option<String> {
    let text = std::fs::read_to_string("/etc/os-release").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"').to_owned())
}
