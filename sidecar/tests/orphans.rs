//! Each end of a process, even a kill, leaves no other process behind.

use std::process::Stdio;

use crate::common::{Root, command_line, eventually, one_line, pid, signal};
use nix::sys::signal::Signal;

/// A program that ignores every signal that asks for its end.
const STUBBORN: &str = "
for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT): signal.signal(s, signal.SIG_IGN)
print('ready', flush=True)
while True: time.sleep(60)";

/// A program whose grandchild has left its session, its group and its parent.
const RUNAWAY: &str = "
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)
        print('ready', flush=True)
        while True: time.sleep(60)
    os._exit(0)
os.wait()
while True: time.sleep(60)";

const READY: &str = "stop_timeout_s = 0.5\nready = { log = '^ready$' }";

fn roots() -> Root {
    let root = Root::new();
    root.python("stubborn", STUBBORN, READY)
        .python("runaway", RUNAWAY, READY);
    root
}

#[test]
fn a_program_that_ignores_the_stop_signal_is_killed() {
    let root = roots();
    let server = root.serve();
    let started = server.start("stubborn", "{}");
    assert_eq!(root.living().len(), 1);
    let (status, answer) =
        server.delete(&format!("/instances/{}", started["id"].as_str().unwrap()));
    assert_eq!(
        (status, answer["processes"][0]["exit"].as_str()),
        (200, Some("signal 9"))
    );
    root.nothing_is_left();
}

#[test]
fn a_grandchild_that_left_session_and_parent_is_stopped_too() {
    let root = roots();
    let server = root.serve();
    let started = server.start("runaway", "{}");
    assert_eq!(root.living().len(), 2);
    let (status, _) = server.delete(&format!("/instances/{}", started["id"].as_str().unwrap()));
    assert_eq!(status, 200);
    assert_eq!(
        root.living(),
        [0; 0],
        "after the answer nothing may be left, not even for a moment"
    );
    root.nothing_is_left();
}

#[test]
fn a_sidecar_that_is_killed_leaves_nothing() {
    let root = roots();
    let mut server = root.serve();
    server.start("stubborn", "{}");
    server.start("runaway", "{}");
    assert_eq!(root.living().len(), 3);
    server.kill();
    root.nothing_is_left();
}

#[test]
fn a_guard_that_is_killed_leaves_nothing() {
    let root = roots();
    let server = root.serve();
    let started = server.start("runaway", "{}");
    let guards = root.guards();
    assert!(!guards.is_empty());
    signal(guards[0], Signal::SIGKILL);
    eventually("all of the process is gone", || root.living().is_empty());
    let path = format!("/instances/{}", started["id"].as_str().unwrap());
    eventually("the instance says so", || {
        server.get(&path).1["processes"][0]["exit"] == "signal 9"
    });
    assert_eq!(server.delete(&path).0, 200);
    root.nothing_is_left();
}

#[test]
fn a_sidecar_that_is_killed_leaves_no_working_folder_even_where_its_guards_do_nothing() {
    let root = roots();
    let mut server = root.serve();
    server.start("stubborn", "{}");
    let guards = root.guards();
    assert_eq!(guards.len(), 1);
    signal(guards[0], Signal::SIGSTOP);
    server.kill();
    eventually("no working folder is left", || {
        std::fs::read_dir(root.file("tmp"))
            .unwrap()
            .next()
            .is_none()
    });
    signal(guards[0], Signal::SIGKILL);
    root.nothing_is_left();
}

#[test]
fn a_sidecar_whose_folder_s_keeper_was_killed_removes_the_folder_itself() {
    let root = roots();
    let server = root.serve();
    let started = server.start("stubborn", "{}");
    let keepers: Vec<i32> = procfs::process::all_processes()
        .unwrap()
        .flatten()
        .filter(|process| {
            process
                .stat()
                .is_ok_and(|stat| stat.ppid == pid(&server.child))
        })
        .map(|process| process.pid)
        .filter(|pid| command_line(*pid).contains("__folder"))
        .collect();
    assert_eq!(keepers.len(), 1);
    signal(keepers[0], Signal::SIGKILL);
    let path = format!("/instances/{}", started["id"].as_str().unwrap());
    assert_eq!(server.delete(&path).0, 200);
    root.nothing_is_left();
}

#[test]
fn a_sidecar_ends_with_its_standard_input_and_with_signals() {
    let root = roots();
    let mut server = root.serve();
    server.start("runaway", "{}");
    drop(server.stdin.take());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    assert_eq!(root.living(), [0; 0]);
    for end in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut server = root.serve();
        server.start("runaway", "{}");
        signal(pid(&server.child), end);
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{end}");
        assert_eq!(root.living(), [0; 0], "{end}");
    }
    root.nothing_is_left();
}

#[test]
fn a_sidecar_that_ends_during_a_start_leaves_nothing() {
    let root = Root::new();
    root.python(
        "never",
        "time.sleep(600)",
        "ready = { log = 'never' }\nstop_timeout_s = 1",
    );
    let child = root
        .sidecar(&["testbed", "up", "never"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    eventually("it starts", || !root.living().is_empty());
    signal(pid(&child), Signal::SIGTERM);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    one_line(&output.stderr, &["process one", "given up"]);
    assert_eq!(root.living(), [0; 0]);
    root.nothing_is_left();
}

#[test]
fn a_process_that_ends_takes_its_children_with_it() {
    let root = Root::new();
    let script = "
if os.fork() == 0:
    os.setsid()
    while True: time.sleep(60)
print('ready', flush=True)
time.sleep(0.5)
sys.exit(3)";
    root.python("short", script, READY);
    let server = root.serve();
    let started = server.start("short", "{}");
    let path = format!("/instances/{}", started["id"].as_str().unwrap());
    eventually("it ended", || {
        server.get(&path).1["processes"][0]["exit"] == "exit status 3"
    });
    eventually("its child too", || root.living().is_empty());
    assert_eq!(
        server.delete(&path).1["processes"][0]["exit"],
        "exit status 3"
    );
    root.nothing_is_left();
}
