//! The traffic of a hop as a passive observer sees it. Packets of one port are captured without delay, and checked against the protocol
//! that the hop must show.

mod capture;
mod count;
mod flows;
mod greeting;
mod randomness;
mod request;
mod rules;
mod stream;

pub use capture::Capture;
pub use count::{Counter, Packets, ports_of};
pub use request::{Found, Request};
