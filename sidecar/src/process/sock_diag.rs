//! Sockets of a network namespace, read from the kernel by sock_diag(7). It returns only the wanted ones, whereas a list in /proc/net also has
//! each connection that has ended (TIME_WAIT).

use std::collections::HashSet;
use std::io;

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6};
pub use netlink_packet_sock_diag::constants::{IPPROTO_TCP as TCP, IPPROTO_UDP as UDP};
pub use netlink_packet_sock_diag::inet::StateFlags;
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponseHeader, SocketId};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr};

/// Netlink messages begin at multiples of this (netlink(7), NLMSG_ALIGN).
const ALIGNED: usize = 4;

/// The kernel's inode numbers of the TCP sockets that listen on a port, in the calling thread's network namespace. Fails if the kernel has
/// no sock_diag.
pub fn listening(port: u16) -> io::Result<HashSet<u64>> {
    let found = sockets(TCP, StateFlags::LISTEN, port)?;
    Ok(found.iter().map(|one| u64::from(one.inode)).collect())
}

/// The sockets of a protocol in some states, in the calling thread's network namespace. `port` is their own, or 0.
pub fn sockets(protocol: u8, states: StateFlags, port: u16) -> io::Result<Vec<InetResponseHeader>> {
    let mut found = Vec::new();
    for (family, any) in [
        (AF_INET, SocketId::new_v4()),
        (AF_INET6, SocketId::new_v6()),
    ] {
        found.extend(ask(InetRequest {
            family,
            protocol,
            extensions: ExtensionFlags::empty(),
            states: states.clone(),
            socket_id: SocketId {
                source_port: port,
                ..any
            },
        })?);
    }
    Ok(found)
}

fn ask(request: InetRequest) -> io::Result<Vec<InetResponseHeader>> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    let mut found = Vec::new();
    loop {
        let (answer, _) = socket.recv_from_full()?;
        let mut rest = answer.as_slice();
        while !rest.is_empty() {
            let message =
                NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(io::Error::other)?;
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(one)) => {
                    found.push(one.header);
                }
                NetlinkPayload::Done(_) => return Ok(found),
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                _ => {}
            }
            let length = (message.header.length as usize).next_multiple_of(ALIGNED);
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}
