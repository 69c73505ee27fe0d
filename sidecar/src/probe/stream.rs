//! The connection to a proxy, or to a target: TCP, or TLS over it. Nobody else has to know which.
//!
//! It reads and writes as a socket does, and waits as its socket is set to. A read that gives less than was asked for holds nothing back, so
//! that a poll of the socket sees all that is to come; after one that gave all, [`Stream::holds`] says whether there is more. A write whose
//! bytes the kernel did not all take is [`io::ErrorKind::WouldBlock`], and is done again with the same bytes. One thread may read while
//! another writes.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::sys::socket::{MsgFlags, recv, send};
use rustls::ClientConnection;

use super::kinds::{ErrorKind, ProbeError};
use super::tls::{About, Fault, Tls};

/// Read from the socket at once, bytes: the first time, and where so much came at once. Thousands of tunnels with little to read stay small.
const INPUT: usize = 4 * 1024;
const MOST_INPUT: usize = 64 * 1024;
/// The most of a write that is encrypted at once, bytes.
const OUTPUT: usize = 64 * 1024;
/// Writes to the socket in one write of a peer that takes little at a time: a cancel must be seen.
const TRIES: usize = 2;

pub enum Stream {
    Plain(TcpStream),
    Tls(Box<Secured>),
}

/// Locks are taken in this order: of the input or the output, then of the connection.
pub struct Secured {
    socket: TcpStream,
    about: Arc<About>,
    input: Mutex<Input>,
    output: Mutex<Output>,
    connection: Mutex<ClientConnection>,
    holds: AtomicBool,
}

/// What came and is not decrypted.
struct Input {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
}

/// What is encrypted and has not gone out.
#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    from: usize,
    /// Payload of it.
    payload: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As the kernel says it, for who asks for its number.
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
    /// TLS begins with [`Self::handshake`].
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

    /// Whether the handshake waits for the kernel to take bytes.
    pub fn wants_write(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(secured) => lock(&secured.output).waits(),
        }
    }

    /// Whether the last read left something that no poll of the socket sees.
    pub fn holds(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(secured) => secured.holds.load(Ordering::Relaxed),
        }
    }

    /// Whether the peer has ended the connection. Waits for nothing; what else came is let go.
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
            Err(error) => !matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            ),
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
    /// Waits as the socket is set to, and gives what came; 0 is the peer's end.
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

    /// Decrypts a part.
    fn feed(&mut self, connection: &mut ClientConnection, about: &About) -> io::Result<()> {
        let mut rest = &self.bytes[self.from..self.to];
        let taken = connection.read_tls(&mut rest)?;
        // Behind the peer's end nothing is taken.
        self.from = if taken > 0 { self.from + taken } else { self.to };
        let read = connection.process_new_packets();
        read.map(drop).map_err(|error| about.fault(&error))
    }
}

impl Output {
    fn waits(&self) -> bool {
        self.from < self.bytes.len()
    }

    /// Takes what a connection has to send.
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
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(false),
            Err(error) => return Err(error),
        }
        while !input.is_empty() {
            if let Err(error) = input.feed(&mut connection, &self.about) {
                // The peer is told by an alert.
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
            if asks && input.fill(&self.socket, flags)? == 0 {
                return Ok(0);
            }
        }
        // A part of a record: whoever waits looks whether the wait is over.
        Err(would_block())
    }

    /// As much as there is; nothing is the peer's end, and none: there is nothing yet.
    fn decrypted(&self, input: &mut Input, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut connection = lock(&self.connection);
        let mut have = 0;
        loop {
            match connection.reader().read(&mut buffer[have..]) {
                Ok(0) => return Ok(Some(have)),
                Ok(count) => have += count,
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

    /// Why the peer has ended the connection, where it said so in an alert.
    fn last_word(&self) -> Option<io::Error> {
        let said = self.read(&mut [0], MsgFlags::MSG_DONTWAIT).err()?;
        Fault::of(&said).is_some().then_some(said)
    }

    /// Says that nothing more comes, unless that had to wait.
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

/// As a program's TLS does: a proxy may take an end without a word for an error.
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

impl Read for Stream {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&mut &*self).read(buffer)
    }
}

impl Write for Stream {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&mut &*self).write(bytes)
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
