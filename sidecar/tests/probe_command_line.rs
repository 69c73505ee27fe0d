//! Probes without a served sidecar, and the token of a served one.

use std::time::Duration;

use crate::common::Root;
use crate::common::network::*;
use serde_json::Value;

#[test]
fn a_token_from_outside_is_taken() {
    use std::io::{BufRead, BufReader};
    let root = Root::new();
    let mut child = root
        .sidecar(&["serve", "--exit-with-stdin"])
        .env("SIDECAR_TOKEN", "known-to-both")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let first: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(first["token"], "known-to-both");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let refused = root
        .sidecar(&["serve"])
        .env("SIDECAR_TOKEN", "")
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    crate::common::one_line(&refused.stderr, &["SIDECAR_TOKEN"]);
}

#[test]
fn the_command_line_measures_too() {
    let root = Root::new();
    let echo = tcp_echo(Duration::ZERO).to_string();
    let run = |arguments: &[&str]| {
        root.sidecar(&[&["probe"], arguments].concat())
            .output()
            .unwrap()
    };
    let json = run(&[
        "tcp", "--direct", "--target", &echo, "--count", "50", "--json",
    ]);
    assert!(json.status.success());
    let probe: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(probe["outcome"]["succeeded"], 50);
    let proxy = echo_proxy(Duration::ZERO).to_string();
    let table = run(&[
        "handshake",
        "--proxy",
        &proxy,
        "--target",
        "127.0.0.1:9",
        "--count",
        "20",
    ]);
    let text = String::from_utf8(table.stdout).unwrap();
    assert!(
        text.contains("20 of 20 succeeded") && text.contains("greeting"),
        "{text}"
    );
    let refused = run(&["tcp", "--direct", "--target", &nobody().to_string()]);
    assert_eq!(refused.status.code(), Some(4));
    crate::common::one_line(&refused.stderr, &["connection_refused"]);
    let elsewhere = run(&["tcp", "--direct", "--target", "192.0.2.1:9"]);
    assert_eq!(elsewhere.status.code(), Some(2));
    crate::common::one_line(
        &elsewhere.stderr,
        &["not loopback", "--allow-target 192.0.2.1"],
    );
    // The size is checked after the target, and no bytes are sent.
    let allowed = run(&[
        "udp",
        "--direct",
        "--target",
        "192.0.2.2:9",
        "--allow-target",
        "192.0.2.1,192.0.2.2",
        "--payload",
        "65508",
    ]);
    crate::common::one_line(&allowed.stderr, &["payload_bytes"]);
    let no_password = run(&[
        "tcp",
        "--proxy",
        &proxy,
        "--user",
        "u",
        "--target",
        "127.0.0.1:9",
    ]);
    crate::common::one_line(&no_password.stderr, &["SOCKS_PASSWORD"]);
}
