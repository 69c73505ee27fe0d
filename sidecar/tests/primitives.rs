//! `sidecar bench primitives` with workers that are shell scripts: the handling of their answers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::common::{Root, eventually, one_line, signal};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// Writes a program into the root's bin; `script` can use $section and $work.
fn worker(root: &Path, name: &str, script: &str) -> PathBuf {
    let path = root.join("bin").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = format!(
        "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in --section) section=$2 ;; --work) work=$2 ;; esac; shift; done\n{script}\n"
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn row(names: [&str; 3], bytes: Option<u64>, median: f64) -> Value {
    let [subject, operation, implementation] = names;
    let mut row = json!({
        "subject": subject, "operation": operation, "implementation": implementation,
        "rounds": [{ "median": median, "low": median * 0.99, "high": median * 1.01, "samples": 10, "iterations": 1e4 }],
    });
    if let Some(bytes) = bytes {
        row["bytes"] = bytes.into();
    }
    row
}

fn answer(measurements: &[Value]) -> Value {
    json!({
        "portable": false, "rustc": "rustc 1.95.0", "cpu_features": ["aes"], "versions": { "ring": "0.17.14" },
        "checked": 7, "run_ns": 1000, "wait_ns": 10, "measurements": measurements, "skipped": [],
    })
}

/// Workers that answer for the controls, the memory and the AEADs; `copy` is the time of a copy of 64 KiB, ns.
fn answering(copy: f64) -> Root {
    let root = Root::new();
    let control = answer(&[
        row(["control", "empty", "loop"], None, 0.3),
        row(["control", "work", "sha2"], None, 1000.0),
        row(["control", "work twice", "sha2"], None, 2000.0),
        row(["control", "work again", "sha2"], None, 1001.0),
    ]);
    let memory = answer(&[row(["memory", "copy", "memcpy"], Some(1 << 28), 2e7)]);
    let size = Some(64 << 10);
    let aead = answer(&[
        row(["memory", "copy", "memcpy"], size, copy),
        row(["aes-256-gcm", "encrypt", "ring"], size, 10_000.0),
        row(["chacha20-poly1305", "encrypt", "ring"], size, 30_000.0),
    ]);
    let portable = answer(&[
        row(["aes-256-gcm", "encrypt", "portable"], size, 800_000.0),
        row(
            ["chacha20-poly1305", "encrypt", "portable"],
            size,
            800_100.0,
        ),
    ]);
    for (name, report) in [
        ("control", control),
        ("memory", memory),
        ("aead", aead),
        ("portable", portable),
    ] {
        fs::write(root.path().join(name), report.to_string()).unwrap();
    }
    let dir = root.path().display().to_string();
    worker(
        root.path(),
        "primitives",
        &format!("cp '{dir}'/$section \"$work\"/report.json"),
    );
    worker(
        root.path(),
        "primitives-portable",
        &format!("cp '{dir}'/portable \"$work\"/report.json"),
    );
    root
}

fn bench(root: &Root, more: &[&str]) -> Output {
    let mut arguments = vec!["bench", "primitives", "--only", "aead"];
    arguments.extend(more);
    root.sidecar(&arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_was_measured_has_every_round_and_no_verdict() {
    let root = answering(1000.0);
    let printed = bench(&root, &[]);
    assert_eq!(printed.status.code(), Some(0), "{}", text(&printed.stderr));
    let report: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(report["schema"], "windtunnel.primitives/2");
    assert_eq!(report["known_answers"], 3 * 7);
    let waited = report["waited"].as_f64().unwrap();
    assert!((waited - 10.0 / 1010.0).abs() < 1e-9, "{waited}");
    for told in ["verdict", "validity", "winners"] {
        assert_eq!(report.get(told), None, "k6 x primitives tells it");
    }
    let first = &report["measurements"][0];
    assert_eq!(first["rounds"][0]["samples"], 10);
    assert_eq!(first["section"], "control");
    let portable = report["measurements"].as_array().unwrap().iter();
    assert_eq!(
        portable
            .filter(|one| one["implementation"] == "portable" && one["section"] == "aead")
            .count(),
        2
    );
}

#[test]
fn a_folder_takes_it_in_place_of_standard_output() {
    // The program does not judge a figure that cannot be true.
    let root = answering(10.0);
    let out = root.path().join("out");
    let output = bench(&root, &["--out", &out.display().to_string()]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), "");
    let kept = fs::read(out.join("primitives.json")).unwrap();
    let report: Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(report["mode"], "quick");
}

#[test]
fn what_is_missing_or_wrong_is_one_line() {
    let root = Root::new();
    let output = bench(&root, &[]);
    assert_eq!(output.status.code(), Some(4));
    one_line(
        &output.stderr,
        &["bin/primitives is not built", "make bin/primitives"],
    );
    let output = bench(&root, &["--cpu", "999"]);
    assert_eq!(output.status.code(), Some(2));
    one_line(&output.stderr, &["--cpu: CPU 999", "there are the CPUs"]);

    let root = answering(1000.0);
    worker(
        root.path(),
        "primitives",
        "echo 'primitives: aes-256-gcm of ring does not give the known answer' >&2; exit 1",
    );
    let output = bench(&root, &[]);
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("aes-256-gcm of ring does not give the known answer"));
    worker(
        root.path(),
        "primitives",
        "echo '{' > \"$work\"/report.json",
    );
    let output = bench(&root, &[]);
    assert_eq!(output.status.code(), Some(4));
    assert!(
        text(&output.stderr).contains("primitives: EOF"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_worker_that_is_killed_and_a_kernel_that_tells_less_are_named() {
    let root = answering(1000.0);
    worker(root.path(), "primitives", "kill -9 $$");
    let output = bench(&root, &[]);
    assert_eq!(output.status.code(), Some(4));
    assert!(text(&output.stderr).contains("was killed, as a kernel without enough memory does it"));

    let root = answering(1000.0);
    for name in ["control", "aead", "portable"] {
        let path = root.file(name);
        let mut report: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        report["run_ns"] = Value::Null;
        fs::write(&path, report.to_string()).unwrap();
    }
    let output = bench(&root, &[]);
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["waited"], Value::Null, "the kernel does not tell");
}

#[test]
fn whatever_ends_the_sidecar_ends_the_worker_and_removes_its_folder() {
    for (end, code) in [(Signal::SIGINT, Some(130)), (Signal::SIGKILL, None)] {
        ends_with_nothing_left(end, code);
    }
}

fn ends_with_nothing_left(end: Signal, code: Option<i32>) {
    let root = answering(1000.0);
    let seen = root.path().join("pid");
    let script = format!(
        "echo $$ > '{0}.new'; mv '{0}.new' '{0}'; exec sleep 600",
        seen.display()
    );
    worker(root.path(), "primitives", &script);
    let child = root
        .sidecar(&["bench", "primitives"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    eventually("the worker runs", || seen.exists());
    let pid: i32 = fs::read_to_string(&seen).unwrap().trim().parse().unwrap();
    signal(crate::common::pid(&child), end);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), code, "{}", text(&output.stderr));
    // A container may have no process that waits for orphans.
    eventually("the worker has ended", || {
        procfs::process::Process::new(pid)
            .and_then(|worker| worker.stat())
            .map_or(true, |stat| matches!(stat.state, 'Z' | 'X'))
    });
    root.nothing_is_left();
}
