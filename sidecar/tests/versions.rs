//! A query for versions leaves no process behind and blocks no other work.

use std::process::Stdio;

use crate::common::{Root, eventually, one_line, pid, signal};
use nix::sys::signal::Signal;

/// A testbed whose version `script` prints. Its process notes that it was started.
fn root(script: &str) -> Root {
    let root = Root::new();
    let note = root.file("started");
    root.python(
        "one",
        &format!(
            "open('{}', 'w')\nprint('ready', flush=True)\ntime.sleep(600)",
            note.display()
        ),
        &format!(
            "ready = {{ log = '^ready$' }}\n[versions]\none = [\"env\", \"MARK_OF_TEST=@MARK@\", \"sh\", \"-c\", \"{script}\"]\n\
             [secrets.key]\n[[file]]\ntemplate = \"key\"\npath = \"key\""
        ),
    );
    std::fs::create_dir(root.file("testbeds/one")).unwrap();
    std::fs::write(root.file("testbeds/one/key"), "{{ secrets.key }}").unwrap();
    root
}

#[test]
fn what_a_version_s_command_leaves_behind_is_stopped() {
    for script in [
        "sleep 777 & echo; echo 1.2; echo 1.3",
        "setsid sleep 777 & echo 1.2",
        "setsid sleep 777 >/dev/null 2>&1 & echo 1.2",
    ] {
        let root = root(script);
        let server = root.serve();
        let started = server.start("one", "{}");
        assert_eq!(started["versions"]["one"], "1.2");
        assert_eq!(root.living().len(), 1, "the process, and nothing else");
        drop(server);
        root.nothing_is_left();
    }
}

#[test]
fn a_version_that_cannot_be_told_is_unknown() {
    for script in ["exit 3", "echo 1.2; exit 3", "true", "kill -9 $$"] {
        let root = root(script);
        let server = root.serve();
        assert_eq!(server.start("one", "{}")["versions"]["one"], "unknown");
        drop(server);
        root.nothing_is_left();
    }
}

#[test]
fn a_start_that_is_interrupted_meanwhile_ends_at_once_and_with_130() {
    for arguments in [
        &["testbed", "up", "one"][..],
        &["testbed", "run", "one", "--", "true"],
    ] {
        for end in [Signal::SIGINT, Signal::SIGTERM] {
            let root = root("sleep 777; echo 1.2");
            let child = root
                .sidecar(arguments)
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            // sh and sleep
            eventually("the version is asked for", || root.living().len() >= 2);
            signal(pid(&child), end);
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(130), "{end}");
            one_line(&output.stderr, &["version one", "given up"]);
            assert!(
                !root.file("started").exists(),
                "it went on instead of ending"
            );
            assert_eq!(root.living(), [0; 0]);
            root.nothing_is_left();
        }
    }
}

#[test]
fn a_sidecar_that_is_killed_meanwhile_leaves_nothing() {
    let root = root("sleep 777; echo 1.2");
    let mut child = root.sidecar(&["testbed", "up", "one"]).spawn().unwrap();
    eventually("the version is asked for", || root.living().len() >= 2);
    let written = std::fs::read_dir(root.file("tmp"))
        .unwrap()
        .any(|folder| folder.unwrap().path().join("key").exists());
    assert!(!written, "secrets are written when they are needed");
    child.kill().unwrap();
    child.wait().unwrap();
    root.nothing_is_left();
}
