//! TLS inside a tunnel: the client's side of a session with a far end of this sidecar.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring::default_provider;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::version::TLS13;
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use serde::Serialize;

use crate::echo::tls::known;
use crate::failure::{Failure, Result};

/// Version and cipher that a session negotiated, by the names of RFC 8446. Both are of the session, not of its configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Session {
    /// Such as `TLSv1_3`.
    pub version: String,
    /// Such as `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
}

/// The name that the client sends (SNI).
pub const NAME: &str = "windtunnel.test";

/// The client of a far end whose echo server has `tls`. It offers TLS 1.3 alone, and takes only this sidecar's own key.
pub fn config() -> Result<ClientConfig> {
    let failed = |error: String| Failure::setup(format!("inner_tls: {error}"), "report it");
    let provider = default_provider();
    let verifier = OwnKey {
        key: &known().map_err(failed)?.public_key,
        algorithms: provider.signature_verification_algorithms,
    };
    let mut config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| failed(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(config)
}

/// Takes the key of this process's far ends, and no other.
#[derive(Debug)]
struct OwnKey {
    key: &'static [u8],
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for OwnKey {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, Error> {
        if shown.as_ref() == self.key {
            return Ok(ServerCertVerified::assertion());
        }
        Err(Error::General(
            "the far end's key is not this sidecar's: something in the tunnel answers in its place"
                .into(),
        ))
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.3 is wanted".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(shown.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}
