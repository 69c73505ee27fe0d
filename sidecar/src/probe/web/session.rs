//! One HTTP connection of a client, and the objects that it asks for.

use std::fmt::Display;
use std::future::poll_fn;
use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use http::{Request, Response, StatusCode};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, EndpointConfig};
use quinn::{MtuDiscoveryConfig, TokioRuntime};
use rustls::pki_types::ServerName;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

use super::socket::Wrapped;
use crate::echo::bulk::{HEADER, Header};
use crate::echo::web::{self, H2, H3, NAME};
use crate::probe::download::Download;
use crate::probe::far_end::Moved;
use crate::probe::kinds::{ErrorKind, ProbeError};

/// Receive windows of an object, and of all together, bytes. Chrome has these for HTTP/2 (its
/// `kSpdyStreamMaxRecvWindowSize` and `kSpdySessionMaxRecvWindowSize`) and for QUIC.
const OBJECT_WINDOW: u32 = 6 << 20;
const WINDOW: u32 = 15 << 20;
/// TLS closes a connection by this and higher codes (RFC 9001, 4.8).
const CRYPTO_ERRORS: std::ops::Range<u64> = 0x100..0x200;

pub struct Asked {
    pub object: Header,
    pub moved: Moved,
}

#[derive(Clone)]
pub enum Session {
    Tcp(h2::client::SendRequest<Bytes>),
    Quic(
        h3::client::SendRequest<h3_quinn::OpenStreams, Bytes>,
        Connection,
    ),
}

/// An HTTP failure, with its step.
fn http(what: &str, error: impl Display) -> ProbeError {
    ProbeError::new(ErrorKind::Http, format!("{what}: {error}"))
}

/// Begins TLS and HTTP/2 on a tunnel.
pub async fn over_tcp(tunnel: TcpStream) -> Result<Session, ProbeError> {
    let failed = |error: io::Error| {
        let what = "TLS handshake with the far end";
        match error.kind() {
            io::ErrorKind::InvalidData => {
                ProbeError::new(ErrorKind::Tls, format!("{what}: {error}"))
            }
            _ => ProbeError::io(what, &error),
        }
    };
    tunnel.set_nonblocking(true).map_err(failed)?;
    let tunnel = tokio::net::TcpStream::from_std(tunnel).map_err(failed)?;
    let connector = TlsConnector::from(Arc::new(web::client(H2).map_err(failed)?));
    let name = ServerName::try_from(NAME).map_err(|error| http("TLS name", error))?;
    let secured = connector.connect(name, tunnel).await.map_err(failed)?;
    let (requests, connection) = h2::client::Builder::new()
        .initial_window_size(OBJECT_WINDOW)
        .initial_connection_window_size(WINDOW)
        .enable_push(false)
        .handshake(secured)
        .await
        .map_err(|error| of_h2("HTTP/2", &error))?;
    tokio::spawn(connection);
    Ok(Session::Tcp(requests))
}

/// Begins QUIC and HTTP/3. `socket` is inside the runtime.
pub async fn over_quic(socket: Arc<Wrapped>, mtu: u16) -> Result<Session, ProbeError> {
    let what = "QUIC handshake";
    let target = socket.target();
    let runtime = Arc::new(TokioRuntime);
    let mut most = EndpointConfig::default();
    // The far end sends no larger ones (RFC 9000, 18.2).
    most.max_udp_payload_size(mtu)
        .map_err(|error| http(what, error))?;
    let endpoint = Endpoint::new_with_abstract_socket(most, None, socket, runtime)
        .map_err(|error| ProbeError::io(what, &error))?;
    let tls = web::client(H3).map_err(|error| ProbeError::io(what, &error))?;
    let tls = QuicClientConfig::try_from(tls).map_err(|error| http(what, error))?;
    let mut config = ClientConfig::new(Arc::new(tls));
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(mtu);
    let mut transport = quinn::TransportConfig::default();
    transport
        .mtu_discovery_config(Some(discovery))
        .stream_receive_window(OBJECT_WINDOW.into())
        .receive_window(WINDOW.into());
    config.transport_config(Arc::new(transport));
    let connection = endpoint
        .connect_with(config, target, NAME)
        .map_err(|error| http(what, error))?
        .await
        .map_err(|error| of_quic(what, &error))?;
    let transport = h3_quinn::Connection::new(connection.clone());
    let (mut driver, requests) = h3::client::new(transport)
        .await
        .map_err(|error| http("HTTP/3", error))?;
    tokio::spawn(async move { poll_fn(|context| driver.poll_close(context)).await });
    Ok(Session::Quic(requests, connection))
}

fn of_h2(what: &str, error: &h2::Error) -> ProbeError {
    match error.get_io() {
        Some(io) => ProbeError::io(what, io),
        None => http(what, error),
    }
}

fn of_quic(what: &str, error: &ConnectionError) -> ProbeError {
    let kind = match error {
        ConnectionError::TimedOut => ErrorKind::Timeout,
        ConnectionError::Reset => ErrorKind::ConnectionReset,
        ConnectionError::ApplicationClosed(_) => ErrorKind::Closed,
        ConnectionError::TransportError(error) if CRYPTO_ERRORS.contains(&error.code.into()) => {
            ErrorKind::Tls
        }
        _ => ErrorKind::Http,
    };
    ProbeError::new(kind, format!("{what}: {error}"))
}

impl Session {
    /// Asks for a number of objects at once, and returns when all are here.
    pub async fn objects(&self, count: u64, asked: &Arc<Asked>) -> Result<(), ProbeError> {
        let mut all = JoinSet::new();
        for _ in 0..count {
            all.spawn(self.clone().object(Arc::clone(asked)));
        }
        while let Some(one) = all.join_next().await {
            one.map_err(|error| http("object", error))??;
        }
        Ok(())
    }

    async fn object(self, asked: Arc<Asked>) -> Result<(), ProbeError> {
        let request = Request::get(format!("https://{NAME}{}", web::path(asked.object)))
            .body(())
            .map_err(|error| http("request", error))?;
        Moved::add(&asked.moved.sent, HEADER as u64);
        Moved::add(&asked.moved.asked, asked.object.bytes);
        let mut body = Body {
            download: Download::new(asked.object),
            asked,
        };
        match self {
            Self::Tcp(requests) => by_h2(requests, request, &mut body).await?,
            Self::Quic(requests, connection) => {
                by_h3(requests, request, &mut body).await.map_err(|error| {
                    match connection.close_reason() {
                        Some(reason) if error.kind == ErrorKind::Http => of_quic("object", &reason),
                        _ => error,
                    }
                })?
            }
        }
        body.ended()
    }
}

async fn by_h2(
    requests: h2::client::SendRequest<Bytes>,
    request: Request<()>,
    body: &mut Body,
) -> Result<(), ProbeError> {
    let failed = |error: h2::Error| of_h2("object", &error);
    let mut requests = requests.ready().await.map_err(failed)?;
    let (response, _) = requests.send_request(request, true).map_err(failed)?;
    let response = response.await.map_err(failed)?;
    found(&response)?;
    let mut stream = response.into_body();
    while let Some(piece) = stream.data().await {
        let piece = piece.map_err(failed)?;
        body.take(&piece)?;
        stream
            .flow_control()
            .release_capacity(piece.len())
            .map_err(failed)?;
    }
    Ok(())
}

async fn by_h3(
    mut requests: h3::client::SendRequest<h3_quinn::OpenStreams, Bytes>,
    request: Request<()>,
    body: &mut Body,
) -> Result<(), ProbeError> {
    let failed = |error: h3::error::StreamError| http("object", error);
    let mut stream = requests.send_request(request).await.map_err(failed)?;
    stream.finish().await.map_err(failed)?;
    found(&stream.recv_response().await.map_err(failed)?)?;
    while let Some(mut piece) = stream.recv_data().await.map_err(failed)? {
        body.take(&piece.copy_to_bytes(piece.remaining()))?;
    }
    Ok(())
}

fn found<T>(response: &Response<T>) -> Result<(), ProbeError> {
    match response.status() {
        StatusCode::OK => Ok(()),
        status => Err(http("object", format_args!("status {status}"))),
    }
}

struct Body {
    download: Download,
    asked: Arc<Asked>,
}

impl Body {
    fn take(&mut self, bytes: &[u8]) -> Result<(), ProbeError> {
        let wrong = |kind: ErrorKind| ProbeError::new(kind, format!("object: {kind}"));
        if bytes.is_empty() {
            return Ok(());
        }
        Moved::add(&self.asked.moved.got, bytes.len() as u64);
        // More than was asked for.
        if self.download.whole() {
            return Err(wrong(ErrorKind::Corrupted));
        }
        self.download.take(bytes).map_err(wrong)
    }

    fn ended(&self) -> Result<(), ProbeError> {
        if !self.download.whole() {
            let what = "object: its end came too early, or too late";
            return Err(ProbeError::new(ErrorKind::Truncated, what));
        }
        Moved::add(&self.asked.moved.confirmed, HEADER as u64);
        Ok(())
    }
}
