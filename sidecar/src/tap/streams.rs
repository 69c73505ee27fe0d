//! A tap's connections.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Duration, sleep};

use super::search::{Before, Search, Sender};
use super::wait_for_target;

/// The most connections at once. Further connections wait.
const MOST: usize = 1_024;
const BUFFER: usize = 16 * 1024;

/// Passes connections on until it is aborted, and then ends all of them.
pub async fn pass(
    listener: TcpListener,
    of: watch::Receiver<Option<SocketAddr>>,
    search: Arc<Search>,
) {
    let mut connections = JoinSet::new();
    loop {
        while connections.len() >= MOST {
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
