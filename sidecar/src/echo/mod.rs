//! Echo servers: the far end of probes, on threads of the sidecar, with faults for known answers.
//!
//! What comes goes back, over TCP and UDP; a DNS server ([`zone`]) answers it. On the TCP port of an echo a connection may also begin a bulk
//! transfer ([`bulk`]) or a flow ([`flow`]).

mod blocking;
mod blocking_udp;
pub mod bulk;
pub mod counters;
mod deck;
mod events;
pub mod faults;
pub mod flow;
mod flow_far;
pub mod registry;
mod shared;
pub mod transfer;
pub mod zone;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use nix::sys::socket::{setsockopt, sockopt};
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::failure::{Failure, Result};
use crate::net::placement;
use crate::net::poller::Waker;
use crate::net::wait::Wait;
use crate::process::namespace::Namespace;
use crate::process::namespace::NamespaceOf;
use blocking::Connections;
use counters::Counted;
use events::Events;
use faults::Faults;
pub use flow_far::not_yet;
pub use shared::Shared;
use zone::Zone;

/// Connections that wait to be accepted; the kernel's own bound is `net.core.somaxconn`.
const BACKLOG: i32 = 4096;
/// Asked of the kernel, bytes.
const UDP_BUFFER: usize = 4 << 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// A thread per TCP connection, 1,024 at most, and one for UDP.
    #[default]
    Blocking,
    /// One thread for all.
    Events,
}

/// What is asked of a new server. Faults and DNS take the events engine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    #[serde(default = "local")]
    pub host: IpAddr,
    #[serde(default)]
    pub engine: Engine,
    #[serde(default)]
    pub cpus: Vec<usize>,
    #[serde(default)]
    pub wait: Wait,
    #[serde(default)]
    pub faults: Option<Faults>,
    /// It is an authoritative DNS server in place of an echo.
    #[serde(default)]
    pub dns: Option<Zone>,
    /// Where it listens; none: on this machine's own loopback.
    #[serde(default)]
    pub namespace: Option<NamespaceOf>,
    /// 0 is any free one.
    #[serde(skip)]
    pub tcp_port: u16,
    #[serde(skip)]
    pub udp_port: u16,
}

fn local() -> IpAddr {
    Ipv4Addr::LOCALHOST.into()
}

impl Default for Request {
    fn default() -> Self {
        Self {
            host: local(),
            engine: Engine::default(),
            cpus: Vec::new(),
            wait: Wait::default(),
            faults: None,
            dns: None,
            namespace: None,
            tcp_port: 0,
            udp_port: 0,
        }
    }
}

/// A running server. Dropping it ends it.
pub struct Echo {
    pub tcp: SocketAddr,
    pub udp: SocketAddr,
    shared: Arc<Shared>,
    stop: Stop,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

enum Stop {
    Blocking {
        listener: TcpListener,
        udp: UdpSocket,
        connections: Arc<Connections>,
    },
    Events(Arc<Waker>),
}

/// A server's addresses and what it has done so far.
#[derive(Debug, Serialize)]
pub struct State {
    pub tcp: SocketAddr,
    pub udp: SocketAddr,
    /// CPU time of its threads.
    pub cpu_s: f64,
    #[serde(flatten)]
    pub counted: Counted,
}

impl Echo {
    /// One on this machine's own network, whatever `request` says of a namespace.
    pub fn start(request: Request) -> Result<Self> {
        if !request.host.is_loopback() {
            return Err(Failure::invalid(
                format!("host: {} is not a loopback address", request.host),
                "give 127.0.0.1 or ::1",
            ));
        }
        Self::open(request)
    }

    /// One in a namespace, where any address of it will do.
    pub fn start_inside(request: Request, namespace: &Namespace) -> Result<Self> {
        namespace
            .run(|| Self::open(request))
            .unwrap_or_else(|error| {
                Err(Failure::setup(
                    format!("the echo server's namespace cannot be entered: {error}"),
                    "start the testbed again",
                ))
            })
    }

    fn open(request: Request) -> Result<Self> {
        placement::check(&request.cpus)?;
        if let Some(faults) = &request.faults {
            faults.check()?;
        }
        let listener = listen(SocketAddr::new(request.host, request.tcp_port))
            .map_err(|error| failed("TCP", request.host, request.tcp_port, &error))?;
        let udp = UdpSocket::bind(SocketAddr::new(request.host, request.udp_port))
            .map_err(|error| failed("UDP", request.host, request.udp_port, &error))?;
        Self::run(request, listener, udp).map_err(|error| {
            Failure::setup(
                format!("the echo server cannot start: {error}"),
                "look at the machine's limits",
            )
        })
    }

    fn run(request: Request, listener: TcpListener, udp: UdpSocket) -> std::io::Result<Self> {
        let (tcp, udp_address) = (listener.local_addr()?, udp.local_addr()?);
        // Beyond the system's bound only with CAP_NET_ADMIN; without it as much as may be.
        if setsockopt(&udp, sockopt::RcvBufForce, &UDP_BUFFER).is_err() {
            SockRef::from(&udp).set_recv_buffer_size(UDP_BUFFER)?;
        }
        if setsockopt(&udp, sockopt::SndBufForce, &UDP_BUFFER).is_err() {
            SockRef::from(&udp).set_send_buffer_size(UDP_BUFFER)?;
        }
        let shared = Shared::new(request.cpus, request.wait);
        let events = request.engine == Engine::Events || request.dns.is_some();
        let (stop, threads) = if request.faults.is_some() || events {
            let waker = Arc::new(Waker::new()?);
            let wakes = Arc::clone(&waker);
            let (sender, made) = std::sync::mpsc::channel();
            let thread = shared.spawn(move |shared| {
                // What it has cannot change threads.
                match Events::new(listener, udp, request.faults, request.dns, &wakes, shared) {
                    Ok(events) => {
                        let _ = sender.send(Ok(()));
                        events.run();
                    }
                    Err(error) => drop(sender.send(Err(error))),
                }
            })?;
            made.recv().map_err(std::io::Error::other)??;
            (Stop::Events(waker), vec![thread])
        } else {
            udp.set_nonblocking(request.wait != Wait::Block)?;
            let connections = Arc::new(Connections::default());
            let stop = Stop::Blocking {
                listener: listener.try_clone()?,
                udp: udp.try_clone()?,
                connections: Arc::clone(&connections),
            };
            let accepts =
                shared.spawn(move |shared| blocking::accept(&listener, &connections, shared))?;
            let echoes = shared.spawn(move |shared| blocking_udp::echo(&udp, shared))?;
            (stop, vec![accepts, echoes])
        };
        Ok(Self {
            tcp,
            udp: udp_address,
            shared,
            stop,
            threads: Mutex::new(threads),
        })
    }

    /// Its counts, which stay when it ends.
    pub fn counts(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    pub fn state(&self) -> State {
        State {
            tcp: self.tcp,
            udp: self.udp,
            cpu_s: self.shared.cpu_ns() as f64 / 1e9,
            counted: self.shared.counters.counted(),
        }
    }

    /// Ends every connection and returns when no thread is left.
    pub fn stop(&self) {
        self.shared.end();
        match &self.stop {
            Stop::Blocking {
                listener,
                udp,
                connections,
            } => {
                // This wakes accept and recvmmsg, though for these sockets it is an error as well.
                let _ = SockRef::from(listener).shutdown(std::net::Shutdown::Both);
                let _ = SockRef::from(udp).shutdown(std::net::Shutdown::Both);
                connections.end();
            }
            Stop::Events(waker) => waker.wake(),
        }
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stop();
    }
}

fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn failed(protocol: &str, host: IpAddr, port: u16, error: &std::io::Error) -> Failure {
    Failure::setup(
        format!("{protocol} {}: {error}", SocketAddr::new(host, port)),
        "give another port, or 0 for any free one",
    )
}

#[cfg(test)]
mod tests;
