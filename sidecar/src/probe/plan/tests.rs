use serde_json::{Value, json};

use super::*;
use crate::echo::transfer::Direction;
use crate::probe::spec;

fn check(kind: &str, field: &str, value: Value) -> Result<Plan> {
    let mut spec = json!({"kind": kind, "target": "127.0.0.1:9000"});
    if let Some(field) = field.split('.').next().filter(|field| !field.is_empty()) {
        spec[field] = value;
    }
    Plan::check(
        serde_json::from_value(spec).unwrap(),
        &Allowed(vec!["192.0.2.1".into()]),
    )
}

#[test]
fn defaults_are_those_of_the_contract() {
    let plan = check("tcp", "", json!(null)).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(
        (plan.spec.count, plan.spec.connections, plan.spec.keep),
        (2_000, 1, 1_000_000)
    );
    assert_eq!(plan.timeout, Duration::from_secs(5));
    assert_eq!(plan.limit_ns, 60_000_000_000);
    let plan = check("udp", "", json!(null)).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(plan.timeout, Duration::from_millis(300));
    assert_eq!(plan.stall, Duration::from_secs(3));
    let open = json!({"open": {"rate_per_s": 10}});
    let plan = check("associations", "loop", open).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(plan.timeout, Duration::from_secs(1));
    for (kind, stall_s) in [("udp", 30), ("dns", 30), ("flow", 3)] {
        let plan =
            check(kind, "timeout_ms", json!(3_000)).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(plan.stall, Duration::from_secs(stall_s), "{kind}");
    }
}

#[test]
fn every_bound_is_named() {
    for (kind, field, value) in [
        ("tcp", "count", json!(0)),
        ("tcp", "count", json!(10_000_001)),
        ("tcp", "warmup", json!(100_001)),
        ("tcp", "connections", json!(0)),
        ("tcp", "connections", json!(4_097)),
        ("handshake", "connections", json!(65)),
        ("udp", "connections", json!(2)),
        ("tcp", "payload_bytes", json!(7)),
        ("tcp", "payload_bytes", json!(MIB + 1)),
        ("udp", "payload_bytes", json!(65_508)),
        ("tcp", "window", json!(2)),
        ("udp", "window", json!(4_097)),
        ("tcp", "timeout_ms", json!(0)),
        ("udp", "stall_ms", json!(0)),
        ("tcp", "handshake_timeout_ms", json!(60_001)),
        ("tcp", "limit_s", json!(0)),
        ("tcp", "limit_s", json!(3_601)),
        ("tcp", "keep", json!(4_000_001)),
        ("tcp", "loop", json!({"open": {"rate_per_s": 0}})),
        ("throughput", "loop", json!({"open": {"rate_per_s": 10}})),
        ("tcp", "transfer", json!({"bytes": 10})),
        ("throughput", "transfer", json!({"bytes": 0})),
        ("throughput", "transfer", json!({"warmup_bytes": 0})),
        (
            "throughput",
            "transfer",
            json!({"bytes": 10, "write_bytes": MIB + 1}),
        ),
        ("fetch", "connections", json!(65)),
        ("fetch", "transfer", json!({"bytes": 10})),
        ("tcp", "fetch", json!({"bytes": 10})),
        ("fetch", "fetch.bytes", json!({"bytes": 0})),
        ("fetch", "fetch.bytes", json!({"bytes": (64 << 20) + 1})),
        ("fetch", "fetch.objects", json!({"objects": 0})),
        ("fetch", "fetch.objects", json!({"objects": 257})),
        ("fetch", "fetch.tunnels", json!({"tunnels": 0})),
        (
            "fetch",
            "fetch.tunnels",
            json!({"objects": 3, "tunnels": 4}),
        ),
        (
            "fetch",
            "fetch.tunnels",
            json!({"objects": 256, "tunnels": 17}),
        ),
        ("tcp", "cpus", json!([99_999])),
        ("tcp", "target", json!("127.0.0.1")),
        ("tcp", "target", json!("127.0.0.1:0")),
        ("tcp", "target", json!("::1:80")),
        ("tcp", "target", json!("192.0.2.2:80")),
        ("tcp", "target", json!("example.org:80")),
        ("tcp", "proxy", json!({"address": "192.0.2.2:1080"})),
        (
            "tcp",
            "proxy",
            json!({"address": "127.0.0.1:1080", "username": "u"}),
        ),
        (
            "tcp",
            "proxy",
            json!({"address": "127.0.0.1:1080", "username": "", "password": "p"}),
        ),
    ] {
        match check(kind, field, value.clone()) {
            Ok(_) => panic!("{field} {value} was taken"),
            Err(failure) => assert!(
                failure.error.contains(field) && !failure.mend.is_empty(),
                "{failure}"
            ),
        }
    }
}

#[test]
fn the_tunnels_of_a_fetch_are_bound_for_all_connections_together() {
    let check = |connections, tunnels| {
        let spec = json!({"kind": "fetch", "target": "127.0.0.1:9000", "connections": connections,
            "fetch": {"objects": 16, "tunnels": tunnels}});
        Plan::check(serde_json::from_value(spec).unwrap(), &Allowed::default())
    };
    assert!(check(64, 4).is_ok() && check(16, 16).is_ok());
    let failure = check(64, 5).err().unwrap();
    assert!(failure.error.contains("fetch.tunnels"), "{failure}");
    assert!(failure.error.contains("320"), "{failure}");
}

#[test]
fn every_byte_of_a_fetch_is_checked_and_it_goes_down() {
    let plan = check("fetch", "fetch", json!({"bytes": 5, "objects": 2}))
        .unwrap_or_else(|failure| panic!("{failure}"));
    let Transfer {
        bytes,
        direction,
        every_byte,
        ..
    } = plan.transfer;
    assert_eq!((bytes, direction, every_byte), (5, Direction::Down, true));
    assert_eq!(plan.fetch.tunnels, 1);
    assert!(!plan.fetch.fresh);
}

#[test]
fn a_flow_has_bounds() {
    let flow = |flow| check("flow", "flow", flow).map(|plan| plan.flow);
    let known = flow(json!({"direction": "up", "congestion": "bbr"})).unwrap();
    assert_eq!(
        (known.seconds, known.reads, known.marks()),
        (10.0, true, 101)
    );
    for wrong in [
        json!({"seconds": 0}),
        json!({"warmup_s": 61}),
        json!({"requests_per_s": 0.05}),
        json!({"blocks": 65}),
        json!({"congestion": ""}),
        json!({"congestion": "a b"}),
        json!({"congestion": "abcdefghijklmnop"}),
        json!({"direction": "up", "reads": false}),
    ] {
        let failure = flow(wrong.clone()).err();
        let failure = failure.unwrap_or_else(|| panic!("{wrong}"));
        assert!(failure.to_string().contains("flow."), "{failure}");
    }
    assert!(check("tcp", "flow", json!({})).is_err());
    assert!(check("flow", "loop", json!({"open": {"rate_per_s": 1}})).is_err());
}

#[test]
fn addresses_in_all_their_forms() {
    for (text, resolved) in [
        ("127.0.0.1:9000", "127.0.0.1:9000"),
        ("127.9.9.9:1", "127.9.9.9:1"),
        ("[::1]:9000", "[::1]:9000"),
        ("localhost:9000", "127.0.0.1:9000"),
        ("192.0.2.1:80", "192.0.2.1:80"),
    ] {
        let plan =
            check("tcp", "target", json!(text)).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(plan.target_at.address.to_string(), resolved);
        assert_eq!(
            matches!(plan.target, Address::Domain(..)),
            text.starts_with('l')
        );
    }
}

#[test]
fn the_socks_header_is_part_of_a_datagram() {
    let largest = |target: &str| {
        (65_000..=65_507)
            .rev()
            .find(|size| {
                let spec = json!({"kind": "udp", "target": target, "payload_bytes": size, "proxy": {"address": "127.0.0.1:1080"}});
                Plan::check(serde_json::from_value(spec).unwrap(), &Allowed::default()).is_ok()
            })
            .unwrap()
    };
    assert_eq!(largest("127.0.0.1:9"), 65_497);
    assert_eq!(largest("[::1]:9"), 65_485);
    assert_eq!(largest("localhost:9"), 65_491);
}

#[test]
fn no_error_quotes_what_may_be_a_password() {
    for address in [
        "anna:secret@127.0.0.1:1080",
        "anna:secret@127.0.0.1",
        "anna:secret@[::1]:x",
    ] {
        let failure = check("tcp", "proxy", json!({"address": address})).err();
        let failure = failure.unwrap_or_else(|| panic!("{address}"));
        assert!(!failure.to_string().contains("secret"), "{failure}");
        assert!(failure.to_string().contains("HOST:PORT"), "{failure}");
    }
}

/// A listener at ::1 alone, or none if the machine has no IPv6.
fn only_at_ipv6() -> Option<(std::net::TcpListener, u16)> {
    let listener = std::net::TcpListener::bind("[::1]:0").ok()?;
    let port = listener.local_addr().ok()?.port();
    std::net::TcpStream::connect(("127.0.0.1", port))
        .is_err()
        .then_some((listener, port))
}

#[test]
fn a_proxy_at_localhost_is_reached_where_it_listens() {
    let Some((listener, port)) = only_at_ipv6() else {
        return;
    };
    let named = format!("localhost:{port}");
    let hop = |kind: &str, field: &str, value: Value| {
        let plan = check(kind, field, value).unwrap_or_else(|failure| panic!("{failure}"));
        plan.first_hop().clone()
    };
    let by_v6 = format!("[::1]:{port}");
    for kind in ["tcp", "udp", "handshake"] {
        let reached = hop(kind, "proxy", json!({"address": named}));
        assert_eq!(reached.address.to_string(), by_v6, "{kind}");
    }
    let target = hop("tcp", "target", json!(named));
    assert_eq!(target.address.to_string(), by_v6);
    drop(listener);
    let told = hop("tcp", "proxy", json!({"address": named})).to_string();
    assert!(
        told.contains(&format!("127.0.0.1:{port}, [::1]:{port}")),
        "{told}"
    );
}

#[test]
fn an_idle_time_ends_before_the_probe() {
    let check = |spec: &Spec| checks::check_fields(spec).and_then(|()| checks::check_idle(spec));
    let mut spec = Spec::new(ProbeKind::Concurrency, "127.0.0.1:9".into());
    let idle = |seconds, settle_s| spec::IdleSpec {
        seconds,
        settle_s,
        ports: Vec::new(),
    };
    for (seconds, settle_s, fits) in [
        (0.1, 0.0, true),
        (59.0, 0.5, true),
        (59.5, 0.5, false),
        (0.05, 0.0, false),
        (f64::NAN, 0.0, false),
        (1.0, f64::NAN, false),
        (1.0, -1.0, false),
    ] {
        spec.idle = Some(idle(seconds, settle_s));
        assert_eq!(check(&spec).is_ok(), fits, "{:?}", spec.idle);
    }
    spec.idle = Some(spec::IdleSpec {
        ports: vec![1; 17],
        ..idle(1.0, 0.0)
    });
    assert!(check(&spec).is_err());
    spec.idle = Some(idle(1.0, 0.0));
    spec.pace = Loop::Open { rate_per_s: 1.0 };
    assert!(check(&spec).is_err());
    spec.kind = ProbeKind::Associations;
    assert!(check(&spec).is_ok());
    spec.kind = ProbeKind::Tcp;
    assert!(check(&spec).is_err());
}

#[test]
fn idle_times_end_before_the_probe() {
    let check = |spec: &Spec| checks::check_fields(spec).and_then(|()| checks::check_nat(spec));
    let mut spec = Spec::new(ProbeKind::Nat, "127.0.0.1:9".into());
    for (idle_s, fits) in [
        (vec![], true),
        (vec![0.1, 59.0], true),
        (vec![0.05], false),
        (vec![f64::NAN], false),
        (vec![60.0], false),
        (vec![1.0; 33], false),
    ] {
        spec.nat = Some(NatSpec {
            idle_s,
            ..NatSpec::default()
        });
        assert_eq!(check(&spec).is_ok(), fits, "{:?}", spec.nat);
    }
    spec.kind = ProbeKind::Udp;
    assert!(check(&spec).is_err());
}

#[test]
fn far_ends_are_two_hosts() {
    let check = |spec: &Spec| checks::check_fields(spec).and_then(|()| checks::check_nat(spec));
    let mut spec = Spec::new(ProbeKind::Nat, "127.0.0.1:9".into());
    for (far_ends, fits) in [
        ([[127, 0, 0, 1], [127, 0, 0, 9]], true),
        ([[192, 0, 2, 1], [198, 51, 100, 1]], true),
        ([[127, 0, 0, 1], [127, 0, 0, 1]], false),
        ([[127, 0, 0, 1], [0, 0, 0, 0]], false),
        ([[224, 0, 0, 1], [127, 0, 0, 1]], false),
    ] {
        let far_ends = far_ends.map(std::net::Ipv4Addr::from);
        spec.nat = Some(NatSpec {
            far_ends,
            ..NatSpec::default()
        });
        assert_eq!(check(&spec).is_ok(), fits, "{:?}", spec.nat);
    }
}
