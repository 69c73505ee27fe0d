//! A tap stands between the two ends of a hop: it passes on what comes, connections and datagrams, and tells whether what
//! should be encrypted there could be read.

mod datagrams;
pub mod registry;
pub mod search;
mod streams;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::failure::{Failure, Result};
use search::{Found, Search};

/// A free port of TCP may be taken of UDP: so often is another one tried.
const TRIES: usize = 16;

/// `far` is where probes ask to be connected to: addresses that must not be readable in the hop.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    #[serde(default)]
    pub far: Vec<SocketAddr>,
}

/// Where it passes on to, an address of this machine; what comes before it is told waits.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub target: SocketAddr,
}

#[derive(Debug, Serialize)]
pub struct State {
    /// Of both, TCP and UDP.
    pub address: SocketAddr,
    #[serde(flatten)]
    pub found: Found,
}

/// One that runs. Dropping it ends it, and all that it passes on.
pub struct Tap {
    address: SocketAddr,
    search: Arc<Search>,
    target: watch::Sender<Option<SocketAddr>>,
    tasks: [JoinHandle<()>; 2],
}

impl Tap {
    /// On a free port of 127.0.0.1.
    pub async fn start(request: &Request) -> Result<Self> {
        let (listener, socket) = both().await.map_err(|error| {
            Failure::setup(
                format!("the tap cannot start: {error}"),
                "look at the machine's limits",
            )
        })?;
        let address = listener.local_addr().map_err(|error| {
            Failure::setup(format!("the tap has no address: {error}"), "start it again")
        })?;
        let search = Arc::new(Search::new(&request.far));
        let (target, of) = watch::channel(None);
        let tasks = [
            tokio::spawn(streams::pass(listener, of.clone(), Arc::clone(&search))),
            tokio::spawn(datagrams::pass(socket, of, Arc::clone(&search))),
        ];
        Ok(Self {
            address,
            search,
            target,
            tasks,
        })
    }

    pub fn pass_to(&self, Target { target }: &Target) -> Result<()> {
        if !target.ip().is_loopback() {
            return Err(Failure::invalid(
                format!("target: {target} is not a loopback address"),
                "give an address of this machine, such as 127.0.0.1:1080",
            ));
        }
        self.target.send_replace(Some(*target));
        Ok(())
    }

    pub fn state(&self) -> State {
        State {
            address: self.address,
            found: self.search.found(),
        }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// On one port.
async fn both() -> std::io::Result<(TcpListener, Arc<UdpSocket>)> {
    let mut last = None;
    for _ in 0..TRIES {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        match UdpSocket::bind(listener.local_addr()?).await {
            Ok(socket) => return Ok((listener, Arc::new(socket))),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into()))
}

/// Waits until it is told; none where it ends before.
async fn told(of: &mut watch::Receiver<Option<SocketAddr>>) -> Option<SocketAddr> {
    *of.wait_for(Option::is_some).await.ok()?
}
