//! TLS of a SOCKS5 proxy, or of users' connections: trust, and the client's identity; and TLS inside a tunnel ([`inside`]).
//! [`super::stream`] carries the bytes of all but users.

mod inside;
mod spec;
mod trust;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustls::client::{ResolvesClientCert, Resumption};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ClientConnection, SignatureScheme};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::failure::{Failure, Result};
pub use inside::Session;
use spec::certificates;
pub use spec::{About, Fault, TlsSpec};
use trust::Verifier;

/// TLS as it was asked for, checked.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    about: Arc<About>,
}

impl Tls {
    /// `host` is the proxy's, as it was written.
    pub fn new(spec: &TlsSpec, host: &str) -> Result<Self> {
        let name = spec.server_name.as_deref().unwrap_or(host).to_owned();
        let about = Arc::new(About {
            name: name.clone(),
            has_ca: spec.ca.is_some(),
            has_certificate: spec.client_cert.is_some(),
            ..About::default()
        });
        let provider = Arc::new(ring::default_provider());
        let verifier = Verifier::new(spec, &provider, about.clone())?;
        let identity = Identity {
            key: identity(spec, &provider)?.map(Arc::new),
            about: about.clone(),
        };
        let versions = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| Failure::setup(format!("tls: {error}"), "report it"))?;
        let mut config = versions
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_client_cert_resolver(Arc::new(identity));
        // The client resumes no session, so that all handshakes of a probe are alike.
        config.resumption = Resumption::disabled();
        let name = ServerName::try_from(name.clone()).map_err(|_| {
            Failure::invalid(
                format!("tls.server_name: {name:?} is neither a name nor an address"),
                "give the name that the certificate has",
            )
        })?;
        Ok(Self {
            config: Arc::new(config),
            name,
            about,
        })
    }

    /// TLS with a far end of this sidecar, inside a tunnel.
    pub fn inside() -> Result<Self> {
        Ok(Self {
            config: Arc::new(inside::config()?),
            name: inside::NAME
                .try_into()
                .map_err(|error| Failure::setup(format!("inner_tls: {error}"), "report it"))?,
            about: Arc::new(About {
                name: inside::NAME.into(),
                has_ca: true,
                ..About::default()
            }),
        })
    }

    /// A connection before its handshake.
    pub(super) fn connection(&self) -> std::io::Result<ClientConnection> {
        let new = ClientConnection::new(self.config.clone(), self.name.clone());
        let mut connection = new.map_err(|error| self.about.fault(&error))?;
        // The stream sends all of a write before it takes another one.
        connection.set_buffer_limit(None);
        Ok(connection)
    }

    /// The session of a new connection, on an event loop.
    pub(super) async fn connect(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        let connector = TlsConnector::from(self.config.clone());
        let connecting = connector.connect(self.name.clone(), stream).await;
        connecting.map_err(|error| {
            let why = error.get_ref().and_then(|why| why.downcast_ref());
            match why {
                Some(why) => self.about.fault(why),
                None => error,
            }
        })
    }

    pub(super) fn about(&self) -> Arc<About> {
        self.about.clone()
    }
}

/// The client's certificate, and whether the proxy asked for one.
#[derive(Debug)]
struct Identity {
    key: Option<Arc<CertifiedKey>>,
    about: Arc<About>,
}

impl ResolvesClientCert for Identity {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.about.asked.store(true, Ordering::Relaxed);
        self.key.clone()
    }

    fn has_certs(&self) -> bool {
        self.key.is_some()
    }
}

fn identity(spec: &TlsSpec, provider: &CryptoProvider) -> Result<Option<CertifiedKey>> {
    let (cert, key) = match (&spec.client_cert, &spec.client_key) {
        (None, None) => return Ok(None),
        (Some(cert), Some(key)) => (cert, key),
        _ => {
            return Err(Failure::invalid(
                "tls: client_cert and client_key go together",
                "give both or neither",
            ));
        }
    };
    let chain = certificates("client_cert", cert)?;
    if key.contains("ENCRYPTED") {
        return Err(Failure::invalid(
            "tls.client_key: it is encrypted",
            "give a key without a password, such as by openssl pkey -in FILE -out PLAIN",
        ));
    }
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| {
        Failure::invalid(
            "tls.client_key: it holds no key in PEM",
            "give a file that begins with -----BEGIN PRIVATE KEY-----",
        )
    })?;
    let pair = CertifiedKey::from_der(chain, key, provider);
    pair.map(Some).map_err(Failure::of_invalid(
        "tls.client_cert and tls.client_key",
        "give a certificate and its own key",
    ))
}
