//! Datagrams with a window in flight: one thread, one system call for each batch either way (sidecar/README.md, Probes). In the open loop the whole window
//! is the bound from the start.

mod content;
mod control;
mod ledger;
mod part;
mod transport;

use std::net::{IpAddr, SocketAddr};

use super::context::Context;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::{Outcome, Stopped};
use super::plan::{Plan, Proxy};
use super::socks5::client::{self, Deadline, slice};
use super::socks5::codec::{Address, udp_header};
use super::tally::Tally;
pub use control::Control;
use ledger::Ledger;
use part::Part;
use transport::{BATCH, Transport};

pub use content::Content;

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    run_with(plan, context, plan.pattern())
}

/// As above, with datagrams of another content.
pub fn run_with(
    plan: &Plan,
    context: &Context,
    content: impl Content,
) -> Result<Outcome, ProbeError> {
    let spec = &plan.spec;
    let (transport, control) = open(plan, context, &content)?;
    let mut part = Part {
        plan,
        context,
        transport,
        control,
        content,
        ledger: Ledger::new(spec.warmup + spec.count),
        tally: Tally::of_round_trips(plan, 0),
        refused: 0,
        fault: ErrorKind::Network,
        measured: false,
        answered: 0,
        answered_bytes: 0,
    };
    let measured = Tally::of_round_trips(plan, spec.count);
    part.run(spec.warmup);
    let warm_up = std::mem::replace(&mut part.tally, measured);
    part.tally.warmup_failed = Some(spec.warmup.saturating_sub(warm_up.succeeded));
    match warm_up.stopped {
        None => {}
        Some(stopped @ (Stopped::Limit | Stopped::Cancelled)) => {
            part.tally.stopped = Some(stopped);
            context.carry(part.carried());
            return Ok(part.tally.outcome(plan, context, 1));
        }
        Some(stopped) => return Err(nothing(stopped, part.fault, warm_up.other_source)),
    }
    context.measured_begins();
    part.measured = true;
    part.run(spec.count);
    context.measured_ended();
    if part.tally.succeeded == 0 && part.tally.stopped == Some(Stopped::Failures) {
        return Err(nothing(Stopped::Failures, part.fault, None));
    }
    if part.tally.stopped.is_none() {
        part.drain();
    }
    context.carry(part.carried());
    Ok(part.tally.outcome(plan, context, 1))
}

/// The outcome of a probe that could not measure, with the reason.
fn nothing(stopped: Stopped, fault: ErrorKind, other_source: Option<SocketAddr>) -> ProbeError {
    if let Some(from) = other_source {
        return ProbeError::new(
            ErrorKind::OtherSource,
            format!("UDP: the answers came from {from}, which is not the relay"),
        );
    }
    let (kind, message) = match stopped {
        Stopped::Stalled => (ErrorKind::Stalled, "UDP: no datagram came back"),
        Stopped::ControlClosed => (
            ErrorKind::ControlClosed,
            "UDP: the proxy ended the control connection",
        ),
        _ if fault == ErrorKind::ConnectionRefused => (fault, "UDP: nothing listens there"),
        _ => (fault, "UDP: datagrams cannot be sent"),
    };
    ProbeError::new(kind, message)
}

/// The address that datagrams to the target go to, their header, and the control connection. A direct path has an empty header and no
/// control connection.
pub fn path(
    plan: &Plan,
    context: &Context,
) -> Result<(SocketAddr, Vec<u8>, Option<Control>), ProbeError> {
    let Some(proxy) = &plan.proxy else {
        return Ok((plan.target_at.address, Vec::new(), None));
    };
    let deadline = Deadline::of_handshake(plan, context);
    let (control, bound) = client::ask_for_udp(proxy, &deadline)?;
    let relay = allowed_relay(&bound, proxy, plan)?;
    let control = Control::new(control);
    Ok((relay, udp_header(&plan.target), Some(control)))
}

/// The relay of the proxy's reply, if datagrams may go there.
pub fn allowed_relay(
    bound: &Address,
    proxy: &Proxy,
    plan: &Plan,
) -> Result<SocketAddr, ProbeError> {
    let relay = client::relay_of(bound, proxy)?;
    if may_relay(relay.ip(), proxy.at.address.ip(), &plan.allowed) {
        return Ok(relay);
    }
    Err(ProbeError::new(
        ErrorKind::SocksGarbage,
        format!("UDP associate: the relay {relay} is neither where the proxy is nor allowed"),
    ))
}

fn open(
    plan: &Plan,
    context: &Context,
    content: &impl Content,
) -> Result<(Transport, Option<Control>), ProbeError> {
    let (peer, header, control) = path(plan, context)?;
    let batch = (plan.spec.window as usize).min(BATCH);
    Transport::new(
        peer,
        header,
        content.size(),
        content.answer_bytes(),
        batch,
        slice(plan.timeout.min(plan.stall)),
    )
    .map(|transport| (transport, control))
    .map_err(|error| ProbeError::io(format_args!("UDP {peer}"), &error))
}

/// A proxy must not aim datagrams at a third host.
pub fn may_relay(relay: IpAddr, proxy: IpAddr, allowed: &[IpAddr]) -> bool {
    let (relay, proxy) = (relay.to_canonical(), proxy.to_canonical());
    relay == proxy || (relay.is_loopback() && proxy.is_loopback()) || allowed.contains(&relay)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn datagrams_go_to_the_proxy_or_where_they_may() {
        let allowed = ["192.0.2.7".parse().unwrap()];
        for (relay, proxy, may) in [
            ("192.0.2.1", "192.0.2.1", true),
            ("::ffff:192.0.2.1", "192.0.2.1", true),
            ("127.0.0.1", "::1", true),
            ("192.0.2.7", "192.0.2.1", true),
            ("192.0.2.2", "192.0.2.1", false),
            ("192.0.2.1", "127.0.0.1", false),
            ("127.0.0.1", "192.0.2.1", false),
        ] {
            let (ip, proxy) = (relay.parse().unwrap(), proxy.parse().unwrap());
            assert_eq!(may_relay(ip, proxy, &allowed), may, "{relay} {proxy}");
        }
    }

    #[test]
    fn slices_go_into_the_timeout() {
        for (timeout, part) in [(300, 100), (250, 250 / 3), (40, 40), (1_000, 100)] {
            let slice = slice(Duration::from_millis(timeout));
            assert_eq!(slice.as_millis() as u64, part);
        }
    }
}
