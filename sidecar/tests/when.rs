//! Parts of a testbed that a start leaves out.

use std::net::TcpListener;

use crate::common::{Root, one_line};
use serde_json::{Value, json};

/// A database that starts only if `database` is true, and a panel that may use it. Each notes its end in
/// the file `order`.
const BODY: &str = r#"
[variables.database]
type = "string"
default = "false"
description = "Whether there is a database, as text."
[variables.database_port]
type = "port"
default = 0
description = "Where the database listens."
[[requires]]
path = "/nowhere/database"
mend = "install it"
when = "{{ vars.database == 'missing' }}"
[versions]
asked = { command = ["sh", "-c", "echo 1.2"], when = "{{ vars.database }}" }
missing = ["/nowhere/program"]
always = { command = ["sh", "-c", "echo 3.4"] }
[[file]]
template = "database.conf"
path = "database.conf"
when = "{{ vars.database }}"
[[process]]
name = "database"
command = ["sh", "-c", "trap 'echo database >>@ORDER@; exit' TERM; sleep 1; echo at {{ vars.database_port }}; while :; do sleep 0.1; done"]
env = { MARK_OF_TEST = "@MARK@" }
ready = { log = "^at [1-9]", timeout_s = 60 }
when = "{{ vars.database }}"
[[process]]
name = "panel"
command = ["sh", "-c", "trap 'echo panel >>@ORDER@; exit' TERM; ls; echo up; while :; do sleep 0.1; done"]
env = { MARK_OF_TEST = "@MARK@", DATABASE = "{{ vars.database_port }}" }
ready = { log = "^up" }
[outputs]
DATABASE_URL = "{{ 'tcp://127.0.0.1:' ~ vars.database_port if vars.database == 'true' else '' }}"
"#;

fn root() -> Root {
    let root = Root::new();
    let order = root.file("order").display().to_string();
    root.testbed("panel", &BODY.replace("@ORDER@", &order));
    std::fs::create_dir(root.file("testbeds/panel")).unwrap();
    std::fs::write(
        root.file("testbeds/panel/database.conf"),
        "port = {{ vars.database_port }}",
    )
    .unwrap();
    root
}

fn names(started: &Value) -> Vec<&str> {
    let processes = started["processes"].as_array().unwrap().iter();
    processes
        .map(|process| process["name"].as_str().unwrap())
        .collect()
}

#[test]
fn what_is_left_out_is_not_started_written_asked_or_listed() {
    let root = root();
    let server = root.serve();
    for text in ["false", "", " false "] {
        let body = json!({"variables": {"database": text}}).to_string();
        let started = server.start("panel", &body);
        assert_eq!(names(&started), ["panel"], "{text:?}");
        assert_eq!(
            started["versions"],
            json!({"always": "3.4", "missing": "unknown"})
        );
        assert_eq!(started["outputs"]["DATABASE_URL"], "");
    }
    assert!(!root.logs().contains("database"), "{}", root.logs());
    drop(server);
    root.nothing_is_left();
}

#[test]
fn what_is_taken_is_as_without_a_condition() {
    let root = root();
    let server = root.serve();
    let started = server.start("panel", r#"{"variables": {"database": "true"}}"#);
    assert_eq!(names(&started), ["database", "panel"]);
    assert_eq!(started["versions"]["asked"], "1.2");
    let port = &started["variables"]["database_port"];
    assert_eq!(
        started["outputs"]["DATABASE_URL"],
        format!("tcp://127.0.0.1:{port}")
    );
    assert!(root.logs().contains(&format!("at {port}")));
    assert!(root.logs().contains("database.conf"));
    let id = started["id"].as_str().unwrap();
    assert_eq!(server.delete(&format!("/instances/{id}")).0, 200);
    let order = std::fs::read_to_string(root.file("order")).unwrap();
    assert_eq!(order, "panel\ndatabase\n", "the last started stops first");
    drop(server);
    root.nothing_is_left();
}

#[test]
fn any_other_text_is_refused_before_anything_starts() {
    for (text, parts) in [
        (
            "maybe",
            &["testbeds/panel.toml: file[0].when: \"maybe\" is neither true nor false"][..],
        ),
        (
            "True",
            &["testbeds/panel.toml: file[0].when: \"True\" is neither"],
        ),
    ] {
        let root = root();
        let output = root
            .sidecar(&["testbed", "run", "panel", "--var"])
            .arg(format!("database={text}"))
            .args(["--", "true"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        one_line(&output.stderr, parts);
        assert!(!root.file("results").exists(), "something was started");
        root.nothing_is_left();
    }
}

#[test]
fn a_testbed_of_which_nothing_is_left_is_refused() {
    let root = Root::new();
    root.python("none", "", "when = \"{{ 1 == 2 }}\"");
    let output = root
        .sidecar(&["testbed", "run", "none", "--", "true"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    one_line(
        &output.stderr,
        &["testbeds/none.toml: process: `when` leaves out all of them"],
    );
}

#[test]
fn a_requirement_is_asked_for_where_it_is_taken() {
    let root = Root::new();
    root.python(
        "needs",
        "print('ready', flush=True)\ntime.sleep(600)",
        "ready = { log = '^ready$' }\n[variables.strict]\ntype = \"boolean\"\ndefault = false\n\
         description = \"d\"\n[[requires]]\npath = \"/nowhere\"\nmend = \"make it\"\nwhen = \"{{ vars.strict }}\"",
    );
    let server = root.serve();
    server.start("needs", "{}");
    let (status, answer) = server.post(
        "/testbeds/needs/start",
        r#"{"variables": {"strict": true}}"#,
    );
    assert_eq!(status, 502, "{answer}");
    assert_eq!(
        answer["error"],
        "testbed needs needs /nowhere, which does not exist"
    );
}

#[test]
fn a_port_that_only_a_left_out_process_listens_on_may_be_taken() {
    let root = root();
    let server = root.serve();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let body = |database| json!({"variables": {"database": database, "database_port": port}});
    let started = server.start("panel", &body("false").to_string());
    assert_eq!(names(&started), ["panel"]);
    let (status, answer) = server.post("/testbeds/panel/start", &body("true").to_string());
    assert_eq!(status, 502, "{answer}");
    let error = answer["error"].as_str().unwrap();
    assert!(
        error.contains(&format!("port {port} (variable database_port")),
        "{error}"
    );
}
