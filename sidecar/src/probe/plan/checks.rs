//! Checks of the fields that only some kinds of probes have.

use std::net::Ipv4Addr;

use super::{MIB, out_of_bounds, within};
use crate::echo::destinations;
use crate::echo::flow::{MOST_BLOCKS, NAME_BYTES, Way};
use crate::echo::transfer::Direction;
use crate::failure::{Failure, Result, refuse};
use crate::probe::spec::{DnsSpec, IdleSpec, Loop, NatSpec, ProbeKind, Spec};

/// Datagrams of associations that have different numbers.
const MOST_NUMBERED: u64 = 1 << 24;
const MAX_OBJECT_BYTES: u64 = 64 * MIB;
/// The bound for all connections of a fetch together.
const MAX_FETCH_TUNNELS: u64 = 256;
/// RFC 1035, 2.3.4.
const MAX_LABEL_BYTES: usize = 63;
const SETTLE_MOST_S: f64 = 60.0;
/// The filter of the packets has room for more.
const PORTS_MOST: u64 = 16;
/// The largest payload of a NAT probe: two fragments of this size fit into one datagram.
const PAYLOAD_MOST: u64 = 16 << 10;
/// Each has an association and a thread.
const MAX_IDLE_TIMES: usize = 32;
/// The shortest idle time.
const LEAST_IDLE_S: f64 = 0.1;

/// Whether the kind has all fields that are given.
pub fn check_fields(spec: &Spec) -> Result<()> {
    use ProbeKind::{Associations, Concurrency, Dns, Fetch, Flow, H2, H3, Handshake, Nat};
    use ProbeKind::{Steady, Throughput, Users};
    let fields: [(_, _, &[ProbeKind]); 9] = [
        ("first_reply", spec.first_reply, &[Handshake]),
        ("inner_tls", spec.inner_tls, &[Throughput, Handshake]),
        ("dns", spec.dns.is_some(), &[Dns]),
        ("fetch", spec.fetch.is_some(), &[Fetch, H2, H3]),
        ("flow", spec.flow.is_some(), &[Flow]),
        ("nat", spec.nat.is_some(), &[Nat]),
        ("idle", spec.idle.is_some(), &[Concurrency, Associations]),
        ("transfer", spec.transfer.is_some(), &[Throughput]),
        ("users", spec.users.is_some(), &[Users, Steady]),
    ];
    let mut others = fields
        .iter()
        .filter(|(_, _, kinds)| !kinds.contains(&spec.kind));
    match others.find(|(_, given, _)| *given) {
        None => Ok(()),
        Some((field, ..)) => Err(Failure::invalid(
            format!("{field}: a {} probe has none", spec.kind),
            format!("leave {field} out"),
        )),
    }
}

pub fn check_associations(spec: &Spec) -> Result<()> {
    if spec.kind != ProbeKind::Associations {
        return within("destinations", spec.destinations, 1, 1);
    }
    refuse(
        spec.pace == Loop::Closed,
        "loop: associations send at a fixed rate",
        "give loop.open.rate_per_s",
    )?;
    within("count", spec.count, 1, MOST_NUMBERED)?;
    within("destinations", spec.destinations, 1, destinations::MOST)
}

pub fn check_inner_tls(spec: &Spec) -> Result<()> {
    let of_proxy = spec.proxy.as_ref().and_then(|proxy| proxy.tls.as_ref());
    refuse(
        spec.inner_tls && of_proxy.is_some(),
        "inner_tls: the proxy itself is in TLS",
        "leave proxy.tls or inner_tls out",
    )?;
    // The far end's session has one thread.
    let direction = spec.transfer.map(|transfer| transfer.direction);
    refuse(
        spec.inner_tls && direction == Some(Direction::Both),
        "inner_tls: a transfer goes one way",
        "give transfer.direction up or down",
    )
}

pub fn check_dns(spec: &Spec) -> Result<()> {
    let Some(DnsSpec { run, names }) = &spec.dns else {
        return Ok(());
    };
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    refuse(
        run.is_empty() || run.len() > MAX_LABEL_BYTES || !run.bytes().all(fits),
        &format!("dns.run: {run:?} is no label"),
        &format!("give 1 to {MAX_LABEL_BYTES} lower-case letters and digits"),
    )?;
    within("dns.names", names.unwrap_or(1), 1, 1_000_000)
}

pub fn check_fetch(spec: &Spec) -> Result<()> {
    let Some(fetch) = spec.fetch else {
        return Ok(());
    };
    within("fetch.bytes", fetch.bytes, 1, MAX_OBJECT_BYTES)?;
    within("fetch.objects", fetch.objects, 1, 256)?;
    // Each tunnel brings one object at least.
    let most = if spec.kind.of_web() { 1 } else { 16 };
    within("fetch.tunnels", fetch.tunnels, 1, fetch.objects.min(most))?;
    let all = fetch.tunnels * spec.connections;
    within(
        "fetch.tunnels of all connections",
        all,
        1,
        MAX_FETCH_TUNNELS,
    )
}

pub fn check_flow(spec: &Spec) -> Result<()> {
    let Some(flow) = &spec.flow else {
        return Ok(());
    };
    within("flow.seconds", flow.seconds, 0.1, 600.0)?;
    within("flow.warmup_s", flow.warmup_s, 0.0, 60.0)?;
    if flow.requests_per_s != 0.0 {
        within("flow.requests_per_s", flow.requests_per_s, 0.1, 1_000.0)?;
    }
    within("flow.blocks", flow.blocks, 1, MOST_BLOCKS)?;
    refuse(
        !flow.reads && flow.direction != Way::Down,
        "flow.reads: nothing comes that would not be read",
        "give flow.direction down",
    )?;
    let name = flow.congestion.as_deref().unwrap_or("cubic");
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    refuse(
        name.is_empty() || name.len() >= NAME_BYTES || !name.bytes().all(fits),
        &format!("flow.congestion: {name:?} is no congestion control"),
        "give one of sysctl net.ipv4.tcp_available_congestion_control",
    )
}

pub fn check_idle(spec: &Spec) -> Result<()> {
    let Some(IdleSpec {
        seconds,
        settle_s,
        ports,
    }) = &spec.idle
    else {
        return Ok(());
    };
    refuse(
        spec.kind == ProbeKind::Concurrency && spec.pace != Loop::Closed,
        "idle: a timetable goes on",
        "leave loop out",
    )?;
    within("idle.settle_s", *settle_s, 0.0, SETTLE_MOST_S)?;
    let most = spec.limit_s - settle_s;
    if !(LEAST_IDLE_S..most).contains(seconds) {
        return Err(out_of_bounds(
            "idle.seconds",
            *seconds,
            &format!("{LEAST_IDLE_S} to less than limit_s less idle.settle_s, which is {most}"),
        ));
    }
    let number = ports.len() as u64;
    within("idle.ports: their number", number, 0, PORTS_MOST)
}

pub fn check_nat(spec: &Spec) -> Result<()> {
    if spec.kind != ProbeKind::Nat {
        return Ok(());
    }
    within("payload_bytes", spec.payload_bytes, 8, PAYLOAD_MOST)?;
    let NatSpec { idle_s, far_ends } = spec.nat.clone().unwrap_or_default();
    let [first, second] = far_ends;
    let is_host = |ip: Ipv4Addr| !ip.is_unspecified() && !ip.is_multicast() && !ip.is_broadcast();
    refuse(
        first == second || !is_host(first) || !is_host(second),
        &format!("nat.far_ends: {first} and {second} are not two hosts"),
        "give two addresses of this machine",
    )?;
    refuse(
        idle_s.len() > MAX_IDLE_TIMES,
        &format!("nat.idle_s: {} times are too many", idle_s.len()),
        &format!("give at most {MAX_IDLE_TIMES}"),
    )?;
    let limit_s = spec.limit_s;
    let bound = format!("{LEAST_IDLE_S} to less than limit_s, which is {limit_s}");
    match idle_s
        .iter()
        .find(|time| !(LEAST_IDLE_S..limit_s).contains(*time))
    {
        None => Ok(()),
        Some(time) => Err(out_of_bounds("nat.idle_s", time, &bound)),
    }
}
