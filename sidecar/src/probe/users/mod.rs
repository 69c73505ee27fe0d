//! Connections with users' own keys, by VLESS, Trojan and Shadowsocks, on one thread (sidecar/README.md, Probes).

mod carry;
mod codec;
pub mod crypto;
mod datagrams;
mod exchange;
mod flow;
mod packets;
mod shared;
pub mod spec;
mod steady;
mod until;

pub use exchange::run as exchange;
pub use steady::run as steady;
