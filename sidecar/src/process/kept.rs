//! Holdings of the system before a load, and in the quiet period after it.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::descriptors::Descriptors;
use super::holding::{self, Held, Holding};
use super::role::Role;

/// Descriptors of each kind that a process may open at their first use and then keep.
pub const SLACK: u64 = 10;
/// Time between two readings while the system still closes descriptors: it doubles, from the first to the second one.
const BETWEEN: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

/// The processes of the system before the load, and after it.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Kept {
    /// Time from the end of the load to the second reading, seconds.
    pub after_s: f64,
    pub slack: u64,
    pub processes: Vec<KeptBy>,
}

/// One process with its descendants.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct KeptBy {
    pub name: String,
    pub before: Held,
    /// Null if the process has ended.
    pub after: Option<Held>,
}

impl Kept {
    /// Reads the processes until none holds more than the slack, and for at most `most` since the end of the load. Files count only
    /// if the system `closes_all` that it opens: a database may keep files open.
    pub fn settle(
        before: &[Holding],
        living: &[(String, i32)],
        since: Instant,
        most: Duration,
        closes_all: bool,
    ) -> Self {
        let (mut between, longest) = BETWEEN;
        loop {
            let roots = living.iter().cloned();
            let roots = roots.map(|(name, pid)| (name, Role::System, pid)).collect();
            let now = holding::read(roots);
            let passed = since.elapsed();
            let kept = Self::of(before, &now, passed);
            let Some(left) = most.checked_sub(passed).filter(|left| !left.is_zero()) else {
                return kept;
            };
            if kept.processes.iter().all(|one| one.has_settled(closes_all)) {
                return kept;
            }
            std::thread::sleep(left.min(between));
            between = longest.min(between * 2);
        }
    }

    fn of(before: &[Holding], now: &[Holding], passed: Duration) -> Self {
        let by = |then: &Holding| KeptBy {
            name: then.name.clone(),
            before: then.held.clone(),
            after: now
                .iter()
                .find(|one| one.name == then.name)
                .map(|one| one.held.clone()),
        };
        Self {
            after_s: (passed.as_secs_f64() * 10.0).round() / 10.0,
            slack: SLACK,
            processes: before.iter().map(by).collect(),
        }
    }
}

impl KeptBy {
    /// UDP sockets and pipes do not count: a proxy may keep associations for minutes, and pipes for later connections. An association has
    /// a control connection too, which its client has closed.
    fn has_settled(&self, closes_all: bool) -> bool {
        let after = self
            .after
            .as_ref()
            .and_then(|held| held.descriptors.as_ref());
        let both = self.before.descriptors.as_ref().zip(after);
        both.is_none_or(|(before, after)| {
            let closed = |held: &Descriptors| held.tcp.get("close_wait").copied().unwrap_or(0);
            let more = closed(after).saturating_sub(closed(before));
            let controls = after.udp.saturating_sub(before.udp).min(more);
            after.left <= before.left + SLACK + controls
                && (!closes_all || after.other <= before.other + SLACK)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::process::{Command, Stdio};

    use super::*;

    /// Holds its own pairs, which are no leak, then opens 12 connections to a port and 30 files and closes them after a while. As many UDP
    /// sockets, which it keeps, excuse no connection to a far end.
    const HOLDER: &str = "
import socket, sys, time
own = socket.create_server(('127.0.0.1', 0))
pairs = [(socket.create_connection(own.getsockname()), own.accept()) for _ in range(15)]
print('ready', flush=True)
sys.stdin.readline()
held = [socket.create_connection(('127.0.0.1', int(sys.argv[1]))) for _ in range(12)]
files = [open('/dev/null') for _ in range(30)]
datagrams = [socket.socket(type=socket.SOCK_DGRAM) for _ in range(12)]
for one in datagrams: one.bind(('127.0.0.1', 0))
pairs += [(socket.create_connection(own.getsockname()), own.accept()) for _ in range(15)]
print('held', flush=True)
time.sleep(float(sys.argv[2]))
for one in held + files[int(sys.argv[3]):]: one.close()
sys.stdin.readline()
";

    /// The rest after at most `most`, if the program closes after `closes_s`. The accepted ends stay open.
    /// It keeps `files` of its files.
    fn left(closes_s: &str, files: &str, most: Duration, closes_all: bool) -> (u64, u64, f64) {
        let far = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = far.local_addr().unwrap().port().to_string();
        let mut child = Command::new("python3")
            .args(["-c", HOLDER, &port, closes_s, files])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        let root = ("holder".to_owned(), child.id() as i32);
        let before = holding::read(vec![(root.0.clone(), Role::System, root.1)]);
        let input = child.stdin.as_mut().unwrap();
        std::io::Write::write_all(input, b"go\n").unwrap();
        let accepted: Vec<_> = (0..12).map(|_| far.accept().unwrap()).collect();
        lines.next().unwrap().unwrap();
        let kept = Kept::settle(&before, &[root], Instant::now(), most, closes_all);
        drop(accepted);
        child.kill().unwrap();
        child.wait().unwrap();
        let [one] = &kept.processes[..] else {
            panic!("{kept:?}")
        };
        let of = |held: &Held| held.descriptors.clone().unwrap();
        let (before, after) = (of(&one.before), of(one.after.as_ref().unwrap()));
        let left = after.left - before.left;
        (left, after.other - before.other, kept.after_s)
    }

    #[test]
    fn connections_to_a_far_end_and_files_that_stay_open_are_counted() {
        let (connections, files, after_s) = left("60", "0", Duration::from_millis(600), true);
        assert_eq!((connections, files), (12, 30));
        assert!(after_s >= 0.6, "{after_s}");
    }

    #[test]
    fn a_program_gets_time_to_close_and_no_more_is_waited_for() {
        let (connections, files, after_s) = left("0.5", "0", Duration::from_secs(20), true);
        assert_eq!((connections, files), (0, 0));
        assert!((0.5..20.0).contains(&after_s), "{after_s}");
    }
    #[test]
    fn files_of_a_system_that_may_keep_files_are_counted_without_a_wait() {
        let (connections, files, after_s) = left("0.5", "30", Duration::from_secs(20), false);
        // The sidecar reads a descriptor, then its socket. A connection that closes in between counts as a file.
        assert!(connections == 0 && (30..=42).contains(&files), "{files}");
        assert!(after_s < 20.0, "{after_s}");
    }
}
