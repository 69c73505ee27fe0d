//! How many files and sockets this process may have open.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Files and sockets that this process, and each that it starts, may have open; none where that cannot be told.
pub fn limit() -> Option<u64> {
    getrlimit(Resource::RLIMIT_NOFILE)
        .ok()
        .map(|(soft, _)| soft)
}

/// Raises the soft limit to the hard one: a thousand tunnels need two thousand sockets. What this
/// process starts inherits it. Where it cannot be raised, what needs more says so later.
pub fn raise_limit() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}
