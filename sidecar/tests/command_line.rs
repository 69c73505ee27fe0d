//! The command line.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::common::{Root, eventually, one_line, pid, signal};
use nix::sys::signal::Signal;

fn root() -> Root {
    let root = Root::new();
    let more = "ready = { log = '^ready$' }\n[variables.size]\ntype = \"integer\"\ndefault = 5\ndescription = \"How large.\"\n\
                [secrets.key]\n[outputs]\nSIZE = \"{{ vars.size }}\"\nKEY = \"{{ secrets.key }}\"\nNAME = \"it's one\"";
    root.python("one", "print('ready', flush=True)\ntime.sleep(600)", more);
    root
}

#[test]
fn testbeds_are_listed_and_shown() {
    let root = root();
    let list = root.sidecar(&["testbed", "list"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&list.stdout), "one  test: A test\n");
    let show = root.sidecar(&["testbed", "show", "one"]).output().unwrap();
    let text = String::from_utf8_lossy(&show.stdout).into_owned();
    assert!(
        text.contains("size = 5") && text.contains("How large."),
        "{text}"
    );
    root.testbed("bad", "x = 1\n");
    let list = root.sidecar(&["testbed", "list"]).output().unwrap();
    assert_eq!(list.status.code(), Some(2));
    one_line(&list.stderr, &["testbeds/bad.toml"]);
}

#[test]
fn wrong_usage_is_one_line_and_exit_code_2() {
    let root = root();
    for (arguments, parts) in [
        (
            &["testbed", "run", "nope", "--", "true"][..],
            &["unknown testbed", "one"][..],
        ),
        (
            &["testbed", "run", "one", "--var", "sise=1", "--", "true"],
            &["no variable sise"],
        ),
        (
            &["testbed", "run", "one", "--var", "size=many", "--", "true"],
            &["variable size", "an integer"],
        ),
        (
            &["testbed", "run", "one", "--var", "size", "--", "true"],
            &["--var size"],
        ),
        (
            &["testbed", "up", "one", "--root", "/nowhere"],
            &["/nowhere"],
        ),
        (&["sample", "--pid", "4999999"], &["4999999"]),
        (
            &["serve", "--listen", "0.0.0.0:0"],
            &["0.0.0.0:0", "loopback"],
        ),
    ] {
        let output = root.sidecar(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        one_line(&output.stderr, parts);
    }
    assert_eq!(
        root.sidecar(&["nonsense"]).output().unwrap().status.code(),
        Some(2)
    );
    assert_eq!(
        root.sidecar(&["--help"]).output().unwrap().status.code(),
        Some(0)
    );
    root.nothing_is_left();
}

#[test]
fn run_gives_the_outputs_and_takes_the_command_s_exit_code() {
    let root = root();
    let script = "echo \"$SIZE $NAME ${#KEY}\"; exit 7";
    let output = root
        .sidecar(&[
            "testbed", "run", "one", "--var", "size=8", "--", "sh", "-c", script,
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "8 it's one 64\n");
    let table = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        table.contains("peak RSS") && table.contains("exit status 7"),
        "{table}"
    );
    let output = root
        .sidecar(&["testbed", "run", "one", "--", "sh", "-c", "kill -9 $$"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(137));
    let output = root
        .sidecar(&["testbed", "run", "one", "--", "no-such-program-here"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(127));
    root.nothing_is_left();
}

#[test]
fn an_interrupted_command_cleans_up_while_the_testbed_still_runs() {
    let root = root();
    let script = "
import os, signal, sys, time
count = 0
def on(signum, frame):
    global count
    count += 1
signal.signal(signal.SIGINT, on)
print('going', flush=True)
while count == 0: time.sleep(0.01)
time.sleep(1.5)
def marked(pid):
    try: return ('MARK_OF_TEST=' + sys.argv[1]).encode() in open('/proc/' + pid + '/environ', 'rb').read()
    except OSError: return False
alive = [p for p in os.listdir('/proc') if p.isdigit() and marked(p)]
print('interrupts', count, 'alive', len(alive), flush=True)
sys.exit(9)";
    let mut child = root
        .sidecar(&[
            "testbed", "run", "one", "--", "python3", "-c", script, &root.mark,
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert_eq!(line, "going\n");
    // Twice in a moment is once: `timeout` signals the process and then its group.
    signal(pid(&child), Signal::SIGINT);
    signal(pid(&child), Signal::SIGINT);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "interrupts 1 alive 1\n");
    assert_eq!(child.wait().unwrap().code(), Some(9));
    root.nothing_is_left();
}

#[test]
fn a_killed_run_leaves_nothing() {
    let root = root();
    let mut child = root
        .sidecar(&[
            "testbed",
            "run",
            "one",
            "--",
            "env",
            &format!("MARK_OF_TEST={}", root.mark),
            "sleep",
            "600",
        ])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("testbed and command run", || root.living().len() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    root.nothing_is_left();
}

#[test]
fn up_prints_what_is_open_and_writes_what_is_secret() {
    use std::os::unix::fs::PermissionsExt;
    let root = root();
    let env_file = root.file("one.env");
    let mut child = root
        .sidecar(&[
            "testbed",
            "up",
            "one",
            "--env-file",
            env_file.to_str().unwrap(),
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "export NAME='it'\\''s one'");
    assert_eq!(lines.next().unwrap(), "export SIZE=5");
    let secret = lines.next().unwrap();
    assert!(
        secret.starts_with("# KEY is secret") && secret.len() < 200,
        "{secret}"
    );
    assert_eq!(
        env_file.metadata().unwrap().permissions().mode() & 0o777,
        0o600
    );
    let script = format!(". {}; echo \"$SIZE $NAME ${{#KEY}}\"", env_file.display());
    let read = std::process::Command::new("sh")
        .args(["-c", &script])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&read.stdout), "5 it's one 64\n");
    signal(pid(&child), Signal::SIGINT);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!env_file.exists());
    root.nothing_is_left();
}

#[test]
fn up_ends_when_a_process_does() {
    let root = Root::new();
    root.python(
        "short",
        "print('ready', flush=True)\ntime.sleep(0.3)\nsys.exit(3)",
        "ready = { log = '^ready$' }",
    );
    let output = root.sidecar(&["testbed", "up", "short"]).output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("process one") && text.contains("exit status 3"),
        "{text}"
    );
    root.nothing_is_left();
}
