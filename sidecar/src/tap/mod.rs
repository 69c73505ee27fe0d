//! A tap stands between the two ends of a hop. It passes on connections and datagrams, and checks whether encrypted content can be read in
//! the hop.

mod datagrams;
pub mod search;
mod streams;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::failure::{Failure, Result, refuse};
use search::{Found, Search};

/// The number of ports to try: a free TCP port may be in use for UDP.
const TRIES: usize = 16;

/// `far` lists the targets of probes: addresses that must not be readable in the hop.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    #[serde(default)]
    pub far: Vec<SocketAddr>,
}

/// The target, an address of this machine. Until it is known, traffic waits.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub target: SocketAddr,
}

#[derive(Debug, Serialize)]
pub struct State {
    /// The tap's address, for both TCP and UDP.
    pub address: SocketAddr,
    #[serde(flatten)]
    pub found: Found,
}

/// A running tap. Dropping it stops the tap and all its traffic.
pub struct Tap {
    address: SocketAddr,
    search: Arc<Search>,
    target: watch::Sender<Option<SocketAddr>>,
    tasks: [JoinHandle<()>; 2],
}

impl Tap {
    /// Starts a tap on a free port of 127.0.0.1.
    pub async fn start(request: &Request) -> Result<Self> {
        let (listener, socket) = both()
            .await
            .map_err(Failure::of_limits("the tap cannot start"))?;
        let address = listener.local_addr().map_err(Failure::of_setup(
            "the tap has no address",
            "start it again",
        ))?;
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
        refuse(
            !target.ip().is_loopback(),
            &format!("target: {target} is not a loopback address"),
            "give an address of this machine, such as 127.0.0.1:1080",
        )?;
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

/// Waits for the target; `None` if the tap ends before.
async fn wait_for_target(of: &mut watch::Receiver<Option<SocketAddr>>) -> Option<SocketAddr> {
    *of.wait_for(Option::is_some).await.ok()?
}
