//! The connection to a proxy, or to a target: TCP, or TLS over TCP. Probes use both in the same way.
//!
//! The stream reads and writes as a socket does, and waits as its socket is set to. If a read fills less than its buffer, the stream holds
//! nothing back: a poll of the socket shows what follows. If a read fills its buffer, [`Stream::holds`] says whether there is more. A write
//! fails with [`io::ErrorKind::WouldBlock`] until the kernel has all its bytes; the caller repeats the write with the same bytes. One thread
//! may read while another writes.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use nix::sys::socket::{MsgFlags, recv, send};
use rustls::ClientConnection;

use super::kinds::{ErrorKind, ProbeError};
use super::tls::{About, Fault, Session, Tls};
use crate::lock::lock;
use crate::net::wait::is_early;

/// Bytes of one read of the socket, at first; a read that fills them raises them to the second value. Thousands of tunnels with small
/// payloads stay small.
const INPUT: usize = 4 * 1024;
const MOST_INPUT: usize = 64 * 1024;
/// Bytes of a write that are encrypted at once, at most.
const OUTPUT: usize = 64 * 1024;
/// System calls of one write, at most: a peer that takes little at a time must not hide a cancel.
const TRIES: usize = 2;

pub enum Stream {
    Plain(TcpStream),
    Tls(Box<Secured>),
}

/// A thread takes the locks in this order: output, input, connection.
pub struct Secured {
    socket: TcpStream,
    about: Arc<About>,
    input: Mutex<Input>,
    output: Mutex<Output>,
    connection: Mutex<ClientConnection>,
    holds: AtomicBool,
}

/// Bytes that came and are not decrypted yet.
struct Input {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
}

/// Encrypted bytes that the kernel has not taken yet.
#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    from: usize,
    /// Bytes of payload in it.
    payload: usize,
}

/// With the kernel's number, which callers look at.
fn would_block() -> io::Error {
    io::Error::from_raw_os_error(nix::libc::EAGAIN)
}

/// The error of a TLS handshake.
pub fn unsecured(error: &io::Error) -> ProbeError {
    let mut found = ProbeError::io("TLS handshake", error);
    if found.kind != ErrorKind::Tls {
        found
            .message
            .push_str("; does it speak TLS? If not, leave tls out");
    }
    found
}

impl Stream {
    /// The caller begins TLS by [`Self::handshake`].
    pub fn new(socket: TcpStream, tls: Option<&Tls>) -> io::Result<Self> {
        let Some(tls) = tls else {
            return Ok(Self::Plain(socket));
        };
        Ok(Self::Tls(Box::new(Secured {
            socket,
            about: tls.about(),
            input: Mutex::new(Input {
                bytes: vec![0; INPUT],
                from: 0,
                to: 0,
            }),
            output: Mutex::default(),
            connection: Mutex::new(tls.connection()?),
            holds: AtomicBool::new(false),
        })))
    }

    /// The connection's socket. Its bytes are not the stream's.
    pub fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(secured) => &secured.socket,
        }
    }

    /// Goes on with the handshake of TLS. False where the peer, or the kernel, is awaited.
    pub fn handshake(&self) -> io::Result<bool> {
        match self {
            Self::Plain(_) => Ok(true),
            Self::Tls(secured) => secured.handshake(),
        }
    }

    /// Version and cipher that the handshake negotiated; none before its end, and without TLS.
    pub fn session(&self) -> Option<Session> {
        let Self::Tls(secured) = self else {
            return None;
        };
        let connection = lock(&secured.connection);
        Some(Session {
            version: connection.protocol_version()?.as_str()?.to_owned(),
            cipher: connection
                .negotiated_cipher_suite()?
                .suite()
                .as_str()?
                .to_owned(),
        })
    }

    /// Whether the handshake waits for the kernel to take bytes.
    pub fn wants_write(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(secured) => lock(&secured.output).waits(),
        }
    }

    /// Whether the last read left bytes that a poll of the socket does not show.
    pub fn holds(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(secured) => secured.holds.load(Ordering::Relaxed),
        }
    }

    /// Whether the peer has ended the connection. The call does not wait. It may discard a byte of a TLS connection.
    pub fn ended(&self) -> bool {
        let end = match self {
            Self::Plain(socket) => {
                let look = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
                recv(socket.as_raw_fd(), &mut [0], look).map_err(io::Error::from)
            }
            Self::Tls(secured) => secured.read(&mut [0], MsgFlags::MSG_DONTWAIT),
        };
        match end {
            Ok(count) => count == 0,
            Err(error) => !is_early(&error),
        }
    }

    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        if let Self::Tls(secured) = self
            && how != Shutdown::Read
        {
            secured.say_end();
        }
        self.socket().shutdown(how)
    }
}

impl Input {
    /// Reads the socket once. 0 is the peer's end.
    fn fill(&mut self, socket: &TcpStream, flags: MsgFlags) -> io::Result<usize> {
        if self.to == self.bytes.len() && self.to < MOST_INPUT {
            self.bytes.resize(MOST_INPUT, 0);
        }
        (self.from, self.to) = (0, 0);
        self.to = recv(socket.as_raw_fd(), &mut self.bytes, flags)?;
        Ok(self.to)
    }

    fn is_empty(&self) -> bool {
        self.from == self.to
    }

    fn feed(&mut self, connection: &mut ClientConnection, about: &About) -> io::Result<()> {
        let mut rest = &self.bytes[self.from..self.to];
        let taken = connection.read_tls(&mut rest)?;
        // Behind the peer's end nothing is taken.
        self.from = if taken > 0 {
            self.from + taken
        } else {
            self.to
        };
        let read = connection.process_new_packets();
        read.map(drop).map_err(|error| about.fault(&error))
    }
}

impl Output {
    fn waits(&self) -> bool {
        self.from < self.bytes.len()
    }

    fn take(&mut self, connection: &mut ClientConnection) -> io::Result<()> {
        while connection.wants_write() {
            connection.write_tls(&mut self.bytes)?;
        }
        Ok(())
    }

    fn flush(&mut self, mut socket: &TcpStream) -> io::Result<()> {
        for _ in 0..TRIES {
            if !self.waits() {
                break;
            }
            self.from += socket.write(&self.bytes[self.from..])?;
        }
        if self.waits() {
            return Err(would_block());
        }
        self.bytes.clear();
        self.from = 0;
        Ok(())
    }
}

impl Secured {
    fn handshake(&self) -> io::Result<bool> {
        let mut output = lock(&self.output);
        let mut send = |connection: &mut ClientConnection| {
            output.take(connection)?;
            match output.flush(&self.socket) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
                flushed => flushed.map(|()| true),
            }
        };
        let mut input = lock(&self.input);
        let mut connection = lock(&self.connection);
        if !send(&mut connection)? {
            return Ok(false);
        }
        if !connection.is_handshaking() {
            return Ok(true);
        }
        match input.fill(&self.socket, MsgFlags::empty()) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(error) if is_early(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
        while !input.is_empty() {
            if let Err(error) = input.feed(&mut connection, &self.about) {
                // An alert tells the peer the reason.
                let _ = send(&mut connection);
                return Err(error);
            }
        }
        Ok(send(&mut connection)? && !connection.is_handshaking())
    }

    fn read(&self, buffer: &mut [u8], flags: MsgFlags) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let mut input = lock(&self.input);
        self.holds.store(false, Ordering::Relaxed);
        for asks in [true, false] {
            if let Some(have) = self.decrypted(&mut input, buffer)? {
                return Ok(have);
            }
            if asks {
                match input.fill(&self.socket, flags) {
                    Ok(0) => return self.about.unaccepted().map_or(Ok(0), Err),
                    Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                        return Err(self.about.unaccepted().unwrap_or(error));
                    }
                    filled => filled?,
                };
            }
        }
        // A part of a record came: the caller looks whether its wait is over.
        Err(would_block())
    }

    /// Decrypts what came. Some(0) is the peer's end, and none means that nothing is there yet.
    fn decrypted(&self, input: &mut Input, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut connection = lock(&self.connection);
        let mut have = 0;
        loop {
            match connection.reader().read(&mut buffer[have..]) {
                Ok(0) => return Ok(Some(have)),
                Ok(count) => {
                    have += count;
                    self.about.accept();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if have == buffer.len() {
                let state = connection.process_new_packets();
                let more = state.map_or(0, |state| state.plaintext_bytes_to_read());
                let holds = more > 0 || !input.is_empty();
                self.holds.store(holds, Ordering::Relaxed);
                return Ok(Some(have));
            }
            if input.is_empty() {
                return Ok((have > 0).then_some(have));
            }
            input.feed(&mut connection, &self.about)?;
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut output = lock(&self.output);
        if output.payload == 0 && !bytes.is_empty() {
            let part = &bytes[..bytes.len().min(OUTPUT)];
            let mut connection = lock(&self.connection);
            output.payload = connection.writer().write(part)?;
            output.take(&mut connection)?;
        }
        match output.flush(&self.socket) {
            Ok(()) => Ok(std::mem::take(&mut output.payload).min(bytes.len())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            Err(error) => Err(self.last_word().unwrap_or(error)),
        }
    }

    /// The alert by which the peer has ended the connection, if there is one.
    fn last_word(&self) -> Option<io::Error> {
        let said = self.read(&mut [0], MsgFlags::MSG_DONTWAIT).err()?;
        Fault::of(&said).is_some().then_some(said)
    }

    /// Sends close_notify, unless that would have to wait.
    fn say_end(&self) {
        let Ok(mut output) = self.output.try_lock() else {
            return;
        };
        if output.waits() {
            return;
        }
        let mut connection = lock(&self.connection);
        connection.send_close_notify();
        if output.take(&mut connection).is_ok() && output.waits() {
            let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
            let _ = send(self.socket.as_raw_fd(), &output.bytes, flags);
            output.bytes.clear();
        }
    }
}

/// A proxy may take an end without close_notify for an error.
impl Drop for Secured {
    fn drop(&mut self) {
        self.say_end();
    }
}

impl Read for &Stream {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => (&mut &*socket).read(buffer),
            Stream::Tls(secured) => secured.read(buffer, MsgFlags::empty()),
        }
    }
}

impl Write for &Stream {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => (&mut &*socket).write(bytes),
            Stream::Tls(secured) => secured.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket().as_fd()
    }
}
