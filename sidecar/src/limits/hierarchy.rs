//! The folders of control groups: which group a process is in, and where this process may make others.

use std::path::{Path, PathBuf};

use procfs::ProcessCGroup;
use procfs::process::{MountInfo, Process};

/// A controller has the version of its hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    One,
    Two,
}

impl Version {
    /// Picks the value for this version.
    pub fn of<T>(self, one: T, two: T) -> T {
        match self {
            Self::One => one,
            Self::Two => two,
        }
    }
}

/// A process's group in one hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Own {
    pub version: Version,
    pub folder: PathBuf,
    /// The highest visible group of the hierarchy.
    top: PathBuf,
}

impl Own {
    /// Folders in which this process may make a group with these controllers.
    fn fitting(&self, controllers: &[&str]) -> Vec<(Version, PathBuf)> {
        let depth = self.version.of(1, usize::MAX);
        let fits = |folder: &&Path| {
            self.version == Version::One
                || is_free(folder) && controllers.iter().all(|one| offers(folder, one))
        };
        let fitting = self.upwards().take(depth).filter(fits);
        fitting
            .map(|folder| (self.version, folder.to_owned()))
            .collect()
    }

    /// The group and all groups above it, upwards.
    pub fn upwards(&self) -> impl Iterator<Item = &Path> {
        self.folder
            .ancestors()
            .take_while(|folder| folder.starts_with(&self.top))
    }
}

/// The groups of a process that may limit `controller` (cpu or memory), of both versions.
pub fn own(pid: i32, controller: &str) -> Vec<Own> {
    let read = || {
        let groups = Process::new(pid)?.cgroups()?;
        let mounts = Process::myself()?.mountinfo()?;
        procfs::ProcResult::Ok((groups, mounts))
    };
    let Ok((groups, mounts)) = read() else {
        return Vec::new();
    };
    let of = |version| owned(version, controller, &groups.0, &mounts.0);
    [of(Version::Two), of(Version::One)]
        .into_iter()
        .flatten()
        .collect()
}

fn owned(
    version: Version,
    controller: &str,
    groups: &[ProcessCGroup],
    mounts: &[MountInfo],
) -> Option<Own> {
    let has = |name: &String| name == controller;
    let group = groups.iter().find(|group| match version {
        Version::Two => group.hierarchy == 0,
        Version::One => group.hierarchy != 0 && group.controllers.iter().any(has),
    })?;
    let mount = mounts.iter().find(|mount| match version {
        Version::Two => mount.fs_type == "cgroup2",
        Version::One => mount.fs_type == "cgroup" && mount.super_options.contains_key(controller),
    })?;
    // In a container without a namespace for groups, the mount shows only a part of the hierarchy.
    let within = Path::new(&group.pathname)
        .strip_prefix(&mount.root)
        .unwrap_or(Path::new(""));
    Some(Own {
        version,
        folder: mount.mount_point.join(within),
        top: mount.mount_point.clone(),
    })
}

/// Folders in which a group for `controller` may be made, the best first. With version 2 these are groups above this process's own, or the
/// highest. A process is in one group of version 2: its
/// folder must offer all of `wanted` that have no hierarchy of version 1.
pub fn candidates(controller: &str, wanted: &[&str]) -> Vec<(Version, PathBuf)> {
    let me = std::process::id() as i32;
    let is_one = |own: &Own| own.version == Version::One;
    let mut of_two: Vec<_> = wanted.to_vec();
    of_two.retain(|one| !own(me, one).iter().any(is_one));
    of_two.push(controller);
    let groups = own(me, controller);
    groups.iter().flat_map(|own| own.fitting(&of_two)).collect()
}

/// Whether a group of version 2 may have limited subgroups: it has no processes, or is the highest of the machine, which has no type. The
/// kernel allows +cpu in a group with processes, but then no process can join its subgroups.
fn is_free(folder: &Path) -> bool {
    !folder.join("cgroup.type").exists()
        || std::fs::read_to_string(folder.join("cgroup.procs")).is_ok_and(|all| all.is_empty())
}

fn offers(folder: &Path, controller: &str) -> bool {
    std::fs::read_to_string(folder.join("cgroup.controllers"))
        .is_ok_and(|all| all.split_whitespace().any(|name| name == controller))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(hierarchy: u32, controllers: &[&str], pathname: &str) -> ProcessCGroup {
        ProcessCGroup {
            hierarchy,
            controllers: controllers.iter().map(|name| (*name).to_owned()).collect(),
            pathname: pathname.to_owned(),
        }
    }

    fn mount(line: &str) -> MountInfo {
        MountInfo::from_line(line).unwrap()
    }

    #[test]
    fn the_group_of_each_version_is_found_in_its_mount() {
        let groups = [
            group(4, &["memory"], "/docker/abc"),
            group(2, &["cpu", "cpuacct"], "/"),
            group(0, &[], "/user.slice/a.scope"),
        ];
        let mounts = [
            mount("30 23 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"),
            mount("33 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct"),
            mount("34 23 0:29 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"),
        ];
        let of = |version, controller| owned(version, controller, &groups, &mounts);
        let folder = |version, controller| of(version, controller).unwrap().folder;
        assert_eq!(
            folder(Version::One, "memory"),
            Path::new("/sys/fs/cgroup/memory")
        );
        assert_eq!(
            folder(Version::One, "cpu"),
            Path::new("/sys/fs/cgroup/cpu,cpuacct")
        );
        let two = of(Version::Two, "cpu").unwrap();
        let upwards: Vec<_> = two.upwards().map(Path::to_owned).collect();
        let unified = Path::new("/sys/fs/cgroup/unified");
        assert_eq!(
            upwards,
            [
                unified.join("user.slice/a.scope"),
                unified.join("user.slice"),
                unified.to_owned()
            ]
        );
        assert_eq!(of(Version::One, "pids"), None);
    }

    #[test]
    fn one_folder_of_version_2_has_all_controllers() {
        let top = tempfile::tempdir().unwrap();
        let session = top.path().join("session.scope");
        std::fs::create_dir(&session).unwrap();
        for (folder, all) in [(top.path(), "cpu io memory"), (&session, "memory pids")] {
            std::fs::write(folder.join("cgroup.controllers"), all).unwrap();
        }
        std::fs::write(session.join("cgroup.type"), "domain").unwrap();
        std::fs::write(session.join("cgroup.procs"), "").unwrap();
        let own = Own {
            version: Version::Two,
            folder: session.clone(),
            top: top.path().to_owned(),
        };
        let of = |controllers: &[&str]| {
            let all = own.fitting(controllers).into_iter();
            all.map(|(_, folder)| folder).collect::<Vec<_>>()
        };
        let highest = top.path().to_owned();
        assert_eq!(of(&["memory"]), [session.clone(), highest.clone()]);
        // The session's folder would take the process out of the folder with the CPU's quota.
        assert_eq!(of(&["cpu", "memory"]), std::slice::from_ref(&highest));
        std::fs::write(session.join("cgroup.procs"), "1\n").unwrap();
        assert_eq!(of(&["memory"]), [highest]);
    }
}
