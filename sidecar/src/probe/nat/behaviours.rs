//! Behaviours that show at once, each over separate associations.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use super::line::Line;
use super::report::{Dependence, Fragments, Port, Report};
use super::shared::{AGAIN, Nat, socket};
use crate::net::clock::now_ns;
use crate::probe::socks5::codec::Address;

/// Address of a client that is not where its control connection is.
const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));
/// Answers of the known far end after which the silence of others says something.
const KNOWN_LEAST: u32 = 3;
/// Timeouts that they may take.
const TIMEOUTS_MOST: u64 = 6;
const FIRST_FRAGMENT: u8 = 1;
/// The second of two: the high bit ends the sequence (RFC 1928, 7).
const LAST_FRAGMENT: u8 = 0x82;

/// Whether the port is the client's own, the relay's, or another one.
fn port_of(line: &Line<'_>, source: SocketAddr) -> Port {
    if line.port() == Some(source.port()) {
        Port::Preserved
    } else if line
        .relay
        .is_some_and(|relay| relay.port() == source.port())
    {
        Port::Relay
    } else {
        Port::Other
    }
}

/// The mapping, by the sources that a far end, another port, another address, and the first far end again saw (RFC 5780, 4.3).
fn mapping_of([first, port, address, again]: [SocketAddr; 4]) -> Dependence {
    if again != first || (port != first && address == first) {
        Dependence::Unstable
    } else if port != first {
        Dependence::AddressAndPortDependent
    } else if address != first {
        Dependence::AddressDependent
    } else {
        Dependence::EndpointIndependent
    }
}

/// The filtering, by whether another port and another address get through (RFC 5780, 4.4).
fn filtering_of(port: bool, address: bool) -> Dependence {
    match (port, address) {
        (true, true) => Dependence::EndpointIndependent,
        (true, false) => Dependence::AddressDependent,
        (false, false) => Dependence::AddressAndPortDependent,
        (false, true) => Dependence::Unstable,
    }
}

impl Nat<'_> {
    /// All except for the mapping, at the same time.
    pub fn behaviours(&self, own: bool, report: &mut Report) {
        let Report {
            checks_client,
            port,
            after_control,
            fragments,
            ipv6,
            both_families,
            domain,
            filtering,
            hairpinning,
            idle,
            ..
        } = report;
        std::thread::scope(|scope| {
            scope.spawn(move || *filtering = self.filtering(own));
            scope.spawn(move || *hairpinning = self.hairpinning(own));
            scope.spawn(move || *idle = self.idle(own));
            if self.plan.proxy.is_some() {
                scope.spawn(move || *after_control = self.after_control(own));
                scope.spawn(move || *fragments = self.fragments(own));
                scope.spawn(move || *ipv6 = self.ipv6(own));
                scope.spawn(move || *both_families = self.both_families(own));
                scope.spawn(move || *domain = self.domain(own));
                if let Some((checks, seen)) = self.elsewhere(own) {
                    *checks_client = Some(checks);
                    *port = seen.or(*port);
                }
            }
        });
    }

    /// Reports the mapping, and the port. Returns whether anything came back.
    pub fn mapping(&self, line: &Line<'_>, far: &UdpSocket, report: &mut Report) -> bool {
        let Some(first) = line.begin(far) else {
            return false;
        };
        report.port = Some(port_of(line, first));
        if let (Ok(port), Ok(address)) = (self.first_far(), self.second_far()) {
            let seen = [line.up(&port), line.up(&address), line.up(far)];
            if let [Some(port), Some(address), Some(again)] = seen {
                report.mapping = Some(mapping_of([first, port, address, again]));
            }
        }
        true
    }

    /// Another port, another address and the known far end send in turn, for a timeout. A slow machine delays all three. So the silence of
    /// the others counts once the known one's datagrams, which come after theirs, have arrived. If they do not arrive, all is unknown.
    fn filtering(&self, own: bool) -> Option<Dependence> {
        let line = self.line(own)?;
        let known = self.first_far().ok()?;
        let mapped = line.begin(&known)?;
        let fars = [self.first_far().ok()?, self.second_far().ok()?, known];
        let timeout = self.plan.timeout.as_nanos() as u64;
        let (began, since) = (now_ns(), self.next_number());
        let (mut sent, mut heard) = (HashMap::new(), [0; 3]);
        while !self.stops() {
            let ([port, address, known], waited) = (heard, now_ns() - began);
            let all = port > 0 && address > 0;
            if all || (known >= KNOWN_LEAST && waited >= timeout) {
                return Some(filtering_of(port > 0, address > 0));
            }
            if waited >= TIMEOUTS_MOST * timeout {
                return None;
            }
            for (index, far) in fars.iter().enumerate() {
                let (number, payload) = self.numbered();
                sent.insert(number, index);
                let _ = far.send_to(&payload, mapped);
            }
            let by = now_ns() + AGAIN.min(self.plan.timeout).as_nanos() as u64;
            while let Some(arrived) = line.heard(since, by) {
                // A duplicate counts once.
                if let Some(index) = sent.remove(&arrived.number) {
                    heard[index] += 1;
                    line.note_sender(&arrived, &fars[index]);
                }
            }
        }
        None
    }

    /// Each of two associations sends to the address that far ends see of the other. A relay that filters lets such a datagram in only if its
    /// own client has sent there, too.
    fn hairpinning(&self, own: bool) -> Option<bool> {
        let far = self.first_far().ok()?;
        let (one, other) = (self.line(own), self.line(own));
        let begin = |line: &Option<Line<'_>>| line.as_ref().and_then(|line| line.begin(&far));
        let (at_one, at_other) = (begin(&one), begin(&other));
        let (one, other, at_one, at_other) = (one?, other?, at_one?, at_other?);
        let reaches = |from: &Line<'_>, to: &Line<'_>, at_from, at_to| {
            let send = |payload: &[u8]| {
                to.send(&Address::Ip(at_from), 0, &self.payload());
                from.send(&Address::Ip(at_to), 0, payload);
            };
            self.until_one(send, |since, by| to.heard(since, by))
                .is_some()
        };
        let met =
            reaches(&one, &other, at_one, at_other) || reaches(&other, &one, at_other, at_one);
        self.unless_mute(own, met)
    }

    /// Whether something got through. Silence says so only if a new association carries datagrams then; else it is unknown.
    fn unless_mute(&self, own: bool, got_through: bool) -> Option<bool> {
        let carries = || {
            let far = self.first_far().ok()?;
            Line::open(self, own, None).ok()?.round_trip(&far)
        };
        (got_through || carries().is_some()).then_some(got_through)
    }

    fn fragments(&self, own: bool) -> Option<Fragments> {
        let line = self.line(own)?;
        let far = self.first_far().ok()?;
        line.begin(&far)?;
        let to = Address::Ip(far.local_addr().ok()?);
        let send = |payload: &[u8]| {
            line.send(&to, FIRST_FRAGMENT, payload);
            line.send(&to, LAST_FRAGMENT, &self.payload());
        };
        let arrived = self.until_one(send, |since, by| line.arrived(&far, since, by));
        Some(match arrived {
            Some(arrived) if arrived.bytes > self.pattern.size() => Fragments::Reassembled,
            Some(_) => Fragments::PassedOn,
            None if line.round_trip(&far).is_some() => Fragments::Dropped,
            None => Fragments::Ends,
        })
    }

    /// A far end at ::1; none if this machine has no IPv6, or if the far ends are elsewhere.
    fn sixth(&self) -> Option<UdpSocket> {
        self.on_loopback()
            .then(|| socket(Ipv6Addr::LOCALHOST.into()).ok())?
    }

    /// Null if there is no far end over IPv6.
    fn ipv6(&self, own: bool) -> Option<bool> {
        let far = self.sixth()?;
        let line = Line::open(self, own, None).ok()?;
        self.unless_mute(own, line.round_trip(&far).is_some())
    }

    /// Null if there is no far end over IPv6, or if IPv4 alone did not come back.
    fn both_families(&self, own: bool) -> Option<bool> {
        let six = self.sixth()?;
        let far = self.first_far().ok()?;
        let line = Line::open(self, own, None).ok()?;
        line.round_trip(&far)?;
        let both = line.round_trip(&six).is_some() && line.round_trip(&far).is_some();
        self.unless_mute(own, both)
    }

    /// The name may mean either family, so that a far end is at the same port of both. Null if the far ends are not where it leads.
    fn domain(&self, own: bool) -> Option<bool> {
        if !self.on_loopback() {
            return None;
        }
        let line = Line::open(self, own, None).ok()?;
        let far = socket(Ipv4Addr::LOCALHOST.into()).ok()?;
        let port = far.local_addr().ok()?.port();
        let also = UdpSocket::bind((Ipv6Addr::LOCALHOST, port)).ok();
        let name = Address::Domain("localhost".into(), port);
        let back = |far: &UdpSocket| {
            let mapped = line.up_to(&name, far);
            mapped.is_some_and(|mapped| line.down(far, mapped))
        };
        self.unless_mute(own, back(&far) || also.is_some_and(|far| back(&far)))
    }

    /// Whether the relay refuses a client at another address than the control connection's, and, if not, which port far ends see: on one
    /// machine, only a client at another address leaves its port to the relay.
    fn elsewhere(&self, own: bool) -> Option<(bool, Option<Port>)> {
        let line = Line::open(self, own, Some(ELSEWHERE)).ok()?;
        let relay = line.relay?.ip();
        if !relay.is_ipv4() || !relay.is_loopback() {
            return None;
        }
        let far = self.first_far().ok()?;
        let source = line.up(&far);
        self.unless_mute(own, source.is_some())?;
        Some((source.is_none(), source.map(|at| port_of(&line, at))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_tell_the_mapping() {
        let at = |port: u16| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port);
        for (ports, mapping) in [
            ([1, 1, 1, 1], Dependence::EndpointIndependent),
            ([1, 1, 2, 1], Dependence::AddressDependent),
            ([1, 2, 3, 1], Dependence::AddressAndPortDependent),
            ([1, 2, 1, 1], Dependence::Unstable),
            ([1, 2, 3, 4], Dependence::Unstable),
        ] {
            assert_eq!(mapping_of(ports.map(at)), mapping, "{ports:?}");
        }
        assert_eq!(filtering_of(false, true), Dependence::Unstable);
    }
}
