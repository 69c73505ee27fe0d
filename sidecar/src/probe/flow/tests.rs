use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::echo::{Echo, Request};
use crate::probe::observer::Observer;
use crate::probe::plan::Allowed;

fn echo(request: Value) -> Echo {
    let request: Request = serde_json::from_value(request).unwrap();
    Echo::start(request).unwrap_or_else(|failure| panic!("{failure}"))
}

fn plan(echo: &Echo, flow: &Value, connections: u64) -> Plan {
    let spec = json!({"kind": "flow", "target": echo.tcp.to_string(), "flow": flow, "connections": connections});
    let spec = serde_json::from_value(spec).unwrap();
    Plan::check(spec, &Allowed::default()).unwrap_or_else(|failure| panic!("{failure}"))
}

fn measure(echo: &Echo, flow: &Value, connections: u64) -> Outcome {
    let plan = plan(echo, flow, connections);
    run(&plan, &Context::new(&plan, Observer::default(), None)).unwrap()
}

#[test]
fn each_way_is_kept_full_and_each_request_is_answered() {
    let echo = echo(json!({}));
    for direction in ["up", "down"] {
        let asked =
            json!({"direction": direction, "seconds": 0.5, "warmup_s": 0.2, "requests_per_s": 20});
        let outcome = measure(&echo, &asked, 2);
        let Outcome {
            errors,
            attempted,
            succeeded,
            ..
        } = &outcome;
        assert!(errors.is_empty(), "{direction}: {errors:?}");
        assert_eq!((*attempted, *succeeded), (20, 20), "{direction}");
        let duration_s = outcome.duration_s;
        assert!((duration_s - 0.5).abs() < 1e-6, "{duration_s}");
        let flow = outcome.flow.unwrap();
        assert_eq!((flow.bytes.len(), flow.tunnels.len()), (7, 2));
        assert_eq!(outcome.bytes, flow.bytes[2..].iter().sum::<u64>());
        // Loopback carries more than 8 Mbit/s on any machine.
        assert!(outcome.bytes > 500_000, "{direction}: {flow:?}");
        for tunnel in flow.tunnels {
            assert_eq!(tunnel.died, None);
            assert!(tunnel.sent >= tunnel.received && tunnel.received > 0);
        }
    }
}

#[test]
fn without_a_way_there_are_requests_alone() {
    let echo = echo(json!({}));
    let asked = json!({"seconds": 0.5, "requests_per_s": 40});
    let outcome = measure(&echo, &asked, 1);
    assert_eq!((outcome.attempted, outcome.succeeded), (20, 20));
    let tunnel = outcome.flow.unwrap().tunnels.remove(0);
    // The last request asks for the received bytes.
    assert_eq!(tunnel.received, 21 * 1_024);
}

#[test]
fn without_requests_it_ends_when_the_far_end_has_said_what_came() {
    let echo = echo(json!({}));
    for direction in ["up", "down"] {
        let asked = json!({"direction": direction, "seconds": 0.5, "requests_per_s": 0});
        let outcome = measure(&echo, &asked, 1);
        assert_eq!((outcome.attempted, outcome.errors.len()), (0, 0));
        assert!(outcome.bytes > 500_000, "{direction}: {outcome:?}");
    }
}

#[test]
fn what_waits_in_front_of_the_far_end_hides_nothing_of_what_came() {
    let echo = echo(json!({}));
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = proxy.local_addr().unwrap();
    let target = echo.tcp;
    std::thread::spawn(move || slow_and_deep(&proxy, target));
    let flow = json!({"direction": "up", "seconds": 1.0, "warmup_s": 0.5, "requests_per_s": 20});
    let spec = json!({"kind": "flow", "target": at.to_string(), "flow": flow, "timeout_ms": 500});
    let plan = Plan::check(serde_json::from_value(spec).unwrap(), &Allowed::default());
    let plan = plan.unwrap_or_else(|failure| panic!("{failure}"));
    let outcome = run(&plan, &Context::new(&plan, Observer::default(), None)).unwrap();
    // Requests wait behind seconds of payload, and only received bytes count.
    assert!(
        outcome.errors.contains_key(&ErrorKind::Timeout),
        "{:?}",
        outcome.errors
    );
    let kib_s = outcome.bytes as f64 / 1024.0;
    assert!((kib_s / SLOW_KIB_S - 1.0).abs() < 0.3, "{kib_s}");
}

const SLOW_KIB_S: f64 = 400.0;

/// Accepts all bytes at once, and passes on [`SLOW_KIB_S`] of them.
fn slow_and_deep(listener: &std::net::TcpListener, target: std::net::SocketAddr) {
    use std::io::{Read, Write};
    let (mut near, _) = listener.accept().unwrap();
    let mut far = TcpStream::connect(target).unwrap();
    let (mut back, mut to) = (far.try_clone().unwrap(), near.try_clone().unwrap());
    std::thread::spawn(move || std::io::copy(&mut back, &mut to));
    let (sender, receiver) = std::sync::mpsc::sync_channel::<Vec<u8>>(1_000);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 20 << 10];
        while let Ok(count) = near.read(&mut buffer) {
            if count == 0 || sender.send(buffer[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    let began = std::time::Instant::now();
    let mut given = 0.0;
    for bytes in receiver {
        let due = Duration::from_secs_f64(given / 1024.0 / SLOW_KIB_S);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
        given += bytes.len() as f64;
        if far.write_all(&bytes).is_err() {
            return;
        }
    }
}

#[test]
fn a_tunnel_that_is_not_read_stands_still_and_lives() {
    let echo = echo(json!({}));
    let asked = json!({"direction": "down", "seconds": 1.5, "reads": false});
    let plan = plan(&echo, &asked, 1);
    let sent = || echo.state().counted.tcp_bytes.load(Relaxed);
    let outcome = std::thread::scope(|scope| {
        let probe =
            scope.spawn(|| run(&plan, &Context::new(&plan, Observer::default(), None)).unwrap());
        std::thread::sleep(Duration::from_millis(600));
        let before = sent();
        std::thread::sleep(Duration::from_millis(400));
        assert!(
            before > 0 && before == sent(),
            "{before} and then {}",
            sent()
        );
        probe.join().unwrap()
    });
    assert_eq!((outcome.attempted, outcome.bytes), (0, 0));
    assert_eq!(outcome.flow.unwrap().tunnels[0].died, None);
}

#[test]
fn a_tunnel_that_ends_has_died_and_so_have_its_requests() {
    let echo = echo(json!({}));
    let asked = json!({"direction": "down", "seconds": 1.0, "requests_per_s": 10});
    let plan = plan(&echo, &asked, 1);
    let outcome = std::thread::scope(|scope| {
        let probe =
            scope.spawn(|| run(&plan, &Context::new(&plan, Observer::default(), None)).unwrap());
        std::thread::sleep(Duration::from_millis(450));
        echo.stop();
        probe.join().unwrap()
    });
    assert_eq!(outcome.attempted, 10, "{:?}", outcome.errors);
    let succeeded = outcome.succeeded;
    assert!((1..=9).contains(&succeeded), "{succeeded}");
    let died = outcome.flow.unwrap().tunnels[0].died.unwrap();
    let ends = [ErrorKind::Closed, ErrorKind::ConnectionReset];
    assert!(ends.contains(&died.kind), "{died:?}");
    assert!(died.at_s > 0.2 && died.at_s < 1.0, "{died:?}");
    assert_eq!(outcome.errors.keys().collect::<Vec<_>>(), [&died.kind]);
}

#[test]
fn a_far_end_without_flows_ends_the_tunnel() {
    let echo = echo(json!({"engine": "events"}));
    let outcome = measure(&echo, &json!({"seconds": 0.2}), 1);
    assert_eq!(outcome.succeeded, 0);
    assert!(outcome.flow.unwrap().tunnels[0].died.is_some());
    assert!(outcome.duration_s < 1.0, "{}", outcome.duration_s);
}

#[test]
fn a_congestion_control_that_the_kernel_has_not_is_named() {
    let echo = echo(json!({}));
    let asked = json!({"seconds": 0.2, "congestion": "nonsuch"});
    let plan = plan(&echo, &asked, 1);
    let error = run(&plan, &Context::new(&plan, Observer::default(), None)).unwrap_err();
    assert!(error.message.contains("nonsuch"), "{}", error.message);
    let asked = json!({"seconds": 0.2, "congestion": "cubic"});
    let known = measure(&echo, &asked, 1);
    assert_eq!(known.attempted, known.succeeded);
}
