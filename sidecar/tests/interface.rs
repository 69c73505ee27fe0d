//! The HTTP interface, and the errors of a start.

use std::net::TcpListener;

use crate::common::{PATIENCE, Root, eventually, patient};
use serde_json::json;

const SERVER: &str = "
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == '/ok' else 503); self.end_headers()
print('key is', os.environ['KEY'], flush=True)
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()";

fn web(root: &Root) {
    let body = format!(
        r#"
[variables.port]
type = "port"
default = 0
description = "Where it listens."
[variables.size]
type = "integer"
default = 5
min = 1
max = 10
description = "How large."
[secrets.key]
[versions]
python = ["python3", "-c", "print('1.2.3')"]
broken = ["python3", "-c", "import sys; sys.exit(1)"]
[[file]]
template = "web.conf"
path = "conf/web.conf"
[[process]]
name = "web"
command = ["python3", "-c", '''
import os, sys
{SERVER}
''', "{{{{ vars.port }}}}"]
env = {{ MARK_OF_TEST = "@MARK@", KEY = "{{{{ secrets.key }}}}", CONF = "{{{{ work }}}}/conf/web.conf" }}
ready = {{ http = "http://127.0.0.1:{{{{ vars.port }}}}/ok" }}
[outputs]
WEB_URL = "http://127.0.0.1:{{{{ vars.port }}}}"
WEB_KEY = "{{{{ secrets.key }}}}"
WEB_SIZE = "{{{{ vars.size }}}}"
"#
    );
    root.testbed("web", &body);
    std::fs::create_dir_all(root.file("testbeds/web")).unwrap();
    std::fs::write(
        root.file("testbeds/web/web.conf"),
        "size={{ vars.size }} key={{ secrets.key }}\n",
    )
    .unwrap();
}

#[test]
fn a_testbed_starts_tells_its_secrets_once_and_stops() {
    let root = Root::new();
    web(&root);
    let server = root.serve();
    let started = server.start("web", r#"{"variables": {"size": 7}}"#);
    let id = started["id"].as_str().unwrap();
    let key = started["secret_outputs"]["WEB_KEY"].as_str().unwrap();
    assert_eq!(key.len(), 64);
    assert_eq!(started["outputs"]["WEB_SIZE"], "7");
    assert!(started["outputs"].get("WEB_KEY").is_none());
    assert_eq!(
        started["versions"],
        json!({"python": "1.2.3", "broken": "unknown"})
    );
    let port = started["variables"]["port"].as_u64().unwrap();
    assert_eq!(
        started["outputs"]["WEB_URL"],
        format!("http://127.0.0.1:{port}")
    );
    assert_eq!(started["processes"][0]["role"], "system");
    assert_eq!(
        root.living(),
        [started["processes"][0]["pid"].as_i64().unwrap() as i32]
    );

    let work = std::fs::read_dir(root.file("tmp"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let config = std::fs::read_to_string(work.path().join("conf/web.conf")).unwrap();
    assert_eq!(config, format!("size=7 key={key}\n"));
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(work.metadata().unwrap().permissions().mode() & 0o777, 0o700);

    // The secret is in the answer above and in the program's own environment, and nowhere else.
    eventually("the log has the program's line", || {
        root.logs().contains("key is [secret]")
    });
    assert!(!root.logs().contains(key));
    for path in ["/instances", &format!("/instances/{id}"), "/testbeds"] {
        let (status, answer) = server.get(path);
        assert_eq!(status, 200);
        assert!(
            !answer.to_string().contains(key) && !answer.to_string().contains("secret_outputs")
        );
    }
    for process in procfs::process::all_processes().unwrap().flatten() {
        assert!(!crate::common::command_line(process.pid).contains(key));
    }
    for guard in root.guards() {
        let environment = procfs::process::Process::new(guard)
            .unwrap()
            .environ()
            .unwrap();
        assert!(environment.is_empty(), "{environment:?}");
    }

    let (status, answer) = server.delete(&format!("/instances/{id}"));
    assert_eq!(
        (status, answer),
        (
            200,
            json!({"processes": [{"name": "web", "exit": "signal 15"}]})
        )
    );
    assert_eq!(server.delete(&format!("/instances/{id}")).0, 404);
    assert_eq!(server.get("/instances").1, json!([]));
    root.nothing_is_left();
}

#[test]
fn a_changed_testbed_is_read_again() {
    let root = Root::new();
    web(&root);
    let server = root.serve();
    let sizes = ["default = 5", "default = 6"];
    assert_eq!(server.start("web", "{}")["outputs"]["WEB_SIZE"], "5");
    let path = root.file("testbeds/web.toml");
    let changed = std::fs::read_to_string(&path)
        .unwrap()
        .replace(sizes[0], sizes[1]);
    std::fs::write(&path, changed).unwrap();
    assert_eq!(server.start("web", "{}")["outputs"]["WEB_SIZE"], "6");
}

#[test]
fn the_environment_of_a_process_is_what_was_declared() {
    let root = Root::new();
    root.python(
        "bare",
        "print('has', sorted(os.environ), flush=True)\ntime.sleep(600)",
        "ready = { log = '^has' }",
    );
    let server = root.serve();
    server.start("bare", "{}");
    let line = root.logs();
    for allowed in ["PATH", "HOME", "LANG", "TMPDIR", "MARK_OF_TEST", "LC_CTYPE"] {
        assert!(allowed != "PATH" || line.contains("'PATH'"));
    }
    assert!(
        !line.contains("WINDTUNNEL_ROOT") && !line.contains("CARGO"),
        "{line}"
    );
}

#[test]
fn only_programs_on_this_machine_may_ask() {
    let root = Root::new();
    let server = root.serve();
    assert_eq!(
        server.get("/health").1,
        json!({"status": "ok", "version": "0.1.0"})
    );
    let (_, host) = server.get("/host");
    assert!(
        host["cpus"].as_u64().unwrap() >= 1 && host["memory_bytes"].as_u64().unwrap() > 0,
        "{host}"
    );
    // A container's own network has no rmem_max.
    let read = |name: &str| std::fs::read_to_string(format!("/proc/sys/net/{name}")).ok();
    for (name, path) in [
        ("rmem_max_bytes", "core/rmem_max"),
        ("wmem_max_bytes", "core/wmem_max"),
        ("somaxconn", "core/somaxconn"),
    ] {
        let known: Option<u64> = read(path).map(|text| text.trim().parse().unwrap());
        assert_eq!(host["settings"][name], json!(known), "{host}");
    }
    assert_eq!(
        host["settings"]["tcp_congestion_control"],
        json!(read("ipv4/tcp_congestion_control").map(|text| text.trim().to_owned()))
    );
    for header in [
        ("Origin", "http://127.0.0.1"),
        ("Origin", "null"),
        ("Host", "example.com"),
        ("Host", "127.0.0.1.example.com"),
    ] {
        let (status, answer) = server.get_with("/health", header);
        assert_eq!(status, 403, "{header:?} {answer}");
        assert!(!answer["mend"].as_str().unwrap().is_empty());
    }
    assert_eq!(server.get_with("/health", ("Host", "localhost:1")).0, 200);
}

#[test]
fn wrong_requests_are_refused_with_what_mends_them() {
    let root = Root::new();
    web(&root);
    root.testbed("broken", "[[process]\n");
    root.testbed(
        "unknown-key",
        "colour = 1\n[[process]]\nname = \"a\"\ncommand = [\"true\"]\n[outputs]\n",
    );
    root.testbed("needy", "[[requires]]\npath = \"{{ root }}/tool\"\nmend = \"run `make tool`\"\n[[process]]\nname = \"a\"\ncommand = [\"true\"]\n[outputs]\n");
    root.testbed(
        "absent",
        "[[process]]\nname = \"a\"\ncommand = [\"no-such-program-here\"]\n[outputs]\n",
    );
    let server = root.serve();
    for (path, body, status, part) in [
        ("/testbeds/nope/start", "{}", 404, "web"),
        ("/testbeds/..%2Fweb/start", "{}", 404, "web"),
        ("/testbeds/web/start", "{", 400, "request"),
        ("/testbeds/web/start", r#"{"vars": {}}"#, 400, "vars"),
        (
            "/testbeds/web/start",
            r#"{"variables": {"sise": 1}}"#,
            422,
            "no variable sise",
        ),
        (
            "/testbeds/web/start",
            r#"{"variables": {"size": 11}}"#,
            422,
            "from 1 to 10",
        ),
        (
            "/testbeds/web/start",
            r#"{"variables": {"size": "7"}}"#,
            422,
            "is a string",
        ),
        (
            "/testbeds/web/start",
            r#"{"variables": {"port": 70000}}"#,
            422,
            "port",
        ),
        (
            "/testbeds/broken/start",
            "{}",
            422,
            "testbeds/broken.toml:5",
        ),
        ("/testbeds/unknown-key/start", "{}", 422, "colour"),
        ("/testbeds/needy/start", "{}", 502, "run `make tool`"),
        ("/testbeds/absent/start", "{}", 502, "no-such-program-here"),
        ("/windows", "{}", 422, "nothing to measure"),
        ("/windows", r#"{"instance": "x"}"#, 404, "x"),
        ("/windows", r#"{"pids": {"a": 1}}"#, 403, "process 1"),
        ("/windows", r#"{"pids": {"a": 4999999}}"#, 422, "4999999"),
        ("/windows/w9/close", "", 404, "w9"),
    ] {
        let (got, answer) = server.post(path, body);
        assert_eq!(got, status, "{path} {body}: {answer}");
        let text = format!(
            "{} {}",
            answer["error"].as_str().unwrap(),
            answer["mend"].as_str().unwrap()
        );
        assert!(
            text.contains(part) && !text.contains('\n'),
            "{path} {body}: {text}"
        );
    }
    assert_eq!(server.post("/health", "").0, 405);
    assert_eq!(server.get("/nowhere").0, 404);
    let (_, list) = server.get("/testbeds");
    assert_eq!(list.as_array().unwrap().len(), 5);
    root.nothing_is_left();
}

#[test]
fn a_taken_port_is_named_before_anything_starts() {
    let root = Root::new();
    web(&root);
    let server = root.serve();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let (status, answer) = server.post(
        "/testbeds/web/start",
        &format!("{{\"variables\": {{\"port\": {port}}}}}"),
    );
    let error = answer["error"].as_str().unwrap();
    assert_eq!(status, 502);
    for part in [
        format!("port {port}"),
        "variable port".into(),
        format!("pid {}", std::process::id()),
    ] {
        assert!(error.contains(&part), "{error}");
    }
    assert!(!root.file("results").exists(), "something was started");
}

#[test]
fn a_port_that_was_taken_between_choice_and_start_is_chosen_again() {
    let root = Root::new();
    let script = "
seen = sys.argv[1] + '/seen'
n = len(open(seen).read()) if os.path.exists(seen) else 0
open(seen, 'a').write('x')
if n < 2: sys.exit('OSError: [Errno 98] Address already in use')
print('ready', flush=True)
time.sleep(600)";
    let body = format!(
        "[variables.port]\ntype = \"port\"\ndefault = 0\ndescription = \"d\"\n[[process]]\nname = \"one\"\n\
         command = [\"python3\", \"-c\", '''\nimport os, sys, time\n{script}\n''', \"{{{{ root }}}}\"]\n\
         env = {{ MARK_OF_TEST = \"@MARK@\" }}\nready = {{ log = \"^ready$\" }}\n[outputs]\n"
    );
    root.testbed("late", &body);
    let server = root.serve();
    server.start("late", "{}");
    assert_eq!(std::fs::read_to_string(root.file("seen")).unwrap(), "xxx");
}

#[test]
fn a_process_that_is_not_ready_is_reported_with_its_last_lines() {
    let root = Root::new();
    root.python(
        "dies",
        "print('one', flush=True)\nsys.exit('no database')",
        "ready = { log = 'never' }",
    );
    root.python(
        "slow",
        "print('waiting', flush=True)\ntime.sleep(600)",
        "ready = { log = 'never', timeout_s = 1 }",
    );
    root.python(
        "deaf",
        "print('up', flush=True)\ntime.sleep(600)",
        "ready = { tcp = '127.0.0.1:1', timeout_s = 1 }",
    );
    let server = root.serve();
    for (name, parts) in [
        (
            "dies",
            ["process one", "exit status 1", "one | no database"],
        ),
        ("slow", ["process one", "within 1 s", "waiting"]),
        ("deaf", ["process one", "127.0.0.1:1", "refused"]),
    ] {
        let (status, answer) = server.post(&format!("/testbeds/{name}/start"), "{}");
        let error = answer["error"].as_str().unwrap();
        assert_eq!(status, 502);
        for part in parts {
            assert!(error.contains(part), "{part:?} is not in {error}");
        }
    }
    assert_eq!(server.get("/instances").1, json!([]));
    root.nothing_is_left();
}

#[test]
fn when_one_process_fails_those_before_it_are_stopped() {
    let root = Root::new();
    root.testbed(
        "two",
        "[[process]]\nname = \"first\"\ncommand = [\"sleep\", \"600\"]\nenv = { MARK_OF_TEST = \"@MARK@\" }\n\
         [[process]]\nname = \"second\"\ncommand = [\"false\"]\n[outputs]\n",
    );
    let server = root.serve();
    let (status, answer) = server.post("/testbeds/two/start", "{}");
    assert_eq!(status, 502);
    assert!(
        answer["error"].as_str().unwrap().contains("process second"),
        "{answer}"
    );
    assert_eq!(
        answer["cause"],
        json!({"is": "ended", "process": "second", "status": 1, "signal": null, "said": []})
    );
    assert!(root.living().is_empty());
    root.nothing_is_left();
}

#[test]
fn a_start_that_failed_has_its_cause_as_fields() {
    let root = Root::new();
    let cause = |name: &str, rest: &str| {
        root.testbed(name, &format!("{rest}\n[outputs]\n"));
        let server = root.serve();
        let (status, answer) = server.post(&format!("/testbeds/{name}/start"), "{}");
        assert_ne!(status, 201, "{answer}");
        answer["cause"].clone()
    };
    let process = |command: &str, ready: &str| {
        format!("[[process]]\nname = \"one\"\ncommand = {command}\n{ready}")
    };
    assert_eq!(
        cause(
            "dies",
            &process("['sh', '-c', 'echo two; echo words; kill -9 $$']", "")
        ),
        json!({"is": "ended", "process": "one", "status": null, "signal": 9, "said": ["two", "words"]})
    );
    assert_eq!(
        cause(
            "mute",
            &process(
                "['sleep', '600']",
                "ready = { log = 'never', timeout_s = 0.3 }"
            )
        ),
        json!({"is": "not_ready", "process": "one"})
    );
    assert_eq!(
        cause("absent", &process("['no-such-program']", "")),
        json!({"is": "missing_program", "program": "no-such-program", "process": "one"})
    );
    assert_eq!(
        cause(
            "lacking",
            "[[requires]]\npath = '/no/such/file'\nmend = 'make it'\n[[process]]\nname = 'one'\ncommand = ['sleep', '1']"
        ),
        json!({"is": "missing_file", "path": "/no/such/file"})
    );
    assert_eq!(
        cause(
            "uninstalled",
            "[[requires]]\nprogram = 'no-such-program'\nmend = 'install it'\n[[process]]\nname = 'one'\ncommand = ['sleep', '1']"
        ),
        json!({"is": "missing_program", "program": "no-such-program", "process": null})
    );
}

#[test]
fn a_start_that_nobody_waits_for_is_given_up() {
    let root = Root::new();
    root.python(
        "never",
        "time.sleep(600)",
        "ready = { log = 'never', timeout_s = 300 }",
    );
    let server = root.serve();
    let address = server.url.trim_start_matches("http://").to_owned();
    let request = format!(
        "POST /testbeds/never/start HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nContent-Length: 2\r\n\r\n{{}}",
        server.token
    );
    let mut connection = std::net::TcpStream::connect(&address).unwrap();
    std::io::Write::write_all(&mut connection, request.as_bytes()).unwrap();
    eventually("it starts", || !root.living().is_empty());
    drop(connection);
    let began = std::time::Instant::now();
    root.nothing_is_left();
    assert!(began.elapsed() < patient(PATIENCE));
}
