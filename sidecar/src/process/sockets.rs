//! The TCP and UDP sockets of network namespaces, by inode and by both ends.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;

use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{FDTarget, Process};

pub enum Socket {
    Tcp(Tcp),
    Udp,
}

pub struct Tcp {
    state: TcpState,
    ends: Ends,
}

impl Tcp {
    /// The state in words: `CloseWait` becomes `close_wait`.
    pub fn word(&self) -> String {
        let mut word = String::new();
        for letter in format!("{:?}", self.state).chars() {
            if letter.is_uppercase() && !word.is_empty() {
                word.push('_');
            }
            word.push(letter.to_ascii_lowercase());
        }
        word
    }
}

/// The local and the remote end.
type Ends = (SocketAddr, SocketAddr);

/// The sockets of some namespaces. A namespace is read once, because its table has the sockets of all its processes.
pub struct Sockets {
    namespaces: HashSet<u64>,
    by_inode: HashMap<u64, Socket>,
    inodes: HashMap<Ends, u64>,
    /// The sockets of this process: its far ends, and its probes.
    own: HashSet<u64>,
}

impl Default for Sockets {
    fn default() -> Self {
        let own = Process::myself().and_then(|own| inodes(&own));
        Self {
            namespaces: HashSet::new(),
            by_inode: HashMap::new(),
            inodes: HashMap::new(),
            own: own.unwrap_or_default(),
        }
    }
}

impl Sockets {
    /// Reads the namespace of a process. The descriptors must have been read before: a socket that is opened meanwhile is then known.
    pub fn read(&mut self, process: &Process) {
        let namespace = std::fs::metadata(format!("/proc/{}/ns/net", process.pid));
        if namespace.is_ok_and(|namespace| !self.namespaces.insert(namespace.ino())) {
            return;
        }
        for one in [process.tcp(), process.tcp6()]
            .into_iter()
            .flatten()
            .flatten()
        {
            self.add(&one);
        }
        for one in [process.udp(), process.udp6()]
            .into_iter()
            .flatten()
            .flatten()
        {
            self.by_inode.insert(one.inode, Socket::Udp);
        }
    }

    fn add(&mut self, one: &TcpNetEntry) {
        // A socket without an inode belongs to no process, such as one in TIME_WAIT.
        if one.inode == 0 {
            return;
        }
        let plain =
            |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
        let ends = (plain(one.local_address), plain(one.remote_address));
        let state = one.state.clone();
        self.inodes.insert(ends, one.inode);
        self.by_inode
            .insert(one.inode, Socket::Tcp(Tcp { state, ends }));
    }

    pub fn get(&self, inode: u64) -> Option<&Socket> {
        self.by_inode.get(&inode)
    }

    /// Whether only its owner keeps a connection open: its other end is closed, or is a far end of this process. This process closes all
    /// its probes at the end of a load. Connections to other processes, such as a database, are theirs to keep.
    pub fn is_left(&self, tcp: &Tcp) -> bool {
        match tcp.state {
            TcpState::Listen | TcpState::Close => false,
            TcpState::CloseWait => true,
            _ => {
                let (local, remote) = tcp.ends;
                let other = self.inodes.get(&(remote, local));
                other.is_some_and(|inode| self.own.contains(inode))
            }
        }
    }
}

/// The inodes of the sockets of a process.
fn inodes(process: &Process) -> procfs::ProcResult<HashSet<u64>> {
    let sockets = process.fd()?.flatten().filter_map(|fd| match fd.target {
        FDTarget::Socket(inode) => Some(inode),
        _ => None,
    });
    Ok(sockets.collect())
}
