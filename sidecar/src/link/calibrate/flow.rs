//! Datagrams from one end of a link to the other. The sender stamps each datagram when it leaves, and the kernel stamps it when it arrives.

use std::io::{IoSlice, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

use crate::link::ends::End;

/// Size of the receiver's socket buffer, bytes. It must take a burst of the link without a loss.
const RECEIVE_BUFFER: usize = 64 * 1024 * 1024;
/// Nanoseconds of a millisecond.
pub const MS: f64 = 1e6;
/// Bytes of the headers of IPv4 and UDP.
pub const HEADERS: usize = 28;
/// Bytes of a datagram's number and time of sending.
pub const LEAST_PAYLOAD: usize = 16;

/// The most payload and the most datagrams of one system call (udp(7), UDP_SEGMENT).
const MOST_TOGETHER_BYTES: usize = 65_000;
const MOST_TOGETHER: usize = 64;
/// The most datagrams with which a delayed sender catches up. It skips the rest.
const CATCH_UP: u64 = 1_000;

/// How datagrams are sent.
pub enum Pace {
    /// One datagram each this many ns.
    Each(f64),
    /// At most this many datagrams in flight.
    Window(u64),
}

pub struct Plan {
    pub payload: usize,
    /// The most datagrams of one system call, if that many are due.
    pub together: usize,
    pub pace: Pace,
    /// The flow ends after this time, or after `most` datagrams.
    pub duration: Duration,
    pub count: u64,
    /// The receiver ends after a silence of this length.
    pub silence: Duration,
    /// The link duplicates no packets, so the receiver ends as soon as all have arrived.
    pub once: bool,
}

/// Marks that the sender has not ended.
const SENDING: u64 = u64::MAX;

#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub number: u64,
    /// Time on the wall clock, ns.
    pub sent_ns: u64,
    pub arrived_ns: u64,
}

pub struct Flow {
    pub sent: u64,
    /// By the datagram's number: when it was handed to the kernel, on the wall clock, ns.
    pub entered_ns: Vec<u64>,
    pub arrivals: Vec<Arrival>,
}

/// Sends from one end, and receives at the other until no more datagrams arrive.
pub fn run(from: &End, to: &End, plan: &Plan) -> std::io::Result<Flow> {
    let receiver = to.namespace.run(|| receiver(to))??;
    let target = receiver.local_addr()?;
    let sender = from.namespace.run(|| -> std::io::Result<UdpSocket> {
        let socket = UdpSocket::bind(from.at(0))?;
        socket.connect(target)?;
        Ok(socket)
    })??;
    let (arrived, all) = (AtomicU64::new(0), AtomicU64::new(SENDING));
    std::thread::scope(|scope| {
        let receiving = scope.spawn(|| receive(&receiver, plan, &arrived, &all));
        let sent = send(&sender, plan, &arrived);
        let count = sent.as_ref().map_or(0, Vec::len) as u64;
        all.store(count, Ordering::SeqCst);
        let arrivals = receiving
            .join()
            .map_err(|_| std::io::Error::other("the receiver failed"))??;
        let entered_ns = sent?;
        Ok(Flow {
            sent: entered_ns.len() as u64,
            entered_ns,
            arrivals,
        })
    })
}

fn receiver(to: &End) -> std::io::Result<UdpSocket> {
    let socket = UdpSocket::bind(to.at(0))?;
    // Only root may have a buffer of this size. A user namespace gets what `rmem_max` allows.
    setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER)
        .or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER))?;
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
    socket.set_read_timeout(Some(Duration::from_millis(20)))?;
    Ok(socket)
}

fn wall_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_REALTIME).map_or(0, nanoseconds)
}

fn nanoseconds(time: TimeSpec) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Sends as planned. Returns when each datagram was handed to the kernel.
fn send(socket: &UdpSocket, plan: &Plan, arrived: &AtomicU64) -> std::io::Result<Vec<u64>> {
    let size = plan.payload.max(LEAST_PAYLOAD);
    let together = plan
        .together
        .clamp(1, MOST_TOGETHER)
        .min(MOST_TOGETHER_BYTES / size);
    let mut payload = vec![0; size * together];
    let mut entered_ns = Vec::new();
    let (began, mut left_out) = (Instant::now(), 0);
    loop {
        let sent = entered_ns.len() as u64;
        if sent >= plan.count || began.elapsed() >= plan.duration {
            return Ok(entered_ns);
        }
        let may = match plan.pace {
            Pace::Each(ns) => {
                let due = (began.elapsed().as_nanos() as f64 / ns) as u64 + 1;
                left_out = due.saturating_sub(sent + CATCH_UP).max(left_out);
                let next = Duration::from_nanos(((sent + left_out) as f64 * ns) as u64);
                let left = next.saturating_sub(began.elapsed());
                if left > Duration::from_micros(200) {
                    std::thread::sleep(left - Duration::from_micros(100));
                }
                due.saturating_sub(sent + left_out)
            }
            Pace::Window(most) => (arrived.load(Ordering::Acquire) + most).saturating_sub(sent),
        };
        if may == 0 {
            std::thread::yield_now();
            continue;
        }
        let count = may.min(together as u64).min(plan.count - sent) as usize;
        let now = wall_ns();
        for (number, one) in (sent..).zip(payload.chunks_exact_mut(size).take(count)) {
            one[..8].copy_from_slice(&number.to_be_bytes());
            one[8..16].copy_from_slice(&now.to_be_bytes());
        }
        hand_over(socket, &payload[..size * count], size)?;
        let entered = wall_ns();
        entered_ns.extend(std::iter::repeat_n(entered, count));
    }
}

/// Sends in one system call, which the kernel splits. If the kernel cannot, it sends datagrams one by one.
fn hand_over(socket: &UdpSocket, bytes: &[u8], size: usize) -> std::io::Result<()> {
    if bytes.len() > size {
        let cut = [ControlMessage::UdpGsoSegments(&(size as u16))];
        let parts = [IoSlice::new(bytes)];
        match sendmsg::<()>(socket.as_raw_fd(), &parts, &cut, MsgFlags::empty(), None) {
            Ok(_) => return Ok(()),
            Err(Errno::EIO | Errno::EINVAL | Errno::EMSGSIZE) => {}
            Err(error) => return Err(error.into()),
        }
    }
    for one in bytes.chunks_exact(size) {
        socket.send(one)?;
    }
    Ok(())
}

/// `all` is the number of sent datagrams, once the sender has ended.
fn receive(
    socket: &UdpSocket,
    plan: &Plan,
    arrived: &AtomicU64,
    all: &AtomicU64,
) -> std::io::Result<Vec<Arrival>> {
    let complete =
        |arrivals: &[Arrival]| plan.once && arrivals.len() as u64 == all.load(Ordering::SeqCst);
    let mut arrivals = Vec::new();
    let mut last = Instant::now();
    let mut bytes = [0; 2_048];
    let mut control = cmsg_space!(TimeSpec);
    loop {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let message = recvmsg::<()>(
            socket.as_raw_fd(),
            &mut parts,
            Some(&mut control),
            MsgFlags::empty(),
        );
        let stamp = match message {
            Ok(message) if message.bytes >= LEAST_PAYLOAD => message
                .cmsgs()
                .map_err(std::io::Error::from)?
                .find_map(|one| match one {
                    ControlMessageOwned::ScmTimestampns(time) => Some(nanoseconds(time)),
                    _ => None,
                }),
            Ok(_) | Err(Errno::EINTR) => continue,
            Err(Errno::EAGAIN) => {
                // The silence begins when the sender ends.
                if all.load(Ordering::SeqCst) == SENDING {
                    last = Instant::now();
                } else if complete(&arrivals) || last.elapsed() > plan.silence {
                    return Ok(arrivals);
                }
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        last = Instant::now();
        let number = |at: usize| u64::from_be_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        arrivals.push(Arrival {
            number: number(0),
            sent_ns: number(8),
            arrived_ns: stamp.unwrap_or_else(wall_ns),
        });
        arrived.fetch_add(1, Ordering::Release);
        if complete(&arrivals) {
            return Ok(arrivals);
        }
    }
}

/// Delays of the arrivals, the shortest first, ms.
pub fn delays(arrivals: &[Arrival]) -> Vec<f64> {
    let mut delays: Vec<f64> = arrivals
        .iter()
        .map(|one| (one.arrived_ns as f64 - one.sent_ns as f64) / MS)
        .collect();
    delays.sort_by(f64::total_cmp);
    delays
}

/// The value below which this share of `sorted` lies.
pub fn at_share(sorted: &[f64], share: f64) -> f64 {
    let index = (sorted.len() as f64 * share) as usize;
    sorted.get(index).copied().unwrap_or(0.0)
}
