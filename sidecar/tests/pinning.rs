//! A testbed's processes, and all that they start, are bound to CPUs.

use crate::common::{Root, eventually};
use procfs::process::Process;

const CHILDREN: &str = "
import subprocess, threading
threading.Thread(target=time.sleep, args=(600,)).start()
subprocess.Popen(['sh', '-c', 'sleep 777 & wait'])
print('ready', flush=True)
time.sleep(600)";

const MORE: &str = "cpus = \"{{ vars.cpus }}\"
ready = { log = '^ready$' }
[variables.cpus]
type = \"cpus\"
default = \"\"
description = \"Where it runs.\"
";

fn root() -> Root {
    let root = Root::new();
    root.python("bound", CHILDREN, MORE);
    root
}

/// The list of CPUs that a process or thread may use, as the kernel writes it.
fn allowed(path: &str) -> String {
    std::fs::read_to_string(format!("/proc/{path}/status"))
        .unwrap()
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap()
        .trim()
        .to_owned()
}

fn last_cpu() -> String {
    let all = allowed("self");
    all.rsplit([',', '-']).next().unwrap().to_owned()
}

#[test]
fn threads_children_and_grandchildren_are_bound_too() {
    let root = root();
    let server = root.serve();
    let last = last_cpu();
    let started = server.start(
        "bound",
        &format!(r#"{{"variables": {{"cpus": "{last}"}}}}"#),
    );
    assert_eq!(started["processes"][0]["cpus"], last.as_str());
    // python, sh and sleep
    eventually("the grandchild runs", || root.living().len() == 3);
    for pid in root.living() {
        assert_eq!(
            allowed(&pid.to_string()),
            last,
            "{}",
            crate::common::command_line(pid)
        );
    }
    let python = started["processes"][0]["pid"].as_i64().unwrap() as i32;
    let threads: Vec<_> = Process::new(python)
        .unwrap()
        .tasks()
        .unwrap()
        .flatten()
        .map(|task| allowed(&format!("{python}/task/{}", task.tid)))
        .collect();
    assert_eq!(threads, [last.as_str(), &last]);
    for guard in root.guards() {
        assert_eq!(allowed(&guard.to_string()), allowed("self"));
    }
    let id = started["id"].as_str().unwrap();
    let (_, shown) = server.get(&format!("/instances/{id}"));
    assert_eq!(shown["processes"][0]["cpus"], last.as_str());
    drop(server);
    root.nothing_is_left();
}

#[test]
fn without_a_list_nothing_is_bound() {
    let root = root();
    let server = root.serve();
    let started = server.start("bound", "{}");
    assert_eq!(started["processes"][0]["cpus"], "");
    for pid in root.living() {
        assert_eq!(allowed(&pid.to_string()), allowed("self"));
    }
}

#[test]
fn a_cpu_that_is_not_there_is_told_before_anything_starts() {
    let root = root();
    let server = root.serve();
    let there = format!("there are the CPUs {}", allowed("self"));
    let absent = "process one of testbed bound, variable cpus: CPU 1000 does not exist or is not allowed here";
    let none = "variable cpus of testbed bound is none, and must be a list of CPUs";
    for (list, wrong, mend) in [
        ("1000", absent, there.as_str()),
        ("none", none, "see `sidecar testbed show bound`"),
    ] {
        let body = format!(r#"{{"variables": {{"cpus": "{list}"}}}}"#);
        let (status, answer) = server.post("/testbeds/bound/start", &body);
        assert_eq!(status, 422, "{answer}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.contains(wrong), "{error}");
        assert_eq!(answer["mend"], mend);
    }
    root.nothing_is_left();
}
