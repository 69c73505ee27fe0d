//! Datagrams from one end of a link to the other, each stamped where it leaves and, by the kernel, where it arrives.

use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};

use crate::link::ends::End;

/// What waits in the receiver's socket, bytes: a link's burst must end there, and not be lost.
const RECEIVE_BUFFER: usize = 64 * 1024 * 1024;
/// IPv4 and UDP.
pub const HEADERS: usize = 28;
/// Number and moment of sending.
pub const LEAST_PAYLOAD: usize = 16;

/// How datagrams are sent.
pub enum Pace {
    /// One each so many ns.
    Each(f64),
    /// As many at once as have not arrived yet.
    Window(u64),
}

pub struct Plan {
    pub payload: usize,
    pub pace: Pace,
    /// For so long, or so many.
    pub duration: Duration,
    pub count: u64,
    /// The receiver ends after so long a silence.
    pub silence: Duration,
}

#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub number: u64,
    /// Of the wall clock, ns.
    pub sent_ns: u64,
    pub arrived_ns: u64,
}

pub struct Flow {
    pub sent: u64,
    pub arrivals: Vec<Arrival>,
}

/// Sends from one end, and receives at the other until nothing comes any more.
pub fn run(from: &End, to: &End, plan: &Plan) -> std::io::Result<Flow> {
    let receiver = to.namespace.run(|| receiver(to))??;
    let target = receiver.local_addr()?;
    let sender = from.namespace.run(|| -> std::io::Result<UdpSocket> {
        let socket = UdpSocket::bind(from.at(0))?;
        socket.connect(target)?;
        Ok(socket)
    })??;
    let (arrived, done) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let receiving = scope.spawn(|| receive(&receiver, plan.silence, &arrived, &done));
        let sent = send(&sender, plan, &arrived);
        done.store(true, Ordering::SeqCst);
        let arrivals = receiving
            .join()
            .map_err(|_| std::io::Error::other("the receiver failed"))??;
        Ok(Flow {
            sent: sent?,
            arrivals,
        })
    })
}

fn receiver(to: &End) -> std::io::Result<UdpSocket> {
    let socket = UdpSocket::bind(to.at(0))?;
    // Only root may have as much; a user namespace gets what rmem_max allows.
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

fn send(socket: &UdpSocket, plan: &Plan, arrived: &AtomicU64) -> std::io::Result<u64> {
    let mut payload = vec![0; plan.payload.max(LEAST_PAYLOAD)];
    let began = Instant::now();
    let mut sent = 0;
    while sent < plan.count && began.elapsed() < plan.duration {
        let may = match plan.pace {
            Pace::Each(ns) => {
                let due = Duration::from_nanos((sent as f64 * ns) as u64);
                let left = due.saturating_sub(began.elapsed());
                if left > Duration::from_micros(200) {
                    std::thread::sleep(left - Duration::from_micros(100));
                }
                left.is_zero()
            }
            Pace::Window(most) => sent < arrived.load(Ordering::Acquire) + most,
        };
        if !may {
            std::thread::yield_now();
            continue;
        }
        payload[..8].copy_from_slice(&sent.to_be_bytes());
        payload[8..16].copy_from_slice(&wall_ns().to_be_bytes());
        socket.send(&payload)?;
        sent += 1;
    }
    Ok(sent)
}

fn receive(
    socket: &UdpSocket,
    silence: Duration,
    arrived: &AtomicU64,
    done: &AtomicBool,
) -> std::io::Result<Vec<Arrival>> {
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
                // The silence counts from the sender's end.
                if !done.load(Ordering::SeqCst) {
                    last = Instant::now();
                } else if last.elapsed() > silence {
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
    }
}
