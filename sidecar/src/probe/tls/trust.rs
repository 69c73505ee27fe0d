//! Whether a proxy's certificate is trusted, and the reason if not. k6/internal/connect has the same words for HTTP.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};
use time::OffsetDateTime;
use webpki::EndEntityCert;

use super::spec::{About, Fault, TlsSpec, certificates};
use crate::failure::{Failure, Result};

#[derive(Debug)]
pub struct Verifier {
    /// Absent if the client verifies no certificate.
    inner: Option<Arc<WebPkiServerVerifier>>,
    /// The certificates of `ca`; one of them may be the proxy's own.
    given: Vec<CertificateDer<'static>>,
    schemes: Vec<SignatureScheme>,
    about: Arc<About>,
}

/// The system's certificates, read once.
fn of_system() -> &'static [CertificateDer<'static>] {
    static ALL: OnceLock<Vec<CertificateDer<'static>>> = OnceLock::new();
    ALL.get_or_init(|| rustls_native_certs::load_native_certs().certs)
}

impl Verifier {
    pub fn new(spec: &TlsSpec, provider: &Arc<CryptoProvider>, about: Arc<About>) -> Result<Self> {
        let given = match &spec.ca {
            Some(pem) => certificates("ca", pem)?,
            None => Vec::new(),
        };
        let inner = if spec.insecure {
            None
        } else {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(given.iter().chain(of_system()).cloned());
            let verifier =
                WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
            let verifier = verifier.build().map_err(Failure::of_invalid(
                "tls: this machine trusts no authority",
                "give the proxy's authority as tls.ca, or set tls.insecure",
            ))?;
            Some(verifier)
        };
        Ok(Self {
            inner,
            given,
            schemes: provider
                .signature_verification_algorithms
                .supported_schemes(),
            about,
        })
    }

    /// Whether `ca` has this very certificate. It is trusted even if it is an authority's: `openssl req -x509` makes such certificates.
    fn is_given(&self, why: &CertificateError, leaf: &CertificateDer<'_>) -> bool {
        is_authority(why) && self.given.iter().any(|given| given == leaf)
    }

    /// The reason that a certificate is not trusted, and the remedy.
    fn wrong(&self, why: &CertificateError, leaf: &CertificateDer<'_>) -> String {
        let name = &self.about.name;
        match why {
            CertificateError::ExpiredContext { not_after, .. } => {
                format!("its certificate expired on {}: renew it", date(*not_after))
            }
            CertificateError::NotValidYetContext { not_before, .. } => format!(
                "the server's certificate is not valid before {}: check this machine's clock",
                date(*not_before)
            ),
            CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
                format!(
                    "the server's certificate has no subject alternative name (SAN): reissue the certificate with the SAN {name}, or set tls.insecure"
                )
            }
            CertificateError::NotValidForNameContext { presented, .. } => {
                let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
                format!(
                    "the server's certificate is for {}, not {name}: set tls.server_name to a name in the certificate",
                    names.join(", ")
                )
            }
            CertificateError::UnknownIssuer => self.untrusted(leaf),
            why if is_authority(why) && is_own(leaf) => self.untrusted(leaf),
            why if is_authority(why) => {
                "its certificate is an authority's own (CA:TRUE): give that certificate as tls.ca, or issue one with CA:FALSE".into()
            }
            why => format!("its certificate is not valid ({why}): issue it anew, or set tls.insecure"),
        }
    }

    fn untrusted(&self, leaf: &CertificateDer<'_>) -> String {
        if self.about.has_ca {
            "the server's certificate is not signed by tls.ca: set tls.ca to its authority's certificate".into()
        } else if is_own(leaf) {
            "its certificate is self-signed: give that certificate as tls.ca, or set tls.insecure"
                .into()
        } else {
            "its certificate is signed by an authority that this machine does not trust: give that authority's certificate as tls.ca".into()
        }
    }
}

/// Whether subject and issuer of a certificate are the same.
fn is_own(leaf: &CertificateDer<'_>) -> bool {
    EndEntityCert::try_from(leaf).is_ok_and(|leaf| leaf.issuer() == leaf.subject())
}

/// Whether the fault is that the leaf is an authority's own certificate.
fn is_authority(why: &CertificateError) -> bool {
    let CertificateError::Other(OtherError(why)) = why else {
        return false;
    };
    matches!(why.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

/// `DnsName("a.example")` is a.example.
fn bare(name: &str) -> &str {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner);
    inner.trim_end_matches(')').trim_matches('"')
}

/// As 2026-01-31, of UTC.
fn date(moment: UnixTime) -> String {
    let moment = OffsetDateTime::UNIX_EPOCH + Duration::from_secs(moment.as_secs());
    moment.date().to_string()
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified = match inner.verify_server_cert(leaf, between, name, ocsp, now) {
            Err(Error::InvalidCertificate(why)) if self.is_given(&why, leaf) => {
                ParsedCertificate::try_from(leaf)
                    .and_then(|leaf| verify_server_name(&leaf, name))
                    .map(|()| ServerCertVerified::assertion())
            }
            verified => verified,
        };
        verified.map_err(|error| match error {
            Error::InvalidCertificate(why) => {
                let fault = Fault(self.wrong(&why, leaf));
                Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(fault))))
            }
            error => error,
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        match &self.inner {
            Some(inner) => inner.verify_tls12_signature(message, leaf, signed),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        match &self.inner {
            Some(inner) => inner.verify_tls13_signature(message, leaf, signed),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_are_of_utc() {
        for (seconds, text) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_868_799, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_798_761_599, "2026-12-31"),
        ] {
            let moment = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
            assert_eq!(date(moment), text);
        }
    }

    #[test]
    fn names_are_bare() {
        assert_eq!(bare("DnsName(\"a.example\")"), "a.example");
        assert_eq!(bare("IpAddress(::1)"), "::1");
    }
}
