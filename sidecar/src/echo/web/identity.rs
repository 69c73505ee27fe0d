//! The certificate of this process's web servers: self-signed, new in each process, and trusted by the probes of this process alone.

use std::io;
use std::sync::{Arc, OnceLock};

use ring::error::Unspecified;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use rustls::client::Resumption;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

/// The name in the certificate, for SNI.
pub const NAME: &str = "far-end.windtunnel.test";

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT: u8 = 0x06;
const UTF8: u8 = 0x0C;
const UTC_TIME: u8 = 0x17;
const LONG_TIME: u8 = 0x18;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// Context tags: version and extensions of a certificate, and a DNS name (RFC 5280, 4.1 and 4.2.1.6).
const VERSION: u8 = 0xA0;
const EXTENSIONS: u8 = 0xA3;
const DNS_NAME: u8 = 0x82;

const ECDSA_WITH_SHA256: [u8; 8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02];
const EC_PUBLIC_KEY: [u8; 7] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01];
const PRIME256V1: [u8; 8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07];
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
const SUBJECT_ALT_NAME: [u8; 3] = [0x55, 0x1D, 0x11];

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

/// A certificate of version 3 by RFC 5280, with a key of P-256 (RFC 5480).
fn make() -> Result<Identity, Unspecified> {
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random)?;
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref(), &random)
        .map_err(|_| Unspecified)?;
    let algorithm = der(SEQUENCE, &[&der(OBJECT, &[&ECDSA_WITH_SHA256])]);
    let common = [der(OBJECT, &[&COMMON_NAME]), der(UTF8, &[NAME.as_bytes()])].concat();
    let name = der(SEQUENCE, &[&der(SET, &[&der(SEQUENCE, &[&common])])]);
    let alternatives = der(SEQUENCE, &[&der(DNS_NAME, &[NAME.as_bytes()])]);
    let curve = [der(OBJECT, &[&EC_PUBLIC_KEY]), der(OBJECT, &[&PRIME256V1])].concat();
    let point = der(BIT_STRING, &[&[0], pair.public_key().as_ref()]);
    let extension = [
        der(OBJECT, &[&SUBJECT_ALT_NAME]),
        der(OCTET_STRING, &[&alternatives]),
    ];
    let body = der(
        SEQUENCE,
        &[
            &der(VERSION, &[&der(INTEGER, &[&[2]])]),
            &der(INTEGER, &[&[1]]),
            &algorithm,
            &name,
            &der(
                SEQUENCE,
                &[
                    &der(UTC_TIME, &[b"200101000000Z"]),
                    &der(LONG_TIME, &[b"20991231235959Z"]),
                ],
            ),
            &name,
            &der(SEQUENCE, &[&der(SEQUENCE, &[&curve]), &point]),
            &der(
                EXTENSIONS,
                &[&der(SEQUENCE, &[&der(SEQUENCE, &[&extension.concat()])])],
            ),
        ],
    );
    let signature = pair.sign(&random, &body)?;
    let signed = der(BIT_STRING, &[&[0], signature.as_ref()]);
    Ok(Identity {
        certificate: der(SEQUENCE, &[&body, &algorithm, &signed]).into(),
        key: key.as_ref().to_vec().into(),
    })
}

/// A value of at most 65,535 bytes in DER (X.690, 8.1).
fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let [high, low] = (content.len() as u16).to_be_bytes();
    let head: &[u8] = match content.len() {
        0..=0x7F => &[tag, low],
        0x80..=0xFF => &[tag, 0x81, low],
        _ => &[tag, 0x82, high, low],
    };
    [head, &content].concat()
}
