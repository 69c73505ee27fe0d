//! A tap stands between the two ends of a hop. It passes on connections and datagrams, and checks whether encrypted content can be read in
//! the hop.

pub mod search;

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Duration, sleep};

use crate::failure::{Failure, Result, refuse};
use crate::net::batch::DATAGRAM;
use search::{Before, Found, Search, Sender};

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
            tokio::spawn(pass_streams(listener, of.clone(), Arc::clone(&search))),
            tokio::spawn(pass_datagrams(socket, of, Arc::clone(&search))),
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

/// The most connections at once. Further connections wait.
const MOST_CONNECTIONS: usize = 1_024;
const BUFFER: usize = 16 * 1024;

/// Passes connections on until it is aborted, and then ends all of them.
async fn pass_streams(
    listener: TcpListener,
    of: watch::Receiver<Option<SocketAddr>>,
    search: Arc<Search>,
) {
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= MOST_CONNECTIONS {
            connections.join_next().await;
        }
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            // The likely cause is that no file descriptor is left. The next try may find one.
            sleep(Duration::from_millis(10)).await;
            continue;
        };
        connections.spawn(connect(stream, of.clone(), Arc::clone(&search)));
    }
}

/// Connects to the target. If that fails, the client's connection is closed, as it would be without the tap.
async fn connect(
    near: TcpStream,
    mut of: watch::Receiver<Option<SocketAddr>>,
    search: Arc<Search>,
) {
    let Some(target) = wait_for_target(&mut of).await else {
        return;
    };
    let Ok(far) = TcpStream::connect(target).await else {
        return;
    };
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let (from_near, to_near) = near.into_split();
    let (from_far, to_far) = far.into_split();
    tokio::join!(
        copy(Sender::Client, from_near, to_far, &search),
        copy(Sender::Server, from_far, to_near, &search),
    );
}

/// Copies until the end of the stream, and passes on the end.
async fn copy(who: Sender, mut from: OwnedReadHalf, mut to: OwnedWriteHalf, search: &Search) {
    let mut buffer = vec![0; BUFFER];
    let mut before = Before::default();
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        search.look(who, &mut before, &buffer[..read]);
        if to.write_all(&buffer[..read]).await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
}

/// The most senders. Datagrams of further senders are ignored.
const MOST_SENDERS: usize = 1_024;

/// Passes datagrams on until it is aborted. A datagram that cannot be passed on is lost, as datagrams may be.
async fn pass_datagrams(
    socket: Arc<UdpSocket>,
    mut of: watch::Receiver<Option<SocketAddr>>,
    search: Arc<Search>,
) {
    let mut onward: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
    let mut answers = JoinSet::new();
    let mut buffer = vec![0; DATAGRAM];
    let Some(target) = wait_for_target(&mut of).await else {
        return;
    };
    loop {
        let Ok((read, sender)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        search.look(Sender::Client, &mut Before::default(), &buffer[..read]);
        if !onward.contains_key(&sender) && onward.len() < MOST_SENDERS {
            let Ok(upstream) = towards(target).await else {
                continue;
            };
            answers.spawn(answer(
                Arc::clone(&upstream),
                Arc::clone(&socket),
                sender,
                Arc::clone(&search),
            ));
            onward.insert(sender, upstream);
        }
        if let Some(upstream) = onward.get(&sender) {
            let _ = upstream.send(&buffer[..read]).await;
        }
    }
}

async fn towards(target: SocketAddr) -> std::io::Result<Arc<UdpSocket>> {
    let upstream = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    upstream.connect(target).await?;
    Ok(Arc::new(upstream))
}

async fn answer(
    upstream: Arc<UdpSocket>,
    socket: Arc<UdpSocket>,
    sender: SocketAddr,
    search: Arc<Search>,
) {
    let mut buffer = vec![0; DATAGRAM];
    loop {
        // The error belongs to one refused datagram. The next datagram may pass.
        let Ok(read) = upstream.recv(&mut buffer).await else {
            continue;
        };
        search.look(Sender::Server, &mut Before::default(), &buffer[..read]);
        let _ = socket.send_to(&buffer[..read], sender).await;
    }
}
