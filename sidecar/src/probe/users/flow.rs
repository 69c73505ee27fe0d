//! One user's connection through the proxy.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::net::TcpStream;

use super::codec::{self, Down, Up};
use super::shared::Shared;
use crate::net::payload::Pattern;
use crate::probe::kinds::ErrorKind;

/// Bytes of one read, and of one block of payload.
pub const BLOCK: usize = 16 << 10;
/// Sequence numbers of different users are this far apart, so that another user's payload is found.
const APART: u32 = 61;

pub type Output = Box<dyn AsyncWrite + Send + Unpin>;
pub type Input = Box<dyn AsyncRead + Send + Unpin>;

/// The half that sends.
pub struct Sender {
    stream: Output,
    up: Up,
    /// Sealed bytes that the kernel has not taken yet.
    out: Vec<u8>,
}

/// The half that receives.
pub struct Receiver {
    stream: Input,
    down: Down,
    input: Vec<u8>,
    /// Payload that came and was not taken yet.
    plain: Vec<u8>,
}

pub fn kind(error: io::Error) -> ErrorKind {
    ErrorKind::of_io(&error)
}

/// The sequence number of a user's block.
pub fn sequence(user: usize, block: u64) -> u32 {
    (user as u32).wrapping_mul(APART).wrapping_add(block as u32)
}

pub async fn connection(shared: &Shared) -> Result<(Input, Output), ErrorKind> {
    let stream = TcpStream::connect(shared.users.at.address)
        .await
        .map_err(kind)?;
    stream.set_nodelay(true).map_err(kind)?;
    Ok(match &shared.users.tls {
        Some(tls) => {
            let (input, output) = split(tls.connect(stream).await.map_err(kind)?);
            (Box::new(input), Box::new(output))
        }
        None => {
            let (input, output) = stream.into_split();
            (Box::new(input), Box::new(output))
        }
    })
}

/// Dials the proxy. The request goes with the first payload.
pub async fn dial(shared: &Shared, user: usize) -> Result<(Sender, Receiver), ErrorKind> {
    let (input, output) = connection(shared).await?;
    let mut out = Vec::new();
    let (up, down) = codec::begin(&shared.users.credentials[user], &shared.target, &mut out)?;
    let sender = Sender {
        stream: output,
        up,
        out,
    };
    let receiver = Receiver {
        stream: input,
        down,
        input: vec![0; BLOCK],
        plain: Vec::new(),
    };
    Ok((sender, receiver))
}

impl Sender {
    pub async fn send(&mut self, payload: &[u8]) -> Result<(), ErrorKind> {
        self.up.push(payload, &mut self.out);
        self.stream.write_all(&self.out).await.map_err(kind)?;
        // TLS may hold bytes back.
        self.stream.flush().await.map_err(kind)?;
        self.out.clear();
        Ok(())
    }
}

impl Receiver {
    /// Waits until payload came, and returns its length. `closed`: the proxy has ended the connection.
    pub async fn more(&mut self) -> Result<u64, ErrorKind> {
        let before = self.plain.len();
        while self.plain.len() == before {
            let count = self.stream.read(&mut self.input).await.map_err(kind)?;
            if count == 0 {
                return Err(ErrorKind::Closed);
            }
            self.down.take(&self.input[..count], &mut self.plain)?;
        }
        Ok((self.plain.len() - before) as u64)
    }

    /// Takes the first `length` bytes of a block, if they came: whether each is right. None: they did not come yet.
    pub fn take(
        &mut self,
        pattern: &Pattern,
        sequence: u32,
        length: usize,
        room: &mut [u8],
    ) -> Option<bool> {
        let came = self.plain.get(..length)?;
        pattern.fill(sequence, room);
        let right = came == &room[..length];
        self.plain.drain(..length);
        Some(right)
    }

    pub fn has_more(&self) -> bool {
        !self.plain.is_empty()
    }
}
