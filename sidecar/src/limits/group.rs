//! A control group of our own, for the processes of one system under test.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::hierarchy::{self, Version};
use super::names;
use super::numbers::{self, Throttled};
use super::spec::{Limits, size};
use crate::failure::{Failure, Result};
use crate::lock::lock;

/// The period of a quota, µs.
const PERIOD_US: u64 = 100_000;
/// Processes that ended leave their group a little later.
const REMOVE_PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
struct Folder {
    version: Version,
    path: PathBuf,
}

/// Effects of a group's limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Effects {
    #[serde(flatten)]
    pub throttled: Throttled,
    /// The most memory of the group; null if unknown, or without a limit of memory.
    pub peak_memory_bytes: Option<u64>,
    /// Processes that the kernel killed for memory; null if unknown, or without a limit of memory.
    pub killed: Option<u64>,
}

/// Limits and their effects, as in JSON.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Limited {
    pub text: String,
    pub cpu_percent: Option<u32>,
    pub memory_bytes: Option<u64>,
    #[serde(flatten)]
    pub effects: Effects,
}

impl Limited {
    pub fn new(limits: Limits, effects: Effects) -> Self {
        Self {
            text: limits.to_string(),
            cpu_percent: limits.cpu_percent,
            memory_bytes: limits.memory_bytes,
            effects,
        }
    }
}

#[derive(Debug)]
pub struct Group {
    pub limits: Limits,
    cpu: Option<Folder>,
    memory: Option<Folder>,
    /// The effects at the group's end.
    ended: Mutex<Option<Effects>>,
}

impl Group {
    /// Makes a group with these limits. Without the rights, the failure names the remedy.
    pub fn make(limits: Limits) -> Result<Arc<Self>> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = names::name(NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut group = Self {
            limits,
            cpu: None,
            memory: None,
            ended: Mutex::default(),
        };
        let both = limits.cpu_percent.is_some() && limits.memory_bytes.is_some();
        let wanted: &[&str] = if both { &["cpu", "memory"] } else { &[] };
        // Both are found before anything is made: a controller that one group gets is then offered to groups below, too.
        let [for_cpu, for_memory] =
            ["cpu", "memory"].map(|controller| hierarchy::candidates(controller, wanted));
        // A group that fails half-way is removed when it is dropped.
        if let Some(percent) = limits.cpu_percent {
            let quota = u64::from(percent) * PERIOD_US / 100;
            let limit = |folder: &Folder| folder.limit_cpu(quota);
            group.cpu = Some(make("cpu", for_cpu, &name, &limit)?);
        }
        if let Some(bytes) = limits.memory_bytes {
            let limit = |folder: &Folder| folder.limit_memory(bytes);
            group.memory = Some(make("memory", for_memory, &name, &limit)?);
        }
        Ok(Arc::new(group))
    }

    /// The folders that a process must join.
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<_> = self.both().map(|folder| folder.path.clone()).collect();
        folders.dedup();
        folders
    }

    fn both(&self) -> impl Iterator<Item = &Folder> {
        self.cpu.iter().chain(&self.memory)
    }

    /// Up to now, or up to the group's end.
    pub fn effects(&self) -> Effects {
        lock(&self.ended).unwrap_or_else(|| self.read())
    }

    fn read(&self) -> Effects {
        let throttled = |folder: &Folder| numbers::throttled(&folder.path);
        let mut effects = Effects {
            throttled: self.cpu.as_ref().and_then(throttled).unwrap_or_default(),
            ..Effects::default()
        };
        if let Some(Folder { version, path }) = &self.memory {
            effects.peak_memory_bytes = numbers::peak(*version, path);
            effects.killed = numbers::killed(*version, path);
        }
        effects
    }

    pub fn limited(&self) -> Limited {
        Limited::new(self.limits, self.effects())
    }

    /// In words how often the kernel killed a process of the group for memory; `None` if it killed none.
    pub fn killing(&self) -> Option<String> {
        let times = self.effects().killed.filter(|times| *times > 0)?;
        let plural = if times == 1 { "" } else { "s" };
        let limit = size(self.limits.memory_bytes?);
        Some(format!(
            "killed for memory {times} time{plural}: the limit is {limit}"
        ))
    }

    /// Keeps the effects, and removes the group, whose processes have ended.
    pub fn remove(&self) {
        lock(&self.ended).get_or_insert_with(|| self.read());
        for folder in self.folders() {
            remove(&folder, REMOVE_PATIENCE);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Removes a group's folder, once its last process is gone; false if that does not happen in time.
pub fn remove(folder: &Path, patience: Duration) -> bool {
    let until = Instant::now() + patience;
    loop {
        match std::fs::remove_dir(folder) {
            Ok(()) => return true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return true,
            Err(_) if Instant::now() >= until => return false,
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Makes a group for a controller in the first folder that allows it.
fn make(
    controller: &str,
    candidates: Vec<(Version, PathBuf)>,
    name: &str,
    limit: &dyn Fn(&Folder) -> io::Result<()>,
) -> Result<Folder> {
    let mut why = format!(
        "no control group of this process has the controller {controller}, and no processes outside of subgroups"
    );
    for (version, parent) in candidates {
        let folder = Folder {
            version,
            path: parent.join(name),
        };
        let made = folder
            .make_in(&parent, controller)
            .and_then(|()| limit(&folder));
        match made {
            Ok(()) => return Ok(folder),
            Err(error) => {
                why = format!("{}: {error}", folder.path.display());
                let _ = std::fs::remove_dir(&folder.path);
            }
        }
    }
    Err(Failure::setup(
        format!("limits of {controller} cannot be set: {why}"),
        "run as root where /sys/fs/cgroup is writable, or by `systemd-run --user --scope -p Delegate=yes`, or leave LIMITS out",
    ))
}

impl Folder {
    fn make_in(&self, parent: &Path, controller: &str) -> io::Result<()> {
        if self.version == Version::Two {
            let subtree = parent.join("cgroup.subtree_control");
            let has = std::fs::read_to_string(&subtree)?;
            if !has.split_whitespace().any(|name| name == controller) {
                std::fs::write(&subtree, format!("+{controller}"))?;
            }
        }
        match std::fs::create_dir(&self.path) {
            // Version 2 has one folder for both controllers.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    fn write(&self, file: &str, value: impl std::fmt::Display) -> io::Result<()> {
        std::fs::write(self.path.join(file), value.to_string())
    }

    fn limit_cpu(&self, quota: u64) -> io::Result<()> {
        match self.version {
            Version::One => {
                self.write("cpu.cfs_period_us", PERIOD_US)?;
                self.write("cpu.cfs_quota_us", quota)
            }
            Version::Two => self.write("cpu.max", format_args!("{quota} {PERIOD_US}")),
        }
    }

    /// Also keeps the group out of swap, which would hide a lack of memory. A kernel without swap accounting has no such file.
    fn limit_memory(&self, bytes: u64) -> io::Result<()> {
        let limit = self.version.of("memory.limit_in_bytes", "memory.max");
        self.write(limit, bytes)?;
        // Version 1 limits memory and swap together.
        let (swap, most) = match self.version {
            Version::One => ("memory.memsw.limit_in_bytes", bytes),
            Version::Two => ("memory.swap.max", 0),
        };
        if self.path.join(swap).exists() {
            self.write(swap, most)?;
        }
        Ok(())
    }
}

/// Moves this process into groups. Only single-threaded callers move as a whole in version 1.
pub fn join<'a>(folders: impl IntoIterator<Item = &'a Path>) -> io::Result<()> {
    folders.into_iter().try_for_each(|folder| {
        std::fs::write(folder.join("cgroup.procs"), std::process::id().to_string())
    })
}
