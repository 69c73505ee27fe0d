//! The TLS options of a client, and the part of them that messages name.

use std::sync::atomic::AtomicBool;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};

/// As `tls` of an environment, but with the content of the files, in PEM.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSpec {
    /// Trusted certificates, in addition to the system's.
    pub ca: Option<String>,
    /// The name that the certificate has; if left out, the proxy's host.
    pub server_name: Option<String>,
    /// True: the client verifies no certificate.
    #[serde(default)]
    pub insecure: bool,
    /// The client's certificate and those between it and its authority; it and its key go together.
    pub client_cert: Option<String>,
    pub client_key: Option<String>,
}

/// The part of a client that messages name.
#[derive(Debug, Default)]
pub struct About {
    /// The name that the certificate must have.
    pub(super) name: String,
    pub(super) has_ca: bool,
    pub(super) has_certificate: bool,
    /// Whether the proxy has asked for a client certificate.
    pub(super) asked: AtomicBool,
    /// Whether a byte of payload ever came: the proxy takes the client as it is.
    pub(super) accepted: AtomicBool,
}

/// All certificates of a text in PEM, one at least.
pub(super) fn certificates(field: &str, pem: &str) -> Result<Vec<CertificateDer<'static>>> {
    let all: std::result::Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match all {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => Err(Failure::invalid(
            format!("tls.{field}: it holds no certificate in PEM"),
            "give a file that begins with -----BEGIN CERTIFICATE-----",
        )),
    }
}
