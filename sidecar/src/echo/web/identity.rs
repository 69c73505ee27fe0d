//! The certificate of this process's web servers: self-signed, new in each process, and trusted by the probes of this process alone.

use std::io;
use std::sync::{Arc, OnceLock};

use rustls::client::Resumption;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// The name in the certificate, for SNI.
pub const NAME: &str = "far-end.windtunnel.test";

struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

/// TLS 1.3 of a web server. `protocol` is the name in ALPN.
pub fn server(protocol: &str) -> io::Result<ServerConfig> {
    let Identity { certificate, key } = identity()?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&TLS13])
        .and_then(|builder| {
            let chain = vec![certificate.clone()];
            let key = key.clone_key().into();
            builder.with_no_client_auth().with_single_cert(chain, key)
        })
        .map_err(io::Error::other)?;
    config.alpn_protocols = vec![protocol.into()];
    Ok(config)
}

/// TLS 1.3 of a client that trusts the certificate above and no other. It resumes no session, so that all handshakes are alike.
pub fn client(protocol: &str) -> io::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let certificate = identity()?.certificate.clone();
    roots.add(certificate).map_err(io::Error::other)?;
    let mut config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.into()];
    config.resumption = Resumption::disabled();
    Ok(config)
}

fn identity() -> io::Result<&'static Identity> {
    static ONE: OnceLock<Option<Identity>> = OnceLock::new();
    ONE.get_or_init(|| make().ok())
        .as_ref()
        .ok_or_else(|| io::Error::other("no certificate: the machine gives no random bytes"))
}

fn make() -> Result<Identity, rcgen::Error> {
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
    Ok(Identity {
        certificate: made.cert.into(),
        key: made.signing_key.serialize_der().into(),
    })
}
