//! Echo servers: the far end of probes, on threads of the sidecar, with faults for known answers.
//!
//! A server sends back what it receives over TCP and UDP. A DNS server ([`zone`]) answers queries instead. On the TCP port of an echo, a
//! connection may also begin a bulk transfer ([`bulk`]) or a flow ([`flow`]). A web server ([`web`]) serves HTTP/2 and HTTP/3 instead.

pub mod arrivals;
mod blocking;
mod blocking_udp;
pub mod bulk;
pub mod counters;
mod deck;
pub mod destinations;
mod events;
pub mod faults;
pub mod flow;
mod flow_far;
pub mod registry;
mod shared;
pub mod tls;
pub mod transfer;
pub mod web;
pub mod zone;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use socket2::{Domain, SockRef, Socket, Type};
use tokio::sync::Notify;

use crate::failure::{Failure, Result, refuse};
use crate::lock::lock;
use crate::net::batch::widen;
use crate::net::poller::Waker;
use crate::net::wait::Wait;
use crate::process::cpus;
use crate::process::namespace::Namespace;
use crate::process::namespace::NamespaceOf;
use blocking::Connections;
use counters::Counters;
use events::Events;
use faults::Faults;
pub use shared::Shared;
use zone::Zone;

/// Connections that may wait to be accepted. The kernel's own bound is `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// One thread per TCP connection, at most 1,024, and one thread for UDP.
    #[default]
    Blocking,
    /// One thread for everything.
    Events,
}

/// The request for a new server. Faults and DNS need the events engine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Request {
    pub host: IpAddr,
    pub engine: Engine,
    pub cpus: Vec<usize>,
    pub wait: Wait,
    pub faults: Option<Faults>,
    /// Makes the server an authoritative DNS server instead of an echo.
    pub dns: Option<Zone>,
    /// TCP connections are in TLS 1.3, with this sidecar's own key, and have no flows. Only the engine `blocking` has TLS.
    pub tls: bool,
    /// Makes the server a web server instead of an echo. Its only fault is the delay.
    pub web: bool,
    /// UDP addresses: the host and the ones after it, at one port. More than one need the events engine without faults, and 127.0.0.0/8.
    pub destinations: u32,
    /// The namespace in which the server listens; `None` means this machine's loopback.
    pub namespace: Option<NamespaceOf>,
    /// Port 0 means any free port.
    #[serde(skip)]
    pub tcp_port: u16,
    #[serde(skip)]
    pub udp_port: u16,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            host: Ipv4Addr::LOCALHOST.into(),
            engine: Engine::default(),
            cpus: Vec::new(),
            wait: Wait::default(),
            faults: None,
            dns: None,
            tls: false,
            web: false,
            destinations: 1,
            namespace: None,
            tcp_port: 0,
            udp_port: 0,
        }
    }
}

/// A running server. Dropping this value stops the server.
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
    Web(Arc<Notify>),
}

/// A server's addresses and counts.
#[derive(Debug, Serialize)]
pub struct State {
    pub tcp: SocketAddr,
    pub udp: SocketAddr,
    /// CPU time of the server's threads, seconds.
    pub cpu_s: f64,
    #[serde(flatten)]
    pub counted: Arc<Counters>,
}

impl Echo {
    /// Starts a server on this machine's own network. It ignores the namespace of `request`.
    pub fn start(request: Request) -> Result<Self> {
        refuse(
            !request.host.is_loopback(),
            &format!("host: {} is not a loopback address", request.host),
            "give 127.0.0.1 or ::1",
        )?;
        Self::open(request)
    }

    /// Starts a server in a namespace. Any address of the namespace is allowed.
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
        cpus::check("cpus", &request.cpus)?;
        if let Some(faults) = &request.faults {
            faults.check()?;
        }
        let events = request.engine == Engine::Events;
        refuse(
            request.tls && (events || request.faults.is_some() || request.dns.is_some()),
            "tls: only the engine blocking has it, without faults and dns",
            "leave out tls, or all of these",
        )?;
        if request.web {
            web::check(&request)?;
        }
        destinations::check(&request)?;
        let listener = listen(SocketAddr::new(request.host, request.tcp_port))
            .map_err(|error| failed("TCP", request.host, request.tcp_port, &error))?;
        let udp = UdpSocket::bind(SocketAddr::new(request.host, request.udp_port))
            .map_err(|error| failed("UDP", request.host, request.udp_port, &error))?;
        let more = destinations::others(&request, &udp)?;
        Self::run(request, listener, udp, more)
            .map_err(Failure::of_limits("the echo server cannot start"))
    }

    fn run(
        request: Request,
        listener: TcpListener,
        udp: UdpSocket,
        more: Vec<UdpSocket>,
    ) -> std::io::Result<Self> {
        let (tcp, udp_address) = (listener.local_addr()?, udp.local_addr()?);
        widen(&udp)?;
        let shared = Shared::new(request.cpus, request.wait);
        shared.arrivals.of(&listener)?;
        let events = request.engine == Engine::Events || request.dns.is_some();
        let (stop, threads) = if request.web {
            let delay = request.faults.map_or(0.0, |faults| faults.delay_ms);
            let stop = Arc::new(Notify::new());
            let delay = Duration::from_secs_f64(delay / 1e3);
            let thread = web::start(listener, udp, delay, &shared, Arc::clone(&stop))?;
            (Stop::Web(stop), vec![thread])
        } else if request.faults.is_some() || events {
            let waker = Arc::new(Waker::new()?);
            let wakes = Arc::clone(&waker);
            let (sender, made) = std::sync::mpsc::channel();
            let thread = shared.spawn(move |shared| {
                // The engine is made on this thread because its parts cannot change threads.
                let made = Events::new(listener, udp, request.faults, request.dns, &wakes, shared);
                match made.and_then(|events| events.with_destinations(more)) {
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
            let accepts = shared.spawn(move |shared| {
                blocking::accept(&listener, &connections, request.tls, shared)
            })?;
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

    /// The server's counts. They remain readable after its end.
    pub fn counts(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    pub fn state(&self) -> State {
        State {
            tcp: self.tcp,
            udp: self.udp,
            cpu_s: self.shared.cpu_ns() as f64 / 1e9,
            counted: Arc::clone(&self.shared.counters),
        }
    }

    /// Ends every connection, and returns when all threads have ended.
    pub fn stop(&self) {
        self.shared.end();
        match &self.stop {
            Stop::Blocking {
                listener,
                udp,
                connections,
            } => {
                // This wakes `accept` and `recvmmsg`, although the call itself reports an error on these sockets.
                let _ = SockRef::from(listener).shutdown(std::net::Shutdown::Both);
                let _ = SockRef::from(udp).shutdown(std::net::Shutdown::Both);
                connections.end();
            }
            Stop::Events(waker) => waker.wake(),
            Stop::Web(stop) => stop.notify_one(),
        }
        let threads = std::mem::take(&mut *lock(&self.threads));
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
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
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
