//! The TLS options of a client, and why TLS failed, with the remedy, in one line.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{AlertDescription, CertificateError, Error, OtherError};
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

/// Inside an [`io::Error`], so that a reader of bytes passes it on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

impl Fault {
    /// The fault inside an error, if there is one.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl About {
    /// Payload came.
    pub fn accept(&self) {
        if !self.accepted.load(Ordering::Relaxed) {
            self.accepted.store(true, Ordering::Relaxed);
        }
    }

    /// The fault of a peer that ends the connection before any payload, without an alert: OpenSSL's servers may check a client's
    /// certificate after the handshake.
    pub fn unaccepted(&self) -> Option<io::Error> {
        let refused = self.asked.load(Ordering::Relaxed) && !self.accepted.load(Ordering::Relaxed);
        refused.then(|| io::Error::new(io::ErrorKind::InvalidData, Fault(self.certificate(""))))
    }

    /// The fault of the client's certificate; `how` is the proxy's report.
    fn certificate(&self, how: &str) -> String {
        if self.has_certificate {
            format!(
                "the server refuses the client certificate{how}: check that tls.client_cert has not expired, and that the server trusts its authority"
            )
        } else {
            "the server requires a client certificate: set tls.client_cert and tls.client_key"
                .into()
        }
    }

    pub fn fault(&self, error: &Error) -> io::Error {
        let text = match error {
            Error::InvalidCertificate(CertificateError::Other(OtherError(why))) => why.to_string(),
            Error::InvalidCertificate(why) => {
                format!("its certificate is not valid ({why}): issue it anew, or set tls.insecure")
            }
            Error::AlertReceived(alert) => self.refused(*alert),
            Error::InvalidMessage(_) => {
                "the server does not use TLS: remove tls from the environment".into()
            }
            Error::PeerIncompatible(why) => {
                format!("the server supports neither TLS 1.2 nor TLS 1.3 ({why:?})")
            }
            other => other.to_string(),
        };
        io::Error::new(io::ErrorKind::InvalidData, Fault(text))
    }

    fn refused(&self, alert: AlertDescription) -> String {
        let asked = self.asked.load(Ordering::Relaxed);
        let of_certificate = matches!(
            alert,
            AlertDescription::CertificateRequired
                | AlertDescription::BadCertificate
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnknownCA
                | AlertDescription::AccessDenied
                | AlertDescription::HandshakeFailure
                | AlertDescription::DecryptError
        );
        match alert {
            AlertDescription::UnrecognisedName => format!(
                "the server has no certificate for {}: set tls.server_name to a name in its certificate",
                self.name
            ),
            AlertDescription::ProtocolVersion => {
                "the server supports neither TLS 1.2 nor TLS 1.3".into()
            }
            _ if asked && of_certificate => self.certificate(&format!(" ({alert:?})")),
            _ => format!("it refuses with the alert {alert:?}: see its log"),
        }
    }
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
