//! A spec that was checked: every bound holds, every address is allowed and resolved.

mod checks;
mod users;

pub use users::Users;

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::reach::{self, Reached};
use super::socks5::codec::{Address, MAX_FIELD_BYTES};
use super::spec::{DnsSpec, FetchSpec, FlowSpec, LEAST_MTU, Loop, MOST_MTU, NatSpec};
use super::spec::{ProbeKind, ProxySpec, Spec};
use super::tls::Tls;
use crate::echo::destinations;
use crate::echo::transfer::Transfer;
use crate::failure::{Failure, Result, refuse};
use crate::net::batch::MAX_PAYLOAD;
use crate::net::pace::Timetable;
use crate::net::payload::Pattern;
use crate::net::tag;
use crate::process::cpus;

const MIN_PAYLOAD_BYTES: u64 = 8;
const MIB: u64 = 1 << 20;
const STALL_MS: u64 = 3_000;
/// After this many lost datagrams in a row, a path counts as dead.
const SILENT_TIMEOUTS: u64 = 10;

/// Hosts other than loopback that were allowed by name.
#[derive(Debug, Clone, Default)]
pub struct Allowed(pub Vec<String>);

/// A probe may name addresses of this machine, and hosts that were allowed by name. `None` stands for a namespace, where it may name any
/// address, and no host: a namespace has only the addresses that its testbed made.
pub type Reach<'a> = Option<&'a Allowed>;

#[derive(Clone)]
pub struct Proxy {
    /// As it was written, without the port and brackets.
    pub host: String,
    pub at: Reached,
    /// User name and password.
    pub login: Option<(String, String)>,
    pub tls: Option<Tls>,
}

#[derive(Clone)]
pub struct Plan {
    pub spec: Spec,
    /// As the proxy is asked for it; a domain name stays one.
    pub target: Address,
    /// The same, resolved, for a direct connection.
    pub target_at: Reached,
    pub proxy: Option<Proxy>,
    pub users: Option<Users>,
    /// Addresses other than loopback that were allowed by name: datagrams may go there, too.
    pub allowed: Vec<IpAddr>,
    /// TLS inside the tunnel.
    pub inner: Option<Tls>,
    pub timeout: Duration,
    pub stall: Duration,
    pub handshake_timeout: Duration,
    pub limit_ns: u64,
    /// For a fetch, the bytes of each object.
    pub transfer: Transfer,
    pub fetch: FetchSpec,
    pub flow: FlowSpec,
    pub nat: NatSpec,
    pub dns: DnsSpec,
    /// The far end counts the probe's traffic by this tag.
    pub tag: u8,
}

impl Plan {
    /// Fails with one line that names the field, its bound and the fix. Without `allowed` the probe runs in a namespace.
    pub fn check<'a>(mut spec: Spec, allowed: impl Into<Reach<'a>>) -> Result<Self> {
        let reach = allowed.into();
        bounds(&spec)?;
        let users_at = spec.users.as_ref();
        let users_at = users_at.map(|users| address("users.address", &users.address, reach, true));
        let users = users::check(&mut spec, users_at.transpose()?.map(|(_, at)| at))?;
        cpus::check("cpus", &spec.cpus)?;
        let over_tcp = !spec.kind.over_udp();
        let dialled = over_tcp && spec.proxy.is_none() && users.is_none();
        let (target, target_at) = address("target", &spec.target, reach, dialled)?;
        let proxy = spec
            .proxy
            .as_ref()
            .map(|proxy| check_proxy(proxy, reach))
            .transpose()?;
        refuse(
            destinations::at(target_at.address, spec.destinations - 1).is_none(),
            &format!("destinations: {} has no others after it", spec.target),
            "give a target in 127.0.0.0/8, or leave destinations out",
        )?;
        if matches!(spec.kind, ProbeKind::Udp | ProbeKind::Associations) {
            let header = if proxy.is_some() {
                target.udp_header_bytes()
            } else {
                0
            };
            let least = match spec.kind {
                // Each datagram has a whole number.
                ProbeKind::Associations => MIN_PAYLOAD_BYTES,
                _ => 1,
            };
            within(
                "payload_bytes",
                spec.payload_bytes,
                least,
                (MAX_PAYLOAD - header) as u64,
            )?;
        }
        let timeout_ms = spec.timeout_ms.unwrap_or(spec.kind.timeout_ms());
        let stall_ms = spec.stall_ms.unwrap_or(match spec.kind {
            // A single lost datagram causes silence for its whole timeout.
            ProbeKind::Udp | ProbeKind::Dns => STALL_MS.max(SILENT_TIMEOUTS * timeout_ms),
            _ => STALL_MS,
        });
        let fetch = spec.fetch.unwrap_or_default();
        let transfer = match spec.kind {
            ProbeKind::Fetch | ProbeKind::H2 | ProbeKind::H3 => fetch.transfer(),
            _ => spec.transfer.unwrap_or_default(),
        };
        let hosts = reach.iter().flat_map(|Allowed(hosts)| hosts);
        let allowed = hosts.filter_map(|host| host.parse().ok()).collect();
        Ok(Self {
            target,
            target_at,
            proxy,
            users,
            inner: spec.inner_tls.then(Tls::inside).transpose()?,
            allowed,
            timeout: Duration::from_millis(timeout_ms),
            stall: Duration::from_millis(stall_ms),
            handshake_timeout: Duration::from_millis(spec.handshake_timeout_ms),
            limit_ns: (spec.limit_s * 1e9) as u64,
            transfer,
            fetch,
            flow: spec.flow.clone().unwrap_or_default(),
            nat: spec.nat.clone().unwrap_or_default(),
            dns: spec.dns.clone().unwrap_or_default(),
            tag: tag::NOBODY,
            spec,
        })
    }

    /// Where the first TCP connection goes: the proxy, or the target.
    pub fn first_hop(&self) -> &Reached {
        self.proxy
            .as_ref()
            .map_or(&self.target_at, |proxy| &proxy.at)
    }

    /// The wrapper of the first TCP connection.
    pub fn tls(&self) -> Option<&Tls> {
        self.proxy.as_ref()?.tls.as_ref()
    }

    pub fn pattern(&self) -> Pattern {
        Pattern::new(self.spec.payload_bytes as usize).tagged(self.tag)
    }

    /// Whether the probe sends no payload over its tunnels.
    pub fn only_opens(&self) -> bool {
        self.spec.kind == ProbeKind::Handshake && !self.spec.first_reply && !self.spec.half_close
    }

    /// Measured operations that are planned: `count`, and of bulk transfers one per connection and
    /// direction.
    pub fn operations(&self) -> u64 {
        match self.spec.kind {
            ProbeKind::Throughput => self.spec.connections * self.transfer.direction.count() as u64,
            ProbeKind::Flow => self.spec.connections * self.flow.marks(),
            ProbeKind::Nat => self.nat.associations(self.proxy.is_some()),
            _ => self.spec.count,
        }
    }

    pub fn rate_per_s(&self) -> Option<f64> {
        match self.spec.pace {
            Loop::Closed => None,
            Loop::Open { rate_per_s } => Some(rate_per_s),
        }
    }

    /// The closed loop has no timetable.
    pub fn timetable(&self, start_ns: u64) -> Option<Timetable> {
        Some(Timetable::new(start_ns, self.rate_per_s()?))
    }
}

fn bounds(spec: &Spec) -> Result<()> {
    within("count", spec.count, 1, 10_000_000)?;
    within("warmup", spec.warmup, 0, 100_000)?;
    let connections = match spec.kind {
        ProbeKind::Udp | ProbeKind::Dns | ProbeKind::Nat | ProbeKind::Steady => 1,
        ProbeKind::Throughput => 256,
        ProbeKind::Tcp | ProbeKind::Concurrency | ProbeKind::Users => 4_096,
        ProbeKind::Associations => destinations::MOST,
        _ => 64,
    };
    within("connections", spec.connections, 1, connections)?;
    checks::check_associations(spec)?;
    if !matches!(spec.kind, ProbeKind::Udp | ProbeKind::Associations) {
        within("payload_bytes", spec.payload_bytes, MIN_PAYLOAD_BYTES, MIB)?;
    }
    let window = match spec.kind {
        ProbeKind::Udp | ProbeKind::Dns => 4_096,
        _ => 1,
    };
    within("window", spec.window, 1, window)?;
    within("timeout_ms", spec.timeout_ms.unwrap_or(1), 1, 60_000)?;
    within("stall_ms", spec.stall_ms.unwrap_or(1), 1, 60_000)?;
    within("handshake_timeout_ms", spec.handshake_timeout_ms, 1, 60_000)?;
    within("keep", spec.keep, 0, 4_000_000)?;
    within("limit_s", spec.limit_s, 0.001, 3_600.0)?;
    if let Loop::Open { rate_per_s } = spec.pace {
        within("loop.open.rate_per_s", rate_per_s, 0.01, 10_000_000.0)?;
        let mend = match spec.kind {
            ProbeKind::Throughput | ProbeKind::Nat => Some("leave loop out"),
            ProbeKind::Flow => Some("give flow.requests_per_s"),
            _ => None,
        };
        let what = format!("loop: a {} probe has no open loop", spec.kind);
        refuse(mend.is_some(), &what, mend.unwrap_or_default())?;
    }
    checks::check_fields(spec)?;
    refuse(
        spec.half_close && (spec.kind != ProbeKind::Handshake || spec.first_reply),
        "half_close: only a handshake probe without first_reply has it",
        "leave half_close out",
    )?;
    checks::check_inner_tls(spec)?;
    within("mtu", spec.mtu, LEAST_MTU, MOST_MTU)?;
    let in_tls = spec.proxy.as_ref().is_some_and(|proxy| proxy.tls.is_some());
    refuse(
        spec.kind == ProbeKind::H2 && in_tls,
        "proxy.tls: an h2 probe has its own TLS, and none with the proxy",
        "name the proxy's port without TLS",
    )?;
    checks::check_dns(spec)?;
    checks::check_fetch(spec)?;
    checks::check_flow(spec)?;
    checks::check_nat(spec)?;
    checks::check_idle(spec)?;
    if let Some(transfer) = &spec.transfer {
        within("transfer.bytes", transfer.bytes, 1, 64 << 30)?;
        let warmup_bytes = transfer.warmup_bytes.unwrap_or(transfer.bytes);
        within("transfer.warmup_bytes", warmup_bytes, 1, 64 << 30)?;
        within("transfer.write_bytes", transfer.write_bytes, 64, MIB)?;
    }
    Ok(())
}

/// NaN is within no bounds.
fn within<T: PartialOrd + Display>(field: &str, value: T, least: T, most: T) -> Result<()> {
    let bound = format!("{least} to {most}");
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(out_of_bounds(field, value, &bound))
}

fn out_of_bounds(field: &str, value: impl Display, bound: &str) -> Failure {
    Failure::invalid(
        format!("{field}: {value} is out of bounds"),
        format!("give {bound}"),
    )
}

fn check_proxy(spec: &ProxySpec, reach: Reach<'_>) -> Result<Proxy> {
    let (_, at) = address("proxy.address", &spec.address, reach, true)?;
    let host = reach::host_of(&spec.address);
    let login = match (&spec.username, &spec.password) {
        (None, None) => None,
        (Some(username), Some(password)) => {
            for (field, text) in [("username", username), ("password", password)] {
                within(
                    &format!("proxy.{field}: its length in bytes"),
                    text.len() as u64,
                    1,
                    MAX_FIELD_BYTES as u64,
                )?;
            }
            Some((username.clone(), password.clone()))
        }
        _ => {
            return Err(Failure::invalid(
                "proxy: username and password go together",
                "give both or neither",
            ));
        }
    };
    let tls = spec.tls.as_ref().map(|tls| Tls::new(tls, host));
    Ok(Proxy {
        host: host.to_owned(),
        at,
        login,
        tls: tls.transpose()?,
    })
}

/// Reads HOST:PORT, resolves the host, and refuses hosts that may not be reached. The addresses of a name that is `dialled` are tried.
fn address(field: &str, text: &str, reach: Reach<'_>, dialled: bool) -> Result<(Address, Reached)> {
    let malformed = || {
        // The part in front of an @ may be a password.
        let quoted = if text.contains('@') {
            "what was given".to_owned()
        } else {
            format!("{text:?}")
        };
        Failure::invalid(
            format!("{field}: {quoted} is not HOST:PORT"),
            "give for example 127.0.0.1:9000, [::1]:9000 or localhost:9000",
        )
    };
    let (host, port) = text.rsplit_once(':').ok_or_else(malformed)?;
    let port: u16 = port
        .parse()
        .ok()
        .filter(|port| *port > 0)
        .ok_or_else(malformed)?;
    let bracketed = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let ip = match bracketed {
        Some(inner) => Some(IpAddr::V6(inner.parse().map_err(|_| malformed())?)),
        None => host.parse().ok().filter(IpAddr::is_ipv4),
    };
    if ip.is_none()
        && (host.is_empty()
            || host.contains([':', '[', ']', '/', '@'])
            || host.len() > MAX_FIELD_BYTES)
    {
        return Err(malformed());
    }
    let name = bracketed.unwrap_or(host);
    let Some(allowed) = reach else {
        let ip = ip.ok_or_else(|| {
            Failure::invalid(
                format!("{field}: {name} is a name, and a namespace has none"),
                "give an address",
            )
        })?;
        let address = SocketAddr::new(ip, port);
        return Ok((Address::Ip(address), Reached::given(address)));
    };
    let by_name = allowed.0.iter().any(|host| host.eq_ignore_ascii_case(name));
    let not_loopback = || {
        Failure::invalid(
            format!("{field}: {name} is not loopback"),
            format!("name a host of this machine, or start with --allow-target {name}"),
        )
    };
    let is_local = ip.is_some_and(|ip| ip.is_loopback()) || name.eq_ignore_ascii_case("localhost");
    if !is_local && !by_name {
        return Err(not_loopback());
    }
    if let Some(ip) = ip {
        let address = SocketAddr::new(ip, port);
        return Ok((Address::Ip(address), Reached::given(address)));
    }
    let mut found = reach::addresses_of(host, port).map_err(Failure::of_invalid(
        format!("{field}: {host}"),
        "give a name that resolves",
    ))?;
    if !by_name {
        found.retain(|address| address.ip().is_loopback());
    }
    if !dialled {
        found.truncate(1);
    }
    let reached = Reached::first_that_answers(found).ok_or_else(not_loopback)?;
    Ok((Address::Domain(host.to_owned(), port), reached))
}

#[cfg(test)]
mod tests;
