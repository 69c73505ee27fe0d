//! The limit of open files and sockets of this process.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// The limit of open files and sockets of this process, and of each process that it starts; `None` if unknown.
pub fn limit() -> Option<u64> {
    getrlimit(Resource::RLIMIT_NOFILE)
        .ok()
        .map(|(soft, _)| soft)
}

/// Raises the soft limit to the hard limit: a thousand tunnels need two thousand sockets. Child processes inherit it. If raising fails,
/// work that needs more files reports an error later.
pub fn raise_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
