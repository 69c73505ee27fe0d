//! One association of a user: each datagram follows the answer to the one before it.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;

use super::flow::{self, BLOCK, Input, Output, kind, sequence};
use super::packets::Packets;
use super::shared::{Shared, blocks, note_first};
use super::spec::Credential;
use crate::probe::associations;
use crate::probe::kinds::ErrorKind;
use crate::probe::outcome::UserOutcome;

enum Path {
    Stream(Input, Output),
    /// For Shadowsocks.
    Socket(UdpSocket),
}

impl Path {
    async fn open(shared: &Shared, credential: &Credential) -> Result<Self, ErrorKind> {
        if !matches!(credential, Credential::Shadowsocks { .. }) {
            let (input, output) = flow::connection(shared).await?;
            return Ok(Self::Stream(input, output));
        }
        let proxy = shared.users.at.address;
        let socket = associations::bind(proxy).and_then(UdpSocket::from_std);
        let socket = socket.map_err(kind)?;
        socket.connect(proxy).await.map_err(kind)?;
        Ok(Self::Socket(socket))
    }

    async fn send(&mut self, packet: &[u8]) -> Result<(), ErrorKind> {
        let sent = match self {
            Self::Stream(_, output) => match output.write_all(packet).await {
                Ok(()) => output.flush().await,
                failed => failed,
            },
            Self::Socket(socket) => socket.send(packet).await.map(drop),
        };
        sent.map_err(kind)
    }

    /// Adds what comes next to `input`.
    async fn receive(&mut self, room: &mut [u8], input: &mut Vec<u8>) -> Result<(), ErrorKind> {
        let count = match self {
            Self::Stream(stream, _) => stream.read(room).await.map_err(kind)?,
            Self::Socket(socket) => socket.recv(room).await.map_err(kind)?,
        };
        if count == 0 && matches!(self, Self::Stream(..)) {
            return Err(ErrorKind::Closed);
        }
        input.extend_from_slice(&room[..count]);
        Ok(())
    }
}

/// `sent` and `outcome` have what was carried, also where the time is over.
pub async fn carry(
    shared: &Shared,
    user: usize,
    began: u64,
    sent: &AtomicU64,
    outcome: &mut UserOutcome,
) -> Result<(), ErrorKind> {
    let credential = &shared.users.credentials[user];
    let (mut out, mut input) = (Vec::new(), Vec::new());
    let mut packets = Packets::begin(credential, &shared.target, &mut out)?;
    let mut path = Path::open(shared, credential).await?;
    let (mut payload, mut room) = (vec![0; shared.pattern.size()], vec![0; BLOCK]);
    for (number, length) in blocks(shared.bytes[user], payload.len()) {
        shared.pattern.fill(sequence(user, number), &mut payload);
        packets.push(&payload[..length], &mut out)?;
        sent.fetch_add(length as u64, Ordering::Relaxed);
        path.send(&out).await?;
        out.clear();
        let answer = loop {
            match packets.take(&mut input)? {
                Some(answer) => break answer,
                None => path.receive(&mut room, &mut input).await?,
            }
        };
        outcome.received += answer.len() as u64;
        note_first(shared, began, outcome);
        if answer != payload[..length] {
            return Err(ErrorKind::Corrupted);
        }
    }
    Ok(())
}
