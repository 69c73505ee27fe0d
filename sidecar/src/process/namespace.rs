//! Network namespaces without names (network_namespaces(7)): one lives as long as this process has its
//! descriptor, or something runs or has a socket in it. So whatever ends the sidecar removes it, with
//! all links, routes and rules in it.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};

/// A namespace of an instance that runs, as JSON has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NamespaceOf {
    pub instance: String,
    pub name: String,
}

/// What the kernel calls the namespace of the thread that asks.
const OWN: &str = "/proc/thread-self/ns/net";

#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// A new one: its loopback is down, and there is nothing else in it. EPERM without CAP_SYS_ADMIN.
    pub fn create() -> io::Result<Self> {
        on_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open(OWN).map(Self)
        })?
    }

    /// Moves the calling thread, and so all that it starts afterwards, there for good.
    pub fn enter(&self) -> io::Result<()> {
        setns(&self.0, CloneFlags::CLONE_NEWNET).map_err(io::Error::from)
    }

    /// Does `work` there, on a thread that ends with it. Sockets that it opens stay there.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_thread(|| {
            self.enter()?;
            Ok(work())
        })?
    }

    /// Where other processes of this user find it while this process has it.
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

/// Whether an error of [`Namespace::create`] means that this user, or this kernel, has none.
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
