//! Everything that can go wrong in a probe, by name. The list is closed.

use std::fmt;
use std::io;

use serde::Serialize;

use super::tls::Fault;

/// Why an operation failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// This kind and the next seven are SOCKS replies 1 to 8.
    SocksGeneralFailure,
    SocksNotAllowed,
    SocksNetworkUnreachable,
    SocksHostUnreachable,
    SocksConnectionRefused,
    SocksTtlExpired,
    SocksCommandNotSupported,
    SocksAddressNotSupported,
    /// SOCKS reply 9 and above.
    SocksReplyOther,
    /// The proxy accepts none of the methods that were offered (0xFF).
    SocksNoMethod,
    /// User name or password is wrong.
    SocksAuthFailed,
    /// The proxy's answer is not SOCKS5.
    SocksGarbage,
    /// TLS with the proxy, or inside the tunnel, failed.
    Tls,
    /// QUIC or HTTP failed in another way than these; the message has the reason.
    Http,
    ConnectionRefused,
    ConnectionReset,
    /// The peer ended the connection half-way.
    Closed,
    Timeout,
    Stalled,
    /// The payload that came back differs from the one sent.
    Corrupted,
    /// A datagram came back shorter than it was sent.
    Truncated,
    /// The control connection of a UDP association ended.
    ControlClosed,
    /// All answers came from another address or port than the relay's.
    OtherSource,
    /// A datagram was not answered in time.
    Lost,
    /// The operation had begun, or was due by the timetable, but had not ended when the probe reached
    /// its limit.
    Cut,
    /// A DNS server says that the name does not exist (RCODE 3).
    DnsNxdomain,
    /// A DNS server could not answer (RCODE 2).
    DnsServfail,
    /// A DNS server does not want to answer (RCODE 5).
    DnsRefused,
    /// Any other RCODE than 0.
    DnsOther,
    /// This machine, or this process, may have no more open files (EMFILE, ENFILE).
    TooManyFiles,
    /// This machine has no local port left for the address (EADDRNOTAVAIL).
    PortsExhausted,
    /// This machine's kernel has no room left for packets (ENOBUFS, ENOMEM).
    NoBuffers,
    /// Any other input or output error.
    Network,
}

impl ErrorKind {
    /// The kind of a SOCKS5 reply code other than 0 (RFC 1928, section 6).
    pub fn of_reply(code: u8) -> Self {
        match code {
            1 => Self::SocksGeneralFailure,
            2 => Self::SocksNotAllowed,
            3 => Self::SocksNetworkUnreachable,
            4 => Self::SocksHostUnreachable,
            5 => Self::SocksConnectionRefused,
            6 => Self::SocksTtlExpired,
            7 => Self::SocksCommandNotSupported,
            8 => Self::SocksAddressNotSupported,
            _ => Self::SocksReplyOther,
        }
    }

    /// The kind of an error that the kernel gave.
    pub fn of_io(error: &io::Error) -> Self {
        use io::ErrorKind as Io;
        match error.raw_os_error() {
            // Limits of the generator itself, for which no target is to blame.
            Some(nix::libc::EMFILE | nix::libc::ENFILE) => return Self::TooManyFiles,
            Some(nix::libc::EADDRNOTAVAIL) => return Self::PortsExhausted,
            Some(nix::libc::ENOBUFS | nix::libc::ENOMEM) => return Self::NoBuffers,
            // connect's own answer to an expired SO_SNDTIMEO (socket(7)).
            Some(nix::libc::EINPROGRESS) => return Self::Timeout,
            _ => {}
        }
        match error.kind() {
            _ if Fault::of(error).is_some() => Self::Tls,
            Io::WouldBlock | Io::TimedOut => Self::Timeout,
            Io::ConnectionRefused => Self::ConnectionRefused,
            Io::ConnectionReset | Io::ConnectionAborted | Io::BrokenPipe => Self::ConnectionReset,
            Io::UnexpectedEof => Self::Closed,
            _ => Self::Network,
        }
    }
}

shown_as_json!(ErrorKind);

/// One failed operation: its kind, and one line that names the step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct ProbeError {
    pub kind: ErrorKind,
    pub message: String,
}

impl ProbeError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// `what` is the step that took too long.
    pub fn late(what: impl fmt::Display) -> Self {
        Self::io(what, &io::ErrorKind::TimedOut.into())
    }

    /// `what` is the step that failed in the kernel.
    pub fn io(what: impl fmt::Display, error: &io::Error) -> Self {
        let kind = ErrorKind::of_io(error);
        let message = match kind {
            ErrorKind::Timeout => format!("{what}: no answer in time"),
            ErrorKind::Closed => format!("{what}: the peer ended the connection"),
            _ => format!("{what}: {error}"),
        };
        Self { kind, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_errors_have_their_names() {
        for (error, kind) in [
            (nix::libc::EAGAIN, ErrorKind::Timeout),
            (nix::libc::ETIMEDOUT, ErrorKind::Timeout),
            (nix::libc::EINPROGRESS, ErrorKind::Timeout),
            (nix::libc::ECONNREFUSED, ErrorKind::ConnectionRefused),
            (nix::libc::ECONNRESET, ErrorKind::ConnectionReset),
            (nix::libc::EPIPE, ErrorKind::ConnectionReset),
            (nix::libc::EMFILE, ErrorKind::TooManyFiles),
            (nix::libc::ENFILE, ErrorKind::TooManyFiles),
            (nix::libc::EADDRNOTAVAIL, ErrorKind::PortsExhausted),
            (nix::libc::ENOBUFS, ErrorKind::NoBuffers),
            (nix::libc::EPERM, ErrorKind::Network),
        ] {
            assert_eq!(ErrorKind::of_io(&io::Error::from_raw_os_error(error)), kind);
        }
    }
}
