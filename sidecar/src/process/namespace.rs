//! Network namespaces without names (network_namespaces(7)). Such a namespace lives as long as this process has its descriptor, or a
//! process runs or has a socket in it. So the end of the sidecar, for any reason, removes it with all its links, routes and rules.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};

/// Namespaces by name.
pub type Namespaces = BTreeMap<String, Arc<Namespace>>;

/// A namespace of a running instance, as in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NamespaceOf {
    pub instance: String,
    pub name: String,
}

/// The kernel's path of the calling thread's namespace.
const OWN: &str = "/proc/thread-self/ns/net";

#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// Makes a namespace. Its loopback is down, and it has no other device. Fails with EPERM without CAP_SYS_ADMIN.
    pub fn create() -> io::Result<Self> {
        on_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open(OWN).map(Self)
        })?
    }

    /// Moves the calling thread, and all threads and processes that it starts afterwards, into the namespace for good.
    pub fn enter(&self) -> io::Result<()> {
        setns(&self.0, CloneFlags::CLONE_NEWNET).map_err(io::Error::from)
    }

    /// Runs `work` in the namespace, on a temporary thread. Sockets that `work` opens stay in the namespace.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_thread(|| {
            self.enter()?;
            Ok(work())
        })?
    }

    /// The path by which other processes of this user find the namespace while this process holds it.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!(
            "/proc/{}/fd/{}",
            std::process::id(),
            self.0.as_raw_fd()
        ))
    }
}

/// Moves the calling thread into the namespace at `path`, for good.
pub fn enter(path: &Path) -> io::Result<()> {
    Namespace(File::open(path)?).enter()
}

/// Whether an error of [`Namespace::create`] means that this user or this kernel cannot make namespaces.
pub fn not_permitted(error: &io::Error) -> bool {
    let without = [Errno::EPERM, Errno::EINVAL, Errno::ENOSYS];
    error
        .raw_os_error()
        .is_some_and(|code| without.contains(&Errno::from_raw(code)))
}

fn on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let running = thread::Builder::new().spawn_scoped(scope, work)?;
        running
            .join()
            .map_err(|_| io::Error::other("a thread of the sidecar failed"))
    })
}
