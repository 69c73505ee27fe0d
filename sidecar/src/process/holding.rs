//! Memory, descriptors by kind and threads of a process and its descendants at one moment. Also their use since their start: CPU time,
//! context switches and page faults.

use std::collections::{BTreeMap, HashMap};

use procfs::process::{FDTarget, Process};
use serde::Serialize;

use super::role::Role;
use super::scheduling::Scheduling;
use super::tree::{self, Entry};

/// A process with its descendants. Counts from the start of each process are of living processes alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Held {
    /// Resident memory without file pages, bytes (proc_pid_status(5), RssAnon and RssShmem).
    pub anon_bytes: u64,
    pub threads: u64,
    pub descriptors: Descriptors,
    /// CPU time since the start, seconds.
    pub cpu_s: f64,
    #[serde(flatten)]
    pub scheduling: Scheduling,
}

/// Open descriptors by kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Descriptors {
    pub all: u64,
    /// TCP sockets by state (RFC 9293), such as `established`, `close_wait` and `listen`. A socket that is neither connected nor listens
    /// is `close`.
    pub tcp: BTreeMap<String, u64>,
    pub udp: u64,
    /// Files, pipes, other sockets, and descriptors that the kernel makes (epoll, timers, events).
    pub other: u64,
}

/// A measured process by name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Holding {
    pub name: String,
    pub role: Role,
    #[serde(flatten)]
    pub held: Held,
}

/// Reads a process and its descendants; `None` once the process has ended.
pub fn read(root: i32) -> Option<Held> {
    let entry = tree::entry(root).filter(|entry| !entry.zombie)?;
    let mut all = tree::descendants(root);
    all.push(entry);
    let mut sum = Held::default();
    for entry in all.iter().filter(|entry| !entry.zombie) {
        // A process that has ended meanwhile holds nothing.
        let _ = add(&mut sum, entry);
    }
    Some(sum)
}

fn add(sum: &mut Held, entry: &Entry) -> procfs::ProcResult<()> {
    let process = Process::new(entry.pid)?;
    let status = process.status()?;
    let kib = |value: Option<u64>| value.unwrap_or(0) * 1024;
    sum.anon_bytes += kib(status.vmrss).saturating_sub(kib(status.rssfile));
    sum.threads += status.threads;
    sum.cpu_s += (entry.own_ns + entry.reaped_ns) as f64 / 1e9;
    sum.scheduling += Scheduling::of(&process)?;
    add_descriptors(&mut sum.descriptors, &process)
}

fn add_descriptors(sum: &mut Descriptors, process: &Process) -> procfs::ProcResult<()> {
    // The table of sockets is read last: a socket that is opened meanwhile is then in it.
    let targets: Vec<_> = process.fd()?.flatten().map(|fd| fd.target).collect();
    let sockets = sockets(process);
    for target in targets {
        sum.all += 1;
        let FDTarget::Socket(inode) = target else {
            sum.other += 1;
            continue;
        };
        match sockets.get(&inode) {
            Some(Socket::Tcp(state)) => *sum.tcp.entry(state.clone()).or_default() += 1,
            Some(Socket::Udp) => sum.udp += 1,
            None => sum.other += 1,
        }
    }
    Ok(())
}

enum Socket {
    Tcp(String),
    Udp,
}

/// The sockets of the process's network namespace, by inode.
fn sockets(process: &Process) -> HashMap<u64, Socket> {
    let tcp = [process.tcp(), process.tcp6()]
        .into_iter()
        .flatten()
        .flatten();
    let udp = [process.udp(), process.udp6()]
        .into_iter()
        .flatten()
        .flatten();
    tcp.map(|socket| (socket.inode, Socket::Tcp(word(&socket.state))))
        .chain(udp.map(|socket| (socket.inode, Socket::Udp)))
        .collect()
}

/// `CloseWait` becomes `close_wait`.
fn word(state: &procfs::net::TcpState) -> String {
    let mut word = String::new();
    for letter in format!("{state:?}").chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    /// A Python program is the independent instrument: it opens a known number of each kind.
    const HOLDER: &str = "
import os, socket, threading, time
listener = socket.create_server(('127.0.0.1', 0), backlog=20)
ends = [(socket.create_connection(listener.getsockname()), listener.accept()[0]) for _ in range(7)]
for near, _ in ends[:3]: near.close()
datagrams = [socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) for _ in range(5)]
for one in datagrams: one.bind(('::1', 0))
files = [open('/dev/null') for _ in range(11)]
for _ in range(4): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print(len(os.listdir('/proc/self/fd')) - 1, flush=True)
time.sleep(60)
";

    #[test]
    fn a_known_number_of_each_kind_is_found() {
        let mut child = Command::new("python3")
            .args(["-c", HOLDER])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let held = read(child.id() as i32);
        child.kill().unwrap();
        child.wait().unwrap();
        let held = held.unwrap();
        let tcp: Vec<_> = held
            .descriptors
            .tcp
            .iter()
            .map(|(state, count)| (state.as_str(), *count))
            .collect();
        assert_eq!(tcp, [("close_wait", 3), ("established", 8), ("listen", 1)]);
        assert_eq!(held.descriptors.udp, 5);
        let all: u64 = line.trim().parse().unwrap();
        assert_eq!(held.descriptors.all, all);
        assert_eq!(held.descriptors.other, all - 12 - 5);
        assert_eq!(held.threads, 5);
        assert!(
            held.anon_bytes > 1 << 20 && held.cpu_s > 0.0 && held.scheduling.minor_faults > 100,
            "{held:?}"
        );
        assert!(held.scheduling.voluntary_switches > 0, "{held:?}");
        assert_eq!(read(child.id() as i32), None);
    }
}
