//! Links between network namespaces: the packets that pass through a link, and a search for leftovers.
//!
//! The tests need a TUN device, and root or `unshare -Ur cargo test`; without them only the refusal is tested. The tests compare times
//! with each other, and with the link's own counts: never with a clock alone.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::links::may_make_links;
use crate::common::{
    Root, Server, eventually, one_line, patient_ms, pid, signal, timely, undisturbed,
};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// A pair with a server at the far end, and a client at the near end that only lives.
const BODY: &str = r#"
[variables.control]
type = "string"
default = "cubic"
description = "The congestion control of both ends."
[[process]]
name = "server"
namespace = "{{ hop.far }}"
command = ["python3", "-c", '''
import socket, sys, time
open("/proc/sys/net/ipv4/tcp_congestion_control", "w").write(sys.argv[2]) if sys.argv[1] != "127.0.0.1" else None
server = socket.create_server((sys.argv[1], 7000))
while True: time.sleep(60)
''', "{{ hop.server }}", "{{ vars.control }}"]
env = { MARK_OF_TEST = "@MARK@" }
ready = { tcp = "{{ hop.server }}:7000" }
[[process]]
name = "client"
namespace = "{{ hop.near }}"
command = ["python3", "-c", '''
import sys, time
open("/proc/sys/net/ipv4/tcp_congestion_control", "w").write(sys.argv[2]) if sys.argv[1] != "127.0.0.1" else None
print("set", flush=True)
time.sleep(600)
''', "{{ hop.server }}", "{{ vars.control }}"]
ready = { log = "^set$" }
env = { MARK_OF_TEST = "@MARK@" }
[outputs]
SERVER = "{{ hop.server }}"
DEVICE = "{{ hop.device }}"
"#;

/// Returns none if this user or machine cannot make links.
fn root() -> Option<Root> {
    let root = may_make_links()?;
    root.testbed("pair", BODY);
    std::fs::create_dir(root.path().join("links")).unwrap();
    let file = "schema = \"windtunnel.link/1\"\ntitle = \"A slow one\"\nrtt = \"40ms\"\n";
    std::fs::write(root.path().join("links/slow.toml"), file).unwrap();
    Some(root)
}

fn start(server: &Server, link: &str) -> String {
    let answer = server.start("pair", &json!({"link": {"text": link}}).to_string());
    assert_eq!(answer["outputs"]["DEVICE"], "hop0", "{answer}");
    answer["id"].as_str().unwrap().to_owned()
}

fn link_of(server: &Server, id: &str) -> Value {
    let (status, link) = server.get(&format!("/instances/{id}/link"));
    assert_eq!(status, 200, "{link}");
    link
}

fn change(server: &Server, id: &str, body: &Value) -> (u16, Value) {
    server.post(&format!("/instances/{id}/link"), &body.to_string())
}

/// An echo server at the far end, and the values that a probe at the near end needs.
fn probe_spec(server: &Server, id: &str, kind: &str) -> Value {
    let far = json!({"host": "198.18.2.2", "namespace": {"instance": id, "name": "far"}});
    let (status, echo) = server.post("/echoes", &far.to_string());
    assert_eq!(status, 201, "{echo}");
    let target = if kind == "udp" {
        &echo["udp"]
    } else {
        &echo["tcp"]
    };
    json!({
        "kind": kind, "target": target, "payload_bytes": 64, "timeout_ms": 3000, "handshake_timeout_ms": 10_000,
        "stall_ms": 20_000, "namespace": {"instance": id, "name": "near"},
    })
}

/// The fastest round trip of a probe, ms: a busy machine adds the least to it.
fn fastest_ms(server: &Server, id: &str) -> f64 {
    let mut spec = probe_spec(server, id, "tcp");
    spec["count"] = json!(30);
    let probe = server.measure(&spec);
    assert_eq!(probe["state"], "done", "{probe}");
    probe["outcome"]["series"][0]["min_ns"]
        .as_f64()
        .unwrap_or_else(|| panic!("{probe}"))
        / 1e6
}

#[test]
fn a_round_trip_takes_as_long_as_the_link_says_and_changes_when_it_does() {
    undisturbed(|| {
        let Some(root) = root() else { return };
        let server = root.serve();
        let id = start(&server, "slow");
        let link = link_of(&server, &id);
        assert_eq!(link["title"], "A slow one");
        assert_eq!(link["far"]["address"], "198.18.2.2");
        let slow = fastest_ms(&server, &id);
        let (status, changed) = change(&server, &id, &json!({"set": "rtt:80ms"}));
        assert_eq!(
            (status, &changed["settings"]["up"]["delay_ns"]),
            (200, &json!(40_000_000))
        );
        let slower = fastest_ms(&server, &id);
        assert!(slow >= 40.0 && slower >= 80.0, "{slow} {slower}");
        // A busy machine slows both.
        let what = format!("{slow} and {slower} ms");
        timely((1.5..2.3).contains(&(slower / slow)), what);
        let (status, again) = change(&server, &id, &json!({"restart": true}));
        assert_eq!(
            (status, &again["settings"]["up"]["delay_ns"]),
            (200, &json!(20_000_000))
        );
        assert_eq!(again["up"]["sent"], 0);
    });
}

/// Which of 2,000 datagrams came back, by the link's own counts in each direction.
fn losses(server: &Server, link: &str) -> (u64, u64, u64) {
    let id = start(server, link);
    let mut spec = probe_spec(server, &id, "udp");
    spec["count"] = json!(2_000);
    spec["loop"] = json!({"open": {"rate_per_s": 2_000}});
    spec["timeout_ms"] = json!(patient_ms(1_000));
    spec["window"] = json!(4_000);
    let probe = server.measure(&spec);
    let link = link_of(server, &id);
    let count = |side: &str, what: &str| link[side][what].as_u64().unwrap();
    assert_eq!(count("up", "sent"), 2_000, "{link} {probe}");
    assert_eq!(
        count("up", "sent"),
        count("up", "delivered") + count("up", "lost")
    );
    assert_eq!(count("down", "sent"), count("up", "delivered"));
    let lost = probe["outcome"]["errors"]["lost"].as_u64().unwrap_or(0);
    assert_eq!(lost, count("up", "lost") + count("down", "lost"), "{probe}");
    server.delete(&format!("/instances/{id}"));
    (count("up", "lost"), count("down", "lost"), lost)
}

#[test]
fn one_seed_loses_as_many_of_the_same_packets_again_and_another_seed_others() {
    let Some(root) = root() else { return };
    let server = root.serve();
    let first = losses(&server, "rtt:4ms,loss:2%,seed:11");
    assert_eq!(losses(&server, "rtt:4ms,loss:2%,seed:11"), first);
    assert!(first.2 > 20, "{first:?}");
    let others = ["rtt:4ms,loss:2%,seed:12", "rtt:4ms,loss:2%,seed:13"];
    assert!(others.iter().any(|link| losses(&server, link) != first));
}

/// Mbit/s of one connection upward, of payload, after `bytes`.
fn goodput(server: &Server, id: &str, bytes: u64) -> f64 {
    let mut spec = probe_spec(server, id, "throughput");
    spec.as_object_mut().unwrap().remove("payload_bytes");
    spec["transfer"] = json!({"bytes": bytes, "warmup_bytes": bytes / 4, "write_bytes": 65_536, "direction": "up"});
    spec["count"] = json!(1);
    let probe = server.measure(&spec);
    let (carried, took) = (
        &probe["outcome"]["bytes"],
        &probe["outcome"]["series"][0]["mean_ns"],
    );
    let found = carried.as_f64().zip(took.as_f64());
    let (bytes, ns) = found.unwrap_or_else(|| panic!("{probe}"));
    bytes * 8.0 / ns * 1e3
}

/// The goodput over a separate link, with this congestion control at both ends. Returns none, and prints a line, if the kernel lacks it.
fn goodput_over(server: &Server, control: &str, link: &str, bytes: u64) -> Option<f64> {
    let there =
        std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    if !there.split_whitespace().any(|one| one == control) {
        eprintln!("skipped: this kernel has no {control}");
        return None;
    }
    let body = json!({"link": {"text": link}, "variables": {"control": control}});
    let id = server.start("pair", &body.to_string())["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let found = goodput(server, &id, bytes);
    let link = link_of(server, &id);
    for side in ["up", "down"] {
        for own in ["own_overrun", "own_refused", "own_unread"] {
            assert_eq!(link[side][own], 0, "{link}");
        }
    }
    server.delete(&format!("/instances/{id}"));
    Some(found)
}

#[test]
fn without_loss_a_transfer_gets_most_of_the_link_whatever_its_rate_and_control() {
    undisturbed(|| {
        let Some(root) = root() else { return };
        let server = root.serve();
        for control in ["cubic", "bbr", "reno"] {
            for rate in [10, 40] {
                let link = format!("rtt:20ms,rate:{rate}mbit,queue:2bdp");
                let Some(found) = goodput_over(&server, control, &link, rate * 250_000) else {
                    break;
                };
                let share = found / rate as f64;
                // Headers take 3.5 %, and the start of the transfer takes time too.
                let what = format!("{control} at {rate} Mbit/s: {share}");
                timely((0.7..=0.97).contains(&share), what);
            }
        }
    });
}

/// Mathis, Semke, Mahdavi and Ott, 1997: the rate is MSS / RTT × C / √loss, with C from 0.87 to 1.22.
#[test]
fn reno_gets_with_loss_what_mathis_says() {
    undisturbed(|| {
        let Some(root) = root() else { return };
        let server = root.serve();
        let reno = |per_cent: f64| {
            let link = format!("rtt:20ms,up.loss:{per_cent}%,seed:3");
            let found = goodput_over(&server, "reno", &link, 6_000_000)?;
            let said = 1448.0 * 8.0 / 0.020 / (per_cent / 100.0).sqrt() / 1e6;
            Some((found, found / said))
        };
        let Some(((often, of_often), (seldom, of_seldom))) = reno(2.0).zip(reno(0.5)) else {
            return;
        };
        // A fourth of the loss is twice the rate.
        let what = format!("{seldom} and {often} Mbit/s");
        timely((1.4..2.8).contains(&(seldom / often)), what);
        for of_said in [of_often, of_seldom] {
            let what = format!("{of_said} of MSS / RTT / sqrt(loss)");
            timely((0.5..1.7).contains(&of_said), what);
        }
    });
}

#[test]
fn wrong_links_are_refused_in_one_line() {
    let Some(root) = root() else { return };
    let server = root.serve();
    for (link, status, said) in [
        ("fast", 422, "there is no link \"fast\"; there are slow"),
        ("rtt:40", 422, "it has no unit"),
        ("rate:20gbit", 422, "out of bounds"),
    ] {
        let body = json!({"link": {"text": link}}).to_string();
        let (found, answer) = server.post("/testbeds/pair/start", &body);
        let line = format!(
            "{}; {}",
            answer["error"].as_str().unwrap(),
            answer["mend"].as_str().unwrap()
        );
        assert_eq!(found, status, "{answer}");
        assert!(line.contains(said), "{line}");
    }
    root.testbed(
        "alone",
        "[[process]]\nname = \"one\"\ncommand = [\"sleep\", \"600\"]\n[outputs]\n",
    );
    let (status, answer) = server.post(
        "/testbeds/alone/start",
        &json!({"link": {"text": "slow"}}).to_string(),
    );
    assert_eq!(status, 422, "{answer}");
    assert!(
        answer["error"].as_str().unwrap().contains("has no hop"),
        "{answer}"
    );
    let id = start(&server, "slow");
    for (body, status) in [
        (json!({"set": "rtt:40"}), 422),
        (json!({"set": "rtt"}), 422),
        (json!({"set": "jitter:50ms"}), 422),
        (json!({}), 400),
    ] {
        assert_eq!(change(&server, &id, &body).0, status, "{body}");
    }
    // A refused change has no effect.
    assert_eq!(link_of(&server, &id)["settings"]["up"]["jitter_ns"], 0);
    let plain = server.start("pair", "{}");
    assert_eq!(plain["outputs"]["DEVICE"], "lo");
    assert!(plain["link"].is_null());
    let id = plain["id"].as_str().unwrap();
    assert_eq!(server.get(&format!("/instances/{id}/link")).0, 404);
}

/// The parts of this machine's own network that a link may change, as `ip` shows them.
fn own_network() -> String {
    let show = |what: &str| {
        let output = Command::new("ip")
            .args(["-oneline", what, "show"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let all = ["netns", "link", "address", "route"].map(show).concat();
    all.lines()
        .filter(|line| line.contains("198.18.2.") || line.contains(": hop0"))
        .collect()
}

#[test]
fn a_stopped_or_killed_link_leaves_no_namespace_no_route_and_no_process() {
    let Some(root) = root() else { return };
    let mut server = root.serve();
    let id = start(&server, "slow");
    assert_eq!(own_network(), "");
    server.delete(&format!("/instances/{id}"));
    eventually("the server is stopped", || root.living().is_empty());
    start(&server, "slow");
    server.kill();
    root.nothing_is_left();
    assert_eq!(own_network(), "");
}

#[test]
fn up_says_where_the_ends_are_until_it_is_interrupted() {
    let Some(root) = root() else { return };
    let mut up = root
        .sidecar(&["link", "up", "slow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(up.stdout.take().unwrap()).lines();
    let ends: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let near = ends["near"]["namespace"].as_str().unwrap();
    let there = Command::new("nsenter")
        .args([
            &format!("--net={near}"),
            "ip",
            "-oneline",
            "address",
            "show",
            "hop0",
        ])
        .output()
        .unwrap();
    let there = String::from_utf8(there.stdout).unwrap();
    assert!(
        there.contains(ends["near"]["address"].as_str().unwrap()),
        "{there}"
    );
    signal(pid(&up), Signal::SIGINT);
    let counts: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(counts["up"]["lost"], 0);
    assert!(up.wait().unwrap().success());
    assert!(!std::path::Path::new(near).exists());
}

#[test]
fn a_user_namespace_is_enough() {
    let Some(root) = root() else { return };
    let may = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "true"])
        .status();
    if !may.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no user namespaces here");
        return;
    }
    let done = Command::new("unshare")
        .args(["--user", "--map-root-user"])
        .arg(env!("CARGO_BIN_EXE_sidecar"))
        .args(["link", "calibrate", "--json", "rtt:10ms"])
        .env("WINDTUNNEL_ROOT", root.path())
        .output()
        .unwrap();
    let found: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"));
    assert_eq!(found["up"]["own_lost"], 0, "{found}");
    assert_eq!(found["up"]["loss"]["missed"], 0, "{found}");
}

#[test]
fn a_user_without_rights_is_told_what_to_do() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("skipped: this test becomes nobody, which takes root");
        return;
    }
    let root = Root::new();
    let binary = root.path().join("sidecar");
    std::fs::copy(env!("CARGO_BIN_EXE_sidecar"), &binary).unwrap();
    let open = Command::new("chmod")
        .args(["-R", "a+rX"])
        .arg(root.path())
        .status();
    assert!(open.unwrap().success());
    let done = Command::new("setpriv")
        .args(["--reuid=65534", "--clear-groups", "--no-new-privs"])
        .arg(&binary)
        .args(["link", "calibrate", "rtt:10ms"])
        .current_dir(root.path())
        .env("WINDTUNNEL_ROOT", root.path())
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(4), "{done:?}");
    one_line(&done.stderr, &["network namespace", "unshare -Ur"]);
}

#[test]
fn a_pair_is_at_home_at_an_end_of_anothers_link() {
    let Some(root) = root() else { return };
    let server = root.serve();
    let over = start(&server, "slow");
    let near = json!({"instance": over, "name": "near"});
    let inside = server.start("pair", &json!({"namespace": near}).to_string());
    assert_eq!(inside["outputs"]["SERVER"], "127.0.0.1", "{inside}");
    assert_eq!(inside["outputs"]["DEVICE"], "lo");
    assert!(inside["link"].is_null());
    let network = |instance: &Value, process: &str| {
        let all = instance["processes"].as_array().unwrap();
        let found = all.iter().find(|one| one["name"] == process).unwrap();
        let pid = &found["pid"];
        std::fs::read_link(format!("/proc/{pid}/ns/net")).unwrap()
    };
    let (_, both) = server.get(&format!("/instances/{over}"));
    for process in ["server", "client"] {
        assert_eq!(network(&inside, process), network(&both, "client"));
    }
    assert_ne!(network(&both, "server"), network(&both, "client"));
    for (body, status) in [
        (json!({"namespace": near, "link": {"text": "slow"}}), 422),
        (
            json!({"namespace": {"instance": over, "name": "home"}}),
            422,
        ),
        (
            json!({"namespace": {"instance": "nobody", "name": "near"}}),
            404,
        ),
    ] {
        let (found, answer) = server.post("/testbeds/pair/start", &body.to_string());
        assert_eq!(found, status, "{answer}");
    }
}
