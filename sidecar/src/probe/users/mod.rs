//! Connections with users' own keys, by VLESS, Trojan and Shadowsocks, on one thread.
//!
//! `users`: each entry of the list opens a connection, sends its bytes to the far end and checks each byte that comes back. As many
//! connections as `connections` says are open at once. `steady`: all entries keep their connections open. Request `i` goes through
//! connection `i mod N` at `start + i / rate`, and its round trip counts from that moment. In the closed loop a request follows the answer
//! to the one before it. With `until`, an entry of `users` opens one connection after the other until one carries data, or until one does
//! not. With `udp`, an entry of `users` has an association instead, and sends its bytes as datagrams of `payload_bytes`.

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
