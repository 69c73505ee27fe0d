//! Limits of CPU and memory: whom they apply to, what they say, and that no control group is left behind.

use std::path::PathBuf;

use crate::common::{Root, Server, eventually, one_line, pid, signal};
use nix::sys::signal::Signal;
use serde_json::{Value, json};

/// A process of the system that takes memory or CPU time, and one that supports it.
const TWO: &str = "
[[process]]
name = \"support\"
role = \"support\"
command = [\"python3\", \"-c\", \"import time; print('ready', flush=True); time.sleep(600)\"]
env = { MARK_OF_TEST = \"@MARK@\" }
ready = { log = '^ready$' }

[[process]]
name = \"one\"
command = [\"python3\", \"-c\", \"import time; x = bytearray({{ vars.mib }} << 20); print('ready', flush=True); {{ vars.then }}\"]
env = { MARK_OF_TEST = \"@MARK@\" }
ready = { log = '^ready$' }

[variables.mib]
type = \"integer\"
default = 1
description = \"How much it takes.\"

[variables.then]
type = \"string\"
default = \"time.sleep(600)\"
description = \"What it does then.\"

[outputs]
";

fn root() -> Root {
    let root = Root::new();
    root.testbed("two", TWO);
    root
}

/// False, with a line, if this machine or user cannot set limits.
fn permitted(root: &Root) -> bool {
    let check = root.sidecar(&["limits", "cpu:50%,memory:64mib"]).output();
    let check = check.unwrap();
    if !check.status.success() {
        eprintln!("skipped: {}", String::from_utf8_lossy(&check.stderr));
    }
    check.status.success()
}

/// The groups of a process, as the kernel lists them.
fn groups(pid: i64) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap()
}

/// The folders of groups that a sidecar made.
fn folders(sidecar: i32) -> Vec<PathBuf> {
    let name = format!("windtunnel-{sidecar}-");
    let mut found = Vec::new();
    let mut next = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = next.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with(&name) {
                found.push(entry.path());
            }
            next.push(entry.path());
        }
    }
    found
}

#[test]
fn limits_apply_to_the_system_alone_and_say_what_they_did() {
    let root = root();
    if !permitted(&root) {
        return;
    }
    let server = root.serve();
    let body = json!({
        "limits": "memory:65536kib,cpu:20%",
        "variables": {"mib": 20, "then": "exec('while True: pass')"},
    });
    let started = server.start("two", &body.to_string());
    let sidecar = pid(&server.child);
    let of = |index: usize| groups(started["processes"][index]["pid"].as_i64().unwrap());
    let mark = format!("windtunnel-{sidecar}-");
    assert!(!of(0).contains(&mark) && of(1).contains(&mark), "{}", of(1));
    assert!(!groups(i64::from(sidecar)).contains(&mark));
    let limits = &started["limits"];
    assert_eq!(limits["text"], "cpu:20%,memory:64mib");
    assert_eq!(limits["memory_bytes"], 64 << 20);
    assert_eq!(limits["killed"], 0);
    let peak = limits["peak_memory_bytes"].as_u64().unwrap();
    assert!((20 << 20..64 << 20).contains(&peak), "{peak}");
    // The independent instrument: the kernel's own files.
    let read = |file: &str| {
        let files = folders(sidecar).into_iter().map(|folder| folder.join(file));
        files
            .into_iter()
            .find_map(|file| std::fs::read_to_string(file).ok())
    };
    let memory = read("memory.limit_in_bytes").or_else(|| read("memory.max"));
    assert_eq!(memory.unwrap().trim(), (64 << 20).to_string());
    let cpu = read("cpu.cfs_quota_us")
        .or_else(|| read("cpu.max"))
        .unwrap();
    assert!(cpu.starts_with("20000"), "{cpu}");
    let throttled = || {
        let text = read("cpu.stat").unwrap();
        let count = text
            .lines()
            .find_map(|line| line.strip_prefix("nr_throttled "));
        count.unwrap().parse::<u64>().unwrap()
    };
    eventually("the quota stops the process", || throttled() >= 5);
    let instance = format!("/instances/{}", started["id"].as_str().unwrap());
    let before = throttled();
    let said = server.get(&instance).1["limits"].clone();
    let count = said["throttled_periods"].as_u64().unwrap();
    assert!((before..=throttled()).contains(&count), "{said}");
    assert!(said["periods"].as_u64().unwrap() >= count, "{said}");
    assert!(said["throttled_s"].as_f64().unwrap() > 0.0, "{said}");
    server.delete(&instance);
    assert_eq!(folders(sidecar), Vec::<PathBuf>::new());
}

#[test]
fn a_system_that_needs_more_than_its_limit_is_killed_for_memory() {
    let root = root();
    if !permitted(&root) {
        return;
    }
    let server = root.serve();
    let body = json!({"limits": "memory:32mib", "variables": {"mib": 40}});
    let (status, answer) = server.post("/testbeds/two/start", &body.to_string());
    assert_eq!(status, 502, "{answer}");
    assert_eq!(
        answer["cause"],
        json!({"is": "killed_for_memory", "times": 1})
    );
    let error = answer["error"].as_str().unwrap();
    let words = "(killed for memory 1 time: the limit is 32mib, signal 9)";
    assert!(error.contains(words), "{error}");
    let line = "[windtunnel: the system was killed for memory 1 time: the limit is 32mib]";
    assert!(root.logs().contains(line), "{}", root.logs());
    assert_eq!(folders(pid(&server.child)), Vec::<PathBuf>::new());
    root.nothing_is_left();
}

/// Joins groups, as if it had a container. When the file `go` exists, it uses CPU time until 8 periods were throttled. Then a child takes 80 MiB.
const JOINS: &str = "
[[process]]
name = \"joins\"
command = [\"python3\", \"-c\", \"\"\"
import os, subprocess, sys, time
folders, root = sys.argv[1:]
for folder in folders.split():
    with open(folder + '/cgroup.procs', 'w') as file: file.write(str(os.getpid()))
print('ready', flush=True)
while not os.path.exists(root + '/go'): time.sleep(0.01)
def throttled():
    counts = [0]
    for folder in folders.split():
        if os.path.exists(folder + '/cpu.stat'):
            with open(folder + '/cpu.stat') as file: counts += [int(line.split()[1]) for line in file if 'nr_throttled' in line]
    return max(counts)
before = throttled()
while throttled() < before + 8: pass
code = subprocess.call([sys.executable, '-c', 'x = bytearray(80 << 20)'])
with open(root + '/done', 'w') as file: file.write(str(code))
time.sleep(600)
\"\"\", \"{{ vars.folders }}\", \"{{ root }}\"]
env = { MARK_OF_TEST = \"@MARK@\" }
ready = { log = '^ready$' }

[variables.folders]
type = \"string\"
description = \"The groups.\"

[outputs]
";

#[test]
fn limits_of_others_for_the_system_say_what_they_did() {
    let (root, others) = (Root::new(), root());
    if !permitted(&root) {
        return;
    }
    let container = others.serve();
    let limits = json!({"limits": "cpu:20%,memory:64mib"}).to_string();
    let made = container.start("two", &limits);
    let folders = folders(pid(&container.child));
    let folders: Vec<_> = folders
        .iter()
        .map(|folder| folder.to_string_lossy())
        .collect();
    root.testbed("joins", JOINS);
    let server = root.serve();
    let body = json!({"variables": {"folders": folders.join(" ")}});
    let started = server.start("joins", &body.to_string());
    let window = |server: &Server, instance: &Value| {
        let body = json!({"instance": instance["id"]}).to_string();
        let opened = server.post("/windows", &body).1;
        format!("/windows/{}", opened["id"].as_str().unwrap())
    };
    let its_own = window(&container, &made);
    let path = window(&server, &started);
    std::fs::write(root.file("go"), "").unwrap();
    let done = root.file("done");
    eventually("the child has ended", || {
        std::fs::read_to_string(&done).is_ok_and(|code| code == "-9")
    });
    let limits = &server.post(&format!("{path}/close"), "").1["limits"];
    let given = &limits["given"];
    assert_eq!(
        (&limits["system"], &given["killed"]),
        (&Value::Null, &json!(1)),
        "{limits}"
    );
    assert_eq!(given["cpu_percent"], 20.0, "{limits}");
    assert_eq!(given["memory_bytes"], 64 << 20, "{limits}");
    let count = given["throttled_periods"].as_u64().unwrap();
    assert!(
        count >= 8 && given["throttled_s"].as_f64() > Some(0.0),
        "{limits}"
    );
    let limits = &container.post(&format!("{its_own}/close"), "").1["limits"];
    assert_eq!(limits["given"], Value::Null, "its own group: {limits}");
}

#[test]
fn no_group_is_left_of_a_sidecar_that_was_killed() {
    let root = root();
    if !permitted(&root) {
        return;
    }
    let mut server = root.serve();
    server.start(
        "two",
        &json!({"limits": "cpu:50%,memory:64mib"}).to_string(),
    );
    let sidecar = pid(&server.child);
    assert!(!folders(sidecar).is_empty());
    server.kill();
    root.nothing_is_left();
    eventually("the guard removes its group", || {
        folders(sidecar).is_empty()
    });

    // The next sidecar removes a group that a guard could not.
    let mut server = root.serve();
    server.start(
        "two",
        &json!({"limits": "cpu:50%,memory:64mib"}).to_string(),
    );
    let sidecar = pid(&server.child);
    let guards = root.guards();
    guards
        .iter()
        .for_each(|guard| signal(*guard, Signal::SIGSTOP));
    server.kill();
    guards
        .iter()
        .for_each(|guard| signal(*guard, Signal::SIGKILL));
    eventually("the processes are gone", || root.living().is_empty());
    drop(root.serve());
    assert_eq!(folders(sidecar), Vec::<PathBuf>::new());
}

#[test]
fn wrong_limits_are_one_line() {
    let root = root();
    let check = root.sidecar(&["limits", "memory:64mb"]).output().unwrap();
    assert_eq!(check.status.code(), Some(2));
    one_line(&check.stderr, &["memory:64mb is not a size such as 64mib"]);
    let server = root.serve();
    let (status, answer) = server.post("/testbeds/two/start", r#"{"limits": "gpu:1"}"#);
    assert_eq!(status, 422, "{answer}");
}
