//! Captures the packets of one port (packet(7)), without delaying them.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::socket::{LinkAddr, recvfrom};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};

use super::flows::Flows;
use super::request::{Found, Request};
use crate::failure::{Failure, Result};
use crate::net::batch::DATAGRAM;
use crate::process::namespace::Namespace;

/// Packets that are not read yet, bytes. The kernel's own limit may be lower.
const KEPT_BYTES: usize = 8 << 20;
/// The longest wait for a packet, after which the thread checks whether the capture ends.
const PAUSE: Duration = Duration::from_millis(10);
const WHOLE: u32 = u32::MAX;
/// Classic BPF (linux/bpf_common.h): loads, jumps, return.
const LOAD_BYTE: u16 = 0x30;
const LOAD_IP_HEADER: u16 = 0xb1;
const LOAD_SHORT_BEHIND: u16 = 0x48;
const JUMP_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

/// A running capture. Dropping it stops it.
pub struct Capture {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<Flows>>,
}

impl Capture {
    /// Starts a capture in `namespace`, or in this process's own.
    pub fn start(request: &Request, namespace: Option<&Namespace>) -> Result<Self> {
        let opened = match namespace {
            None => open(&[request.port], WHOLE),
            Some(namespace) => {
                let inside = namespace.run(|| open(&[request.port], WHOLE));
                inside.and_then(|opened| opened)
            }
        };
        let socket = opened.map_err(|error| refused(&error))?;
        let flows = Flows::new(request);
        let ends = Arc::new(AtomicBool::new(false));
        let end_flag = Arc::clone(&ends);
        let thread = thread::Builder::new()
            .name("capture".to_owned())
            .spawn(move || follow(&socket, flows, &end_flag))
            .map_err(|error| refused(&error))?;
        Ok(Self {
            ends,
            thread: Some(thread),
        })
    }

    /// Stops the capture after reading all packets that have arrived.
    pub fn end(mut self) -> Result<Found> {
        self.ends.store(true, Ordering::SeqCst);
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok(flows)) => Ok(flows.end()),
            _ => Err(Failure::setup("the capture failed", "start it again")),
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
    }
}

fn refused(error: &io::Error) -> Failure {
    let what = format!("packets cannot be captured: {error}");
    if matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES)) {
        return Failure::unsupported(
            what,
            "run the sidecar as root, or: setcap cap_net_raw+ep bin/sidecar",
        );
    }
    Failure::setup(what, "look at the machine's limits")
}

/// A socket that receives copies of the packets from and to some ports. The first `kept` bytes of each are kept.
pub(super) fn open(ports: &[u16], kept: u32) -> io::Result<Socket> {
    // Packets that arrive before the filter is set are ignored because of their port.
    let everything = Protocol::from(i32::from((libc::ETH_P_ALL as u16).to_be()));
    let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(everything))?;
    socket.attach_filter(&filter(ports, kept))?;
    let _ = socket.set_recv_buffer_size(KEPT_BYTES);
    socket.set_read_timeout(Some(PAUSE))?;
    Ok(socket)
}

/// Matches TCP and UDP from or to one of the ports, at most 100.
fn filter(ports: &[u16], kept: u32) -> Vec<SockFilter> {
    let number = ports.len() as u8;
    let mut all = vec![
        SockFilter::new(LOAD_BYTE, 0, 0, 9),
        SockFilter::new(JUMP_EQUAL, 1, 0, 6),
        SockFilter::new(JUMP_EQUAL, 0, 3 + 2 * number, 17),
        SockFilter::new(LOAD_IP_HEADER, 0, 0, 0),
    ];
    // The tests of the source's port jump over those of the target's, and all of them over the return that drops.
    for (at, behind) in [(0, number + 1), (2, 0)] {
        all.push(SockFilter::new(LOAD_SHORT_BEHIND, 0, 0, at));
        for (left, port) in (1..=number).rev().zip(ports) {
            all.push(SockFilter::new(
                JUMP_EQUAL,
                behind + left,
                0,
                u32::from(*port),
            ));
        }
    }
    all.push(SockFilter::new(RETURN, 0, 0, 0));
    all.push(SockFilter::new(RETURN, 0, 0, kept));
    all
}

fn follow(socket: &Socket, mut flows: Flows, ends: &AtomicBool) -> Flows {
    let mut buffer = vec![0; DATAGRAM];
    loop {
        // Read the flag first: packets that arrived before it was set are then read to the last one.
        let is_last = ends.load(Ordering::SeqCst);
        if is_last && socket.set_nonblocking(true).is_err() {
            return flows;
        }
        loop {
            match recvfrom::<LinkAddr>(socket.as_raw_fd(), &mut buffer) {
                Ok((read, from)) => {
                    if !is_echo(from.as_ref()) {
                        flows.take(&buffer[..read]);
                    }
                }
                Err(Errno::EINTR) => {}
                Err(_) => break,
            }
            if !is_last && ends.load(Ordering::Relaxed) {
                break;
            }
        }
        if is_last {
            return flows;
        }
    }
}

/// Whether loopback shows this packet a second time: it shows each packet as sent and as received.
pub(super) fn is_echo(from: Option<&LinkAddr>) -> bool {
    from.is_some_and(|from| {
        from.hatype() == libc::ARPHRD_LOOPBACK && from.pkttype() == libc::PACKET_OUTGOING
    })
}
