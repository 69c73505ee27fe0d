//! A web server as far end: HTTP/2 over TLS 1.3 on the TCP port, and HTTP/3 over QUIC on the UDP port.
//!
//! The path of a request is the header of a bulk transfer ([`super::bulk`]) in 32 hexadecimal digits, and the body is its bytes. The
//! server counts a connection with its first request, by the header's tag: 16 bytes received for each request, and the bytes of the
//! bodies sent.

mod identity;

use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use h3_quinn::Connection as Transport;
use http::{Request, Response, StatusCode};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, EndpointConfig, Incoming, ServerConfig, TokioRuntime};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use super::Request as Wanted;
use super::bulk::{First, HEADER, Header, Source};
use super::counters::Counters;
use super::faults::Faults;
use super::shared::Shared;
use crate::failure::{Result as Checked, refuse};
pub use identity::{NAME, client};

/// Names in ALPN (RFC 9113, 3.2; RFC 9114, 3.1).
pub const H2: &str = "h2";
pub const H3: &str = "h3";

type Over = Box<dyn Error + Send + Sync>;
type Stream = h3::server::RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>;

struct Site {
    /// Before each answer.
    delay: Duration,
    shared: Arc<Shared>,
    acceptor: TlsAcceptor,
}

/// A web server is no DNS server, and has one of the faults.
pub fn check(request: &Wanted) -> Checked<()> {
    refuse(
        request.dns.is_some(),
        "web: the server is a DNS server already",
        "leave web or dns out",
    )?;
    let faults = request.faults.clone().unwrap_or_default();
    let delayed = Faults {
        delay_ms: faults.delay_ms,
        ..Faults::default()
    };
    refuse(
        faults != delayed,
        "faults: a web server has none but delay_ms",
        "leave the others out",
    )
}

pub fn path(header: Header) -> String {
    format!("/{:032x}", u128::from_be_bytes(header.encode()))
}

/// Starts the server on a thread of `shared`. It ends after [`Notify::notify_one`].
pub fn start(
    listener: TcpListener,
    udp: UdpSocket,
    delay: Duration,
    shared: &Arc<Shared>,
    stop: Arc<Notify>,
) -> io::Result<JoinHandle<()>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let inside = runtime.enter();
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let tls = QuicServerConfig::try_from(identity::server(H3)?).map_err(io::Error::other)?;
    let endpoint = Endpoint::new(
        EndpointConfig::default(),
        Some(ServerConfig::with_crypto(Arc::new(tls))),
        udp,
        Arc::new(TokioRuntime),
    )?;
    let acceptor = TlsAcceptor::from(Arc::new(identity::server(H2)?));
    drop(inside);
    shared.spawn(move |shared| {
        let site = Arc::new(Site {
            delay,
            shared: Arc::clone(shared),
            acceptor,
        });
        runtime.block_on(async {
            tokio::spawn(accept_tcp(Arc::clone(&site), listener));
            tokio::spawn(accept_quic(site, endpoint.clone()));
            stop.notified().await;
            endpoint.close(0_u32.into(), b"");
        });
    })
}

async fn accept_tcp(site: Arc<Site>, listener: tokio::net::TcpListener) {
    loop {
        match listener.accept().await {
            // A connection that breaks is the probe's to report.
            Ok((socket, _)) => drop(tokio::spawn(over_tcp(Arc::clone(&site), socket))),
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn accept_quic(site: Arc<Site>, endpoint: Endpoint) {
    while let Some(incoming) = endpoint.accept().await {
        tokio::spawn(over_quic(Arc::clone(&site), incoming));
    }
}

async fn over_tcp(site: Arc<Site>, socket: TcpStream) -> Result<(), Over> {
    socket.set_nodelay(true)?;
    site.shared.counters.accepted();
    let secured = site.acceptor.accept(socket).await?;
    let mut connection = h2::server::handshake(secured).await?;
    let mut first = true;
    while let Some(request) = connection.accept().await {
        let (request, mut respond) = request?;
        match site.object(&request, &mut first) {
            Some(header) => drop(tokio::spawn(by_h2(Arc::clone(&site), header, respond))),
            None => drop(respond.send_response(not_found(), true)?),
        }
    }
    Ok(())
}

async fn by_h2(
    site: Arc<Site>,
    header: Header,
    mut respond: h2::server::SendResponse<Bytes>,
) -> Result<(), Over> {
    tokio::time::sleep(site.delay).await;
    let mut body = respond.send_response(Response::new(()), false)?;
    let mut source = Source::new(header.bytes, header.write_bytes);
    while !source.done() {
        body.reserve_capacity(source.next().len());
        while body.capacity() == 0 {
            poll_fn(|context| body.poll_capacity(context))
                .await
                .ok_or("the client has reset the stream")??;
        }
        let piece = site.piece(header, &mut source, body.capacity());
        body.send_data(piece, source.done())?;
    }
    Ok(())
}

async fn over_quic(site: Arc<Site>, incoming: Incoming) -> Result<(), Over> {
    let connection = incoming.await?;
    site.shared.counters.accepted();
    let transport = Transport::new(connection);
    let mut connection = h3::server::Connection::<_, Bytes>::new(transport).await?;
    let mut first = true;
    while let Some(resolver) = connection.accept().await? {
        let (request, mut stream) = resolver.resolve_request().await?;
        match site.object(&request, &mut first) {
            Some(header) => drop(tokio::spawn(by_h3(Arc::clone(&site), header, stream))),
            None => stream.send_response(not_found()).await?,
        }
    }
    Ok(())
}

async fn by_h3(site: Arc<Site>, header: Header, mut stream: Stream) -> Result<(), Over> {
    tokio::time::sleep(site.delay).await;
    stream.send_response(Response::new(())).await?;
    let mut source = Source::new(header.bytes, header.write_bytes);
    while !source.done() {
        let piece = site.piece(header, &mut source, usize::MAX);
        stream.send_data(piece).await?;
    }
    stream.finish().await?;
    Ok(())
}

fn not_found() -> Response<()> {
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

impl Site {
    /// The object that a request names, which is then counted.
    fn object<T>(&self, request: &Request<T>, first: &mut bool) -> Option<Header> {
        let digits = request.uri().path().strip_prefix('/')?;
        let bytes = u128::from_str_radix(digits, 16).ok()?.to_be_bytes();
        let First::Bulk(header) = Header::decode(&bytes) else {
            return None;
        };
        let tagged = self.shared.counters.of(header.tag);
        if std::mem::take(first) {
            Counters::add(&tagged.connections, 1);
        }
        Counters::add(&tagged.bytes_received, HEADER);
        Some(header)
    }

    /// The next bytes of an object, counted as sent.
    fn piece(&self, header: Header, source: &mut Source, most: usize) -> Bytes {
        let bytes = source.next();
        let piece = Bytes::copy_from_slice(&bytes[..bytes.len().min(most)]);
        source.written(piece.len());
        let tagged = self.shared.counters.of(header.tag);
        Counters::add(&tagged.bytes_sent, piece.len());
        piece
    }
}
