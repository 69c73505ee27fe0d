//! SOCKS5 (RFC 1928) with user name and password (RFC 1929): the client's side.

pub mod client;
pub mod codec;
mod dialogue;
pub mod opening;
