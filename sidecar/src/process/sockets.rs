//! The TCP and UDP sockets of network namespaces, by inode and by both ends.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;

use procfs::net::TcpState;
use procfs::process::Process;

use super::opened::{Open, open_of};
use super::sock_diag::{self, StateFlags};

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
        let own = open_of(&[std::process::id() as i32]).unwrap_or_default();
        let inode = |open| match open {
            Open::Socket(inode, _) => Some(inode),
            _ => None,
        };
        Self {
            namespaces: HashSet::new(),
            by_inode: HashMap::new(),
            inodes: HashMap::new(),
            own: own.into_iter().filter_map(inode).collect(),
        }
    }
}

impl Sockets {
    /// Reads the namespace of a process. The descriptors must have been read before: a socket that is opened meanwhile is then known.
    pub fn read(&mut self, pid: i32) {
        let its = namespace_of(&pid.to_string());
        if its.is_some_and(|its| !self.namespaces.insert(its)) {
            return;
        }
        let is_ours = its.is_some() && its == namespace_of("thread-self");
        if !is_ours || self.ask_kernel().is_err() {
            self.read_lists(pid);
        }
    }

    /// Reads this thread's namespace. Fails if the kernel has no sock_diag.
    fn ask_kernel(&mut self) -> io::Result<()> {
        let living = StateFlags::all() - StateFlags::TIME_WAIT;
        for one in sock_diag::sockets(sock_diag::TCP, living, 0)? {
            let id = one.socket_id;
            let local = SocketAddr::new(id.source_address, id.source_port);
            let remote = SocketAddr::new(id.destination_address, id.destination_port);
            if let Some(state) = TcpState::from_u8(one.state) {
                self.add(u64::from(one.inode), state, local, remote);
            }
        }
        for one in sock_diag::sockets(sock_diag::UDP, StateFlags::all(), 0)? {
            self.by_inode.insert(u64::from(one.inode), Socket::Udp);
        }
        Ok(())
    }

    /// Reads any namespace, which costs several times more.
    fn read_lists(&mut self, pid: i32) {
        let Ok(process) = Process::new(pid) else {
            return;
        };
        let tcp = [process.tcp(), process.tcp6()];
        for one in tcp.into_iter().flatten().flatten() {
            self.add(one.inode, one.state, one.local_address, one.remote_address);
        }
        let udp = [process.udp(), process.udp6()];
        for one in udp.into_iter().flatten().flatten() {
            self.by_inode.insert(one.inode, Socket::Udp);
        }
    }

    fn add(&mut self, inode: u64, state: TcpState, local: SocketAddr, remote: SocketAddr) {
        // A socket without an inode belongs to no process, such as one in TIME_WAIT.
        if inode == 0 {
            return;
        }
        let plain =
            |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
        let ends = (plain(local), plain(remote));
        self.inodes.insert(ends, inode);
        self.by_inode
            .insert(inode, Socket::Tcp(Tcp { state, ends }));
    }

    pub fn get(&self, inode: u64) -> Option<&Socket> {
        self.by_inode.get(&inode)
    }

    /// Whether only its owner keeps a connection open: its other end is closed, or is a far end of this process. This process closes all
    /// its probes at the end of a load. Connections to other processes, such as a database, are theirs to keep.
    pub fn is_left(&self, tcp: &Tcp) -> bool {
        match tcp.state {
            TcpState::Listen => false,
            TcpState::CloseWait | TcpState::Close => true,
            _ => {
                let (local, remote) = tcp.ends;
                let other = self.inodes.get(&(remote, local));
                other.is_some_and(|inode| self.own.contains(inode))
            }
        }
    }
}

/// The kernel's number of the network namespace of a process.
fn namespace_of(process: &str) -> Option<u64> {
    let file = std::fs::metadata(format!("/proc/{process}/ns/net"));
    file.ok().map(|file| file.ino())
}
