//! TLS of a proxy, as the command line gives it.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::failure::{Failure, Result};
use crate::probe::tls::TlsSpec;

#[derive(Args)]
pub struct TlsOptions {
    /// The proxy's TCP connections are in TLS
    #[arg(long, requires = "proxy")]
    tls: bool,
    /// Trusted certificates in PEM, in addition to the system's
    #[arg(long, value_name = "FILE", requires = "tls")]
    tls_ca: Option<PathBuf>,
    /// The name that the proxy's certificate has [default: its host]
    #[arg(long, value_name = "NAME", requires = "tls")]
    tls_server_name: Option<String>,
    /// Verify no certificate
    #[arg(long, requires = "tls")]
    tls_insecure: bool,
    /// The client's certificate in PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls", "tls_client_key"])]
    tls_client_cert: Option<PathBuf>,
    /// The key of the client's certificate in PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls", "tls_client_cert"])]
    tls_client_key: Option<PathBuf>,
}

impl TlsOptions {
    /// The TLS settings of a probe, if TLS is on.
    pub fn spec(self) -> Result<Option<TlsSpec>> {
        if !self.tls {
            return Ok(None);
        }
        Ok(Some(TlsSpec {
            ca: content("--tls-ca", self.tls_ca.as_deref())?,
            server_name: self.tls_server_name,
            insecure: self.tls_insecure,
            client_cert: content("--tls-client-cert", self.tls_client_cert.as_deref())?,
            client_key: content("--tls-client-key", self.tls_client_key.as_deref())?,
        }))
    }
}

fn content(option: &str, path: Option<&Path>) -> Result<Option<String>> {
    let Some(path) = path else {
        return Ok(None);
    };
    std::fs::read_to_string(path)
        .map(Some)
        .map_err(Failure::of_invalid(
            format!("{option}: {}", path.display()),
            "give a file in PEM that can be read",
        ))
}
