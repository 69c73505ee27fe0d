//! A tap's datagrams. Each sender has its own socket towards the target, so that answers find their way back.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::UdpSocket;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::search::{Before, Search, Sender};
use super::wait_for_target;
use crate::net::batch::DATAGRAM;

/// The most senders. Datagrams of further senders are ignored.
const MOST: usize = 1_024;

/// Passes datagrams on until it is aborted. A datagram that cannot be passed on is lost, as datagrams may be.
pub async fn pass(
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
        if !onward.contains_key(&sender) && onward.len() < MOST {
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
