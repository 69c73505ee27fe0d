//! The blocking engine's TCP side: a thread per connection.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::bulk::{Checker, First, HEADER, Header, Source, confirmation};
use super::counters::{Counters, Told};
use super::shared::Shared;
use super::tls::Session;
use super::{flow, flow_far};
use crate::lock::lock;
use crate::net::wait::{Wait, pause};

/// The server closes connections above this limit at once. The events engine has room for thousands.
pub const MAX_CONNECTIONS: usize = 1024;
const BUFFER: usize = 64 * 1024;
/// How long a connection may be idle between two bulk transfers.
const BETWEEN_TRANSFERS: Duration = Duration::from_secs(2);

/// Open connections, kept so that [`Connections::end`] can shut them down.
#[derive(Default)]
pub struct Connections(Mutex<HashMap<u64, Arc<TcpStream>>>);

impl Connections {
    fn all(&self) -> MutexGuard<'_, HashMap<u64, Arc<TcpStream>>> {
        lock(&self.0)
    }

    pub fn end(&self) {
        for stream in self.all().values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

pub fn accept(
    listener: &TcpListener,
    connections: &Arc<Connections>,
    tls: bool,
    shared: &Arc<Shared>,
) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for number in 0.. {
        // The queue is not empty, so that `accept` does not wait.
        let waited = await_one(listener);
        if shared.ending() {
            break;
        }
        threads.retain(|thread| !thread.is_finished());
        let accepted = waited.and_then(|()| shared.arrivals.take(|| listener.accept()));
        let Ok((stream, _)) = accepted else {
            // The likely cause is that no file descriptor is left. The next try may find one.
            std::thread::sleep(std::time::Duration::from_millis(10));
            continue;
        };
        shared.counters.accepted();
        if threads.len() >= MAX_CONNECTIONS {
            continue;
        }
        Counters::add(&shared.counters.tcp_connections, 1);
        let stream = Arc::new(stream);
        connections.all().insert(number, Arc::clone(&stream));
        let all = Arc::clone(connections);
        let started = shared.spawn(move |shared| {
            let _ = serve(&stream, tls, shared);
            all.all().remove(&number);
        });
        match started {
            Ok(thread) => threads.push(thread),
            Err(_) => drop(connections.all().remove(&number)),
        }
    }
    connections.end();
    for thread in threads {
        let _ = thread.join();
    }
}

/// Waits until a connection waits to be accepted, or the listener is shut down.
fn await_one(listener: &TcpListener) -> io::Result<()> {
    let mut fds = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::NONE)?;
    Ok(())
}

fn serve(stream: &TcpStream, tls: bool, shared: &Shared) -> io::Result<()> {
    let told = Told::default();
    let served = serve_tagged(stream, tls, shared, &told);
    told.ended(&shared.counters);
    served
}

fn serve_tagged(stream: &TcpStream, tls: bool, shared: &Shared, told: &Told) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_nonblocking(shared.wait != Wait::Block)?;
    let session = tls.then(Session::new).transpose()?;
    let mut connection = Patient {
        stream,
        session: session.as_ref(),
        shared,
        told,
    };
    let mut buffer = vec![0; BUFFER];
    let mut have = 0;
    loop {
        match Header::decode(&buffer[..have]) {
            First::Unsure => have += some(connection.read(&mut buffer[have..HEADER])?)?,
            First::Bulk(header) => {
                connection.told.begins(header.tag, have, &shared.counters);
                transfer(connection, header, &mut buffer)?;
                have = some(next_header(connection, &mut buffer[..HEADER])?)?;
            }
            First::Flow(header) if !tls => {
                connection.told.begins(header.tag, have, &shared.counters);
                let mut name = [0; flow::NAME_BYTES];
                let name = &mut name[..header.name_bytes];
                connection.read_exact(name)?;
                return flow_far::serve(stream, shared, header, name);
            }
            First::Flow(_) | First::Broken => return Err(io::ErrorKind::InvalidData.into()),
            First::Echo => break,
        }
    }
    connection.told.begins(buffer[0], have, &shared.counters);
    loop {
        Counters::add(&shared.counters.tcp_bytes, have);
        connection.write_all(&buffer[..have])?;
        have = some(connection.read(&mut buffer)?)?;
    }
}

/// Waits for the header of the next transfer, for a bounded time. Some proxies keep a connection open for minutes after the client has
/// closed its side. Without the bound, idle connections would use up the limit.
fn next_header(mut connection: Patient<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    if connection.shared.wait != Wait::Block {
        return connection.read(buffer);
    }
    connection
        .stream
        .set_read_timeout(Some(BETWEEN_TRANSFERS))?;
    let count = connection.read_once(buffer)?;
    connection.told.received(count, &connection.shared.counters);
    connection.stream.set_read_timeout(None)?;
    Ok(count)
}

fn some(count: usize) -> io::Result<usize> {
    if count == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(count)
}

fn transfer(mut connection: Patient<'_>, header: Header, buffer: &mut [u8]) -> io::Result<()> {
    let (up, down) = (header.direction.up(), header.direction.down());
    if up && down {
        std::thread::scope(|scope| {
            let source = scope.spawn(move || {
                let mut sent = Ok(());
                connection.shared.run(|| sent = send(connection, header));
                sent
            });
            let confirmation = receive(connection, header, buffer)?;
            source.join().map_err(|_| io::ErrorKind::Other)??;
            connection.write_all(&confirmation)
        })
    } else if up {
        let confirmation = receive(connection, header, buffer)?;
        connection.write_all(&confirmation)
    } else {
        send(connection, header)
    }
}

fn send(mut connection: Patient<'_>, header: Header) -> io::Result<()> {
    let mut source = Source::new(header.bytes, header.write_bytes);
    while !source.done() {
        let sent = connection.write(source.next())?;
        source.written(sent);
        Counters::add(&connection.shared.counters.tcp_bytes, sent);
    }
    Ok(())
}

fn receive(mut connection: Patient<'_>, header: Header, buffer: &mut [u8]) -> io::Result<[u8; 8]> {
    let mut checker = Checker::new(header.every_byte);
    while checker.received() < header.bytes {
        let left = (header.bytes - checker.received()).min(buffer.len() as u64) as usize;
        let count = some(connection.read(&mut buffer[..left])?)?;
        checker.take(&buffer[..count]);
        Counters::add(&connection.shared.counters.tcp_bytes, count);
    }
    Ok(confirmation(checker.received(), checker.first_wrong()))
}

/// A connection, with the way in which the server waits for data.
#[derive(Clone, Copy)]
struct Patient<'a> {
    stream: &'a TcpStream,
    /// TLS over the stream, if the server has TLS. Transfers then go one way at a time.
    session: Option<&'a Session>,
    shared: &'a Shared,
    told: &'a Told,
}

impl Patient<'_> {
    fn read_once(self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut stream = self.stream;
        match self.session {
            Some(session) => session.read(stream, buffer),
            None => stream.read(buffer),
        }
    }

    fn write_once(self, bytes: &[u8]) -> io::Result<usize> {
        let mut stream = self.stream;
        match self.session {
            Some(session) => session.write(stream, bytes),
            None => stream.write(bytes),
        }
    }

    fn wait(self, mut what: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
        loop {
            match what() {
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock && !self.shared.ending() =>
                {
                    pause(self.shared.wait);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.wait(|| self.read_once(buffer))?;
        self.told.received(count, &self.shared.counters);
        Ok(count)
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.wait(|| self.write_once(bytes))?;
        self.told.sent(count, &self.shared.counters);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
