//! Network namespaces of a testbed: connections between processes in them, and a search for leftovers.
//!
//! The tests need root or `unshare -Ur cargo test`; without it only the refusal is tested.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{Root, Server, eventually, one_line, pid, signal};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// Two namespaces with a link, and in one of them a process that reports what it sees there. The
/// addresses are from RFC 2544 and RFC 5180: they are for benchmarks, and routed nowhere.
const BODY: &str = r#"
[variables.inside]
type = "boolean"
default = true
description = "Whether there are namespaces."
[[namespace]]
name = "near"
when = "{{ vars.inside }}"
[[namespace]]
name = "far"
when = "{{ vars.inside }}"
sysctl = { "net.ipv4.ip_forward" = "1" }
setup = [
  ["sh", "-c", "ip route add default via 198.18.0.1 && ip route > '{{ work }}/routes'"],
  ["sh", "-c", "touch $XTABLES_LOCKFILE && test -e '{{ work }}/xtables.lock'"],
]
[[link]]
ends = [
  { namespace = "near", device = "far", addresses = ["198.18.0.1/24", "2001:2::1/64"] },
  { namespace = "far", device = "near", addresses = ["198.18.0.2/24", "2001:2::2/64"] },
]
when = "{{ vars.inside }}"
[[process]]
name = "server"
namespace = "far"
command = ["python3", "-c", '''
import socket, time
print(open("routes").read(), "forward", open("/proc/sys/net/ipv4/ip_forward").read(), flush=True)
server = socket.create_server(("198.18.0.2", 7000))
while True: time.sleep(60)
''']
env = { MARK_OF_TEST = "@MARK@" }
ready = { tcp = "198.18.0.2:7000" }
[outputs]
NEAR = "{{ namespaces.near if vars.inside else '' }}"
"#;

/// Commands that need the same rights as the testbed.
const TAKEN: &str = "ip link add near type veth peer name far \
    && ip address add 2001:2::1/64 dev near nodad \
    && echo 1 >/proc/sys/net/ipv4/ip_forward";

/// The kernel gives a namespace's number to the next one: tests that look for holders must not run at
/// the same time.
static ALONE: Mutex<()> = Mutex::new(());

/// None, and a line with the reason, if this user may not make namespaces. The guard keeps the other tests waiting.
fn root() -> Option<(Root, MutexGuard<'static, ()>)> {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let may = Command::new("unshare")
        .args(["--net", "sh", "-c", TAKEN])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !may.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no rights to make network namespaces, or no veth, IPv6 or iproute2");
        return None;
    }
    let root = Root::new();
    root.testbed("two", BODY);
    Some((root, alone))
}

/// The kernel's name of a namespace, `net:[N]`.
fn name_of(path: impl AsRef<Path>) -> String {
    std::fs::read_link(path).unwrap().display().to_string()
}

/// Processes that run in a namespace or have it open.
fn holders(namespace: &str) -> Vec<i32> {
    let holds = |pid: i32| {
        let own = std::fs::read_link(format!("/proc/{pid}/ns/net")).into_iter();
        let open = std::fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|file| std::fs::read_link(file.path()).ok());
        own.chain(open)
            .any(|target| target.as_os_str() == namespace)
    };
    procfs::process::all_processes()
        .unwrap()
        .flatten()
        .map(|process| process.pid)
        .filter(|pid| holds(*pid))
        .collect()
}

/// The parts of this machine's own network that the testbed may change, as `ip` shows them; other parts
/// change without the testbed.
fn own_network() -> String {
    let show = |what: &str| {
        let output = Command::new("ip")
            .args(["-oneline", what, "show"])
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let all = ["netns", "link", "address", "rule", "route"]
        .map(show)
        .concat();
    all.lines()
        .filter(|line| {
            ["near", "far", "198.18.", "2001:2:"]
                .iter()
                .any(|own| line.contains(own))
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// The namespaces of a started testbed, as the kernel names them.
fn both(server: &Server, started: &Value) -> [String; 2] {
    let far = started["processes"][0]["pid"].as_i64().unwrap();
    let near = started["outputs"]["NEAR"].as_str().unwrap();
    assert!(near.starts_with(&format!("/proc/{}/fd/", pid(&server.child))));
    [name_of(format!("/proc/{far}/ns/net")), name_of(near)]
}

fn echo(server: &Server, instance: &str, host: &str) -> (u16, Value) {
    let of = json!({"instance": instance, "name": "far"});
    let request = json!({"namespace": of, "host": host});
    server.post("/echoes", &request.to_string())
}

#[test]
fn probes_processes_and_echo_servers_meet_in_them() {
    let Some((root, _alone)) = root() else { return };
    let server = root.serve();
    let started = server.start("two", "{}");
    assert_eq!(started["namespaces"], json!(["far", "near"]));
    let id = started["id"].as_str().unwrap();
    let near = json!({"instance": id, "name": "near"});
    for (host, kind) in [
        ("198.18.0.2", "tcp"),
        ("198.18.0.2", "udp"),
        ("198.18.0.2", "throughput"),
        ("198.18.0.2", "concurrency"),
        ("198.18.0.2", "fetch"),
        ("2001:2::2", "tcp"),
        ("2001:2::2", "udp"),
    ] {
        let (status, far) = echo(&server, id, host);
        assert_eq!(status, 201, "{far}");
        let protocol = if kind == "udp" { "udp" } else { "tcp" };
        let mut spec = json!({"kind": kind, "target": far[protocol], "namespace": near,
            "count": 20, "timeout_ms": 5_000});
        let probe = server.measure(&spec);
        assert_eq!(probe["state"], "done", "{kind} {host}: {probe}");
        let outcome = &probe["outcome"];
        assert_eq!(outcome["attempted"], outcome["succeeded"], "{probe}");
        spec.as_object_mut().unwrap().remove("namespace");
        let (status, refused) = server.post("/probes", &spec.to_string());
        assert_eq!(status, 422, "{refused}");
    }
    assert!(root.logs().contains("default via 198.18.0.1"));
    assert!(root.logs().contains("forward 1"));
    drop(server);
    root.nothing_is_left();
}

type End = (&'static str, fn(&mut Server));

#[test]
fn nothing_is_left_whoever_ends_it() {
    let Some((root, _alone)) = root() else { return };
    let before = own_network();
    let ends: [End; 4] = [
        ("SIGKILL", |server| server.kill()),
        ("SIGINT", |server| {
            signal(pid(&server.child), Signal::SIGINT)
        }),
        ("SIGTERM", |server| {
            signal(pid(&server.child), Signal::SIGTERM)
        }),
        ("the end of its input", |server| drop(server.stdin.take())),
    ];
    for (what, end) in ends {
        let mut server = root.serve();
        let started = server.start("two", "{}");
        let namespaces = both(&server, &started);
        assert_eq!(
            echo(&server, started["id"].as_str().unwrap(), "198.18.0.2").0,
            201
        );
        assert_eq!(own_network(), before, "nothing of it shows outside");
        assert!(namespaces.iter().all(|one| !holders(one).is_empty()));
        end(&mut server);
        eventually(what, || {
            namespaces.iter().all(|one| holders(one).is_empty())
        });
        let _ = server.child.wait();
        root.nothing_is_left();
        assert_eq!(own_network(), before, "{what}");
    }
}

#[test]
fn an_instance_that_is_stopped_takes_its_namespaces_and_what_runs_in_them_with_it() {
    let Some((root, _alone)) = root() else { return };
    let server = root.serve();
    let started = server.start("two", "{}");
    let namespaces = both(&server, &started);
    let id = started["id"].as_str().unwrap();
    let (_, far) = echo(&server, id, "198.18.0.2");
    let near = json!({"instance": id, "name": "near"});
    let mut spec = json!({"kind": "tcp", "target": far["tcp"], "namespace": near, "count": 20});
    let ended = server.measure(&spec);
    assert_eq!(ended["state"], "done", "{ended}");
    spec["count"] = json!(1_000_000);
    let running = server.probe(&spec);
    assert_eq!(server.delete(&format!("/instances/{id}")).0, 200);
    assert_eq!(server.follow(&running)["state"], "cancelled");
    assert!(namespaces.iter().all(|one| holders(one).is_empty()));
    let path = format!("/echoes/{}", far["id"].as_str().unwrap());
    assert_eq!(server.get(&path).0, 404);
    let path = format!("/probes/{}", ended["id"].as_str().unwrap());
    assert_eq!(server.get(&path).1["outcome"]["succeeded"], 20);
    let (status, answer) = echo(&server, id, "198.18.0.2");
    assert_eq!(
        (status, answer["error"].as_str().unwrap().contains(id)),
        (404, true)
    );
}

/// A server that reports whether a client connects while the server starts.
const LISTENS: &str = r#"
[[namespace]]
name = "near"
[[process]]
name = "server"
namespace = "near"
command = ["python3", "-u", "-c", '''
import socket, time
time.sleep(0.2)
server = socket.create_server(("127.0.0.1", 7000))
server.settimeout(0.5)
try:
    server.accept()
    print("met", flush=True)
except TimeoutError:
    print("left alone", flush=True)
while True: time.sleep(60)
''']
env = { MARK_OF_TEST = "@MARK@" }
ready = { @CHECK@ }
[outputs]
NEAR = "{{ namespaces.near }}"
"#;

#[test]
fn a_port_that_has_to_be_listened_on_is_not_connected_to() {
    let Some((root, _alone)) = root() else { return };
    let checks = [
        ("listens", "listens = \"7000\"", "left alone"),
        ("connects", "tcp = \"127.0.0.1:7000\"", "met"),
        ("nobody", "listens = \"7001\", timeout_s = 1", ""),
    ];
    for (name, check, _) in checks {
        root.testbed(name, &LISTENS.replace("@CHECK@", check));
    }
    let server = root.serve();
    for (name, _, told) in &checks[..2] {
        let id = server.start(name, "{}")["id"].as_str().unwrap().to_owned();
        eventually("it tells", || root.logs().contains(told));
        assert_eq!(server.delete(&format!("/instances/{id}")).0, 200);
    }
    let (status, answer) = server.post("/testbeds/nobody/start", "{}");
    let error = answer["error"].as_str().unwrap();
    assert_eq!(status, 502, "{error}");
    assert!(error.contains("nothing listens on port 7001"), "{error}");
    drop(server);
    root.nothing_is_left();
}

#[test]
fn a_start_that_fails_leaves_none_and_names_the_command() {
    let Some((root, _alone)) = root() else { return };
    let wrong = BODY.replace("add default via 198.18.0.1", "add default via 198.18.9.9");
    root.testbed("wrong", &wrong);
    let before = own_network();
    let server = root.serve();
    let (status, answer) = server.post("/testbeds/wrong/start", "{}");
    let error = answer["error"].as_str().unwrap();
    assert_eq!(status, 502, "{error}");
    for part in [
        "namespace far of testbed wrong",
        "via 198.18.9.9",
        "invalid gateway",
    ] {
        assert!(error.contains(part), "{part:?} is not in {error}");
    }
    let open = std::fs::read_dir(format!("/proc/{}/fd", pid(&server.child))).unwrap();
    let namespaces = open
        .flatten()
        .filter_map(|file| std::fs::read_link(file.path()).ok())
        .filter(|target| target.to_string_lossy().starts_with("net:"));
    assert_eq!(namespaces.count(), 0);
    assert_eq!(own_network(), before);
    drop(server);
    root.nothing_is_left();
}

#[test]
fn what_is_not_there_is_named() {
    let Some((root, _alone)) = root() else { return };
    root.testbed(
        "needy",
        &format!("[[requires]]\nprogram = \"no-such-program\"\nmend = \"install it\"\n{BODY}"),
    );
    let server = root.serve();
    let lacking = BODY.replace(
        "ip route add default via 198.18.0.1",
        "echo no TPROXY; exit 69",
    );
    root.testbed("lacking", &lacking);
    let unknown = BODY.replace(
        r#"["sh", "-c", "ip route"#,
        r#"["ip", "link", "add", "x", "type", "nosuchtype"],["sh", "-c", "ip route"#,
    );
    root.testbed("unknown", &unknown);
    let refusals = [
        (
            "needy",
            "{}",
            501,
            ["the program no-such-program", "not installed"],
        ),
        (
            "lacking",
            "{}",
            501,
            [
                "this machine lacks a feature that the command needs",
                "it printed: no TPROXY",
            ],
        ),
        (
            "unknown",
            "{}",
            501,
            [
                "`ip link add x type nosuchtype`",
                "this machine lacks a feature that the command needs",
            ],
        ),
        (
            "two",
            r#"{"variables": {"inside": false}}"#,
            422,
            ["process[0].namespace", "no namespace \"far\""],
        ),
    ];
    for (name, body, status, parts) in refusals {
        let (found, answer) = server.post(&format!("/testbeds/{name}/start"), body);
        let error = answer["error"].as_str().unwrap();
        assert_eq!(found, status, "{error}");
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
    let started = server.start("two", "{}");
    let of = json!({"instance": started["id"], "name": "middle"});
    let (status, answer) = server.post("/echoes", &json!({"namespace": of}).to_string());
    let error = answer["error"].as_str().unwrap();
    assert_eq!(status, 422, "{error}");
    assert!(error.contains("no namespace \"middle\""), "{error}");
    let near = json!({"instance": started["id"], "name": "near"});
    let spec = json!({"kind": "tcp", "target": "localhost:9", "namespace": near});
    let (status, answer) = server.post("/probes", &spec.to_string());
    let error = answer["error"].as_str().unwrap();
    assert_eq!(status, 422, "{error}");
    assert!(error.contains("localhost is a name"), "{error}");
}

#[test]
fn a_user_without_the_rights_is_told_what_mends_it() {
    let may_make = Command::new("unshare").args(["--user", "true"]).status();
    if !may_make.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no user namespaces here");
        return;
    }
    let root = Root::new();
    root.testbed("two", BODY);
    // A program has no rights in a user namespace that maps no user.
    let child = Command::new("unshare")
        .args([
            "--user",
            env!("CARGO_BIN_EXE_sidecar"),
            "testbed",
            "up",
            "two",
        ])
        .current_dir(root.path())
        .env("TMPDIR", root.file("tmp"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    one_line(
        &output.stderr,
        &["testbed two makes network namespaces", "unshare -Ur"],
    );
    root.nothing_is_left();
}
