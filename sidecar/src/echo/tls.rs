//! TLS 1.3 of a far end, and the key by which probes of this sidecar know it.
//!
//! The key is a raw public key (RFC 7250), new in each process: no certificate is issued, and no other far end or proxy can have the key.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use crate::lock::lock;
use rcgen::{KeyPair, PublicKeyData};
use rustls::crypto::ring::{default_provider, sign::any_ecdsa_type};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;
use rustls::{ServerConfig, ServerConnection};

/// The server's side, and its public key as SubjectPublicKeyInfo (RFC 5280, 4.1).
pub struct Known {
    config: Arc<ServerConfig>,
    pub public_key: Vec<u8>,
}

/// The key of this process, made when it is first needed. The error is a text because every caller may see it.
pub fn known() -> Result<&'static Known, String> {
    static KNOWN: OnceLock<Result<Known, String>> = OnceLock::new();
    KNOWN.get_or_init(made).as_ref().map_err(Clone::clone)
}

fn made() -> Result<Known, String> {
    let pair = KeyPair::generate().map_err(|error| error.to_string())?;
    let public_key = pair.subject_public_key_info();
    let key = PrivateKeyDer::Pkcs8(pair.serialize_der().into());
    let key = any_ecdsa_type(&key).map_err(|error| error.to_string())?;
    let shown = vec![CertificateDer::from(public_key.clone())];
    let certified = Arc::new(CertifiedKey::new(shown, key));
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(certified)));
    Ok(Known {
        config: Arc::new(config),
        public_key,
    })
}

/// The server's side of one connection. One thread at a time reads or writes.
pub struct Session(Mutex<ServerConnection>);

impl Session {
    pub fn new() -> io::Result<Self> {
        let known = known().map_err(io::Error::other)?;
        let mut connection =
            ServerConnection::new(known.config.clone()).map_err(io::Error::other)?;
        connection.set_buffer_limit(None);
        Ok(Self(Mutex::new(connection)))
    }

    fn lock(&self) -> MutexGuard<'_, ServerConnection> {
        lock(&self.0)
    }

    /// Reads payload, after the handshake if that is not over. 0 is the peer's end.
    pub fn read(&self, mut socket: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
        let read = rustls::Stream::new(&mut *self.lock(), &mut socket).read(buffer);
        match read {
            // The client has closed its side without close_notify.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            read => read,
        }
    }

    /// Encrypts and sends payload. If the kernel does not take everything now, a later read or write sends the rest.
    pub fn write(&self, mut socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        rustls::Stream::new(&mut *self.lock(), &mut socket).write(bytes)
    }
}
