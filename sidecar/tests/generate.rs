//! Values that a program makes at the start: they stay secret everywhere.

use crate::common::{Root, eventually, one_line};

const KEYS: &str = "printf 'a line\\nprivate key: s3cr3t-%s\\npublic key: open-key\\n' $$";

/// A testbed with keys that `script` makes, and a process that prints them.
fn root(script: &str) -> Root {
    let root = Root::new();
    let keys = root.file("keys.sh");
    std::fs::write(&keys, script).unwrap();
    let body = r#"
[[generate]]
name = "pair"
command = ["env", "MARK_OF_TEST=@MARK@", "sh", "@KEYS@"]
fields = { private = '^private key: (\S+)', public = 'public key: (\S+)' }
[[file]]
template = "keys.conf"
path = "keys.conf"
[[process]]
name = "one"
command = ["sh", "-c", "echo got $PRIVATE $(cat keys.conf); exec sleep 777"]
env = { MARK_OF_TEST = "@MARK@", PRIVATE = "{{ generated.pair.private }}" }
ready = { log = "^got" }
[outputs]
THE_PUBLIC = "{{ generated.pair.public }}"
"#;
    root.testbed("keys", &body.replace("@KEYS@", &keys.display().to_string()));
    std::fs::create_dir(root.file("testbeds/keys")).unwrap();
    std::fs::write(
        root.file("testbeds/keys/keys.conf"),
        "{{ generated.pair.private }}/{{ generated.pair.public }}",
    )
    .unwrap();
    root
}

#[test]
fn what_is_generated_reaches_processes_files_and_outputs_and_no_log() {
    let root = root(KEYS);
    let server = root.serve();
    let started = server.start("keys", "{}");
    assert_eq!(started["secret_outputs"]["THE_PUBLIC"], "open-key");
    let work = std::fs::read_dir(root.file("tmp"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let written = std::fs::read_to_string(work.path().join("keys.conf")).unwrap();
    assert!(
        written.starts_with("s3cr3t-") && written.ends_with("/open-key"),
        "{written}"
    );
    eventually("the process has printed them", || {
        root.logs().contains("got [secret] [secret]/[secret]")
    });
    assert!(!root.logs().contains("s3cr3t") && !root.logs().contains("open-key"));
    assert!(!server.get("/instances").1.to_string().contains("open-key"));
    drop(server);
    root.nothing_is_left();
}

#[test]
fn each_start_makes_its_own() {
    let root = root("echo private key: $(date +%N); echo public key: $(date +%N)");
    let server = root.serve();
    let one = server.start("keys", "{}");
    let two = server.start("keys", "{}");
    assert_ne!(one["secret_outputs"], two["secret_outputs"]);
}

#[test]
fn what_goes_wrong_is_one_line_and_shows_no_secret() {
    for (script, parts) in [
        (
            "echo private key: s3cr3t; echo cannot open it; exit 3",
            &[
                "generate pair of testbed keys",
                "exit status 3",
                "it printed: cannot open it",
            ][..],
        ),
        ("echo private key: s3cr3t; exit 3", &["it printed nothing"]),
        (
            "echo s3cr3t; echo public key: p",
            &["2 lines", "field private", "^private key:"],
        ),
        ("echo private key: s3cr3t", &["1 lines", "field public"]),
        ("exec /nowhere/keys", &["exit status 127", "not found"]),
    ] {
        let root = root(script);
        let output = root
            .sidecar(&["testbed", "run", "keys", "--", "true"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(4), "{script}");
        one_line(&output.stderr, parts);
        assert!(!String::from_utf8_lossy(&output.stderr).contains("s3cr3t"));
        root.nothing_is_left();
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let root = root("true");
    let path = root.file("testbeds/keys.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path, text.replace("[\"env\"", "[\"/nowhere/env\"")).unwrap();
    let output = root
        .sidecar(&["testbed", "run", "keys", "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    one_line(
        &output.stderr,
        &["generate pair of testbed keys: there is no program /nowhere/env"],
    );
    root.nothing_is_left();
}

#[test]
fn one_that_does_not_end_is_stopped_after_ten_seconds() {
    let root = root("sleep 777");
    let server = root.serve();
    let (status, answer) = server.post("/testbeds/keys/start", "{}");
    assert_eq!(status, 502, "{answer}");
    assert!(
        answer["error"]
            .as_str()
            .unwrap()
            .contains("did not end within 10 s"),
        "{answer}"
    );
    root.nothing_is_left();
}
