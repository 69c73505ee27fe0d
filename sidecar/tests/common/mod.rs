//! Shared by the integration tests: a root with its own testbeds, and a search for leftovers.

#![allow(
    dead_code,
    unused_imports,
    reason = "each test binary uses its own part of this"
)]

pub mod busy;
pub mod links;
pub mod network;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use busy::{LIMITS, Patience};
pub use busy::{patient, patient_ms, timely, undisturbed};

/// Generous, and longer on a slow machine: a test that fails waits this long once.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A temporary repository root. All processes of its testbeds have `mark` in their environment.
pub struct Root {
    folder: tempfile::TempDir,
    pub mark: String,
}

impl Root {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("testbeds")).unwrap();
        std::fs::create_dir(folder.path().join("tmp")).unwrap();
        let mark = folder.path().display().to_string();
        Self { folder, mark }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// A testbed with a standard head and this `body`; `@MARK@` becomes this root's mark.
    pub fn testbed(&self, name: &str, body: &str) -> &Self {
        let head = format!(
            "schema = \"windtunnel.testbed/1\"\nname = \"{name}\"\nsystem = \"test\"\ntitle = \"A test\"\n"
        );
        let body = body.replace("@MARK@", &self.mark);
        std::fs::write(
            self.path().join(format!("testbeds/{name}.toml")),
            head + &body,
        )
        .unwrap();
        self
    }

    /// One process, `script` run by python3 with `sys`, `os`, `time` and `signal` imported.
    pub fn python(&self, name: &str, script: &str, more: &str) -> &Self {
        let body = format!(
            "[[process]]\nname = \"one\"\ncommand = [\"python3\", \"-c\", '''\nimport os, signal, sys, time\n{script}\n''']\n\
             env = {{ MARK_OF_TEST = \"@MARK@\" }}\n{more}\n"
        );
        let body = if body.contains("[outputs]") {
            body
        } else {
            format!("{body}\n[outputs]\n")
        };
        self.testbed(name, &body)
    }

    pub fn sidecar(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sidecar"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env("WINDTUNNEL_ROOT", self.path())
            .env("TMPDIR", self.path().join("tmp"))
            .stdin(Stdio::null());
        command
    }

    pub fn serve(&self) -> Server {
        let mut child = self
            .sidecar(&["serve", "--exit-with-stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let first: Value = serde_json::from_str(&line).unwrap();
        let url = first["url"].as_str().unwrap().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        let token = first["token"].as_str().unwrap().to_owned();
        Server {
            child,
            stdin,
            url,
            token,
        }
    }

    /// Living processes that carry this root's mark.
    pub fn living(&self) -> Vec<i32> {
        procfs::process::all_processes()
            .unwrap()
            .flatten()
            .filter(|process| {
                process
                    .stat()
                    .is_ok_and(|stat| !matches!(stat.state, 'Z' | 'X'))
            })
            .filter(|process| {
                process.environ().is_ok_and(|environment| {
                    environment
                        .get("MARK_OF_TEST".as_ref() as &std::ffi::OsStr)
                        .is_some_and(|mark| *mark == *self.mark)
                })
            })
            .map(|process| process.pid)
            .collect()
    }

    /// The pids of this root's guards: the parents of the living processes, by name.
    pub fn guards(&self) -> Vec<i32> {
        self.living()
            .into_iter()
            .filter_map(|pid| procfs::process::Process::new(pid).ok()?.stat().ok())
            .map(|stat| stat.ppid)
            .filter(|parent| command_line(*parent).contains("__guard"))
            .collect()
    }

    pub fn nothing_is_left(&self) {
        eventually("nothing is left running", || self.living().is_empty());
        eventually("no working folder is left", || {
            std::fs::read_dir(self.path().join("tmp"))
                .unwrap()
                .next()
                .is_none()
        });
    }

    /// The text of all logs together.
    pub fn logs(&self) -> String {
        let mut text = String::new();
        for folder in std::fs::read_dir(self.path().join("results/sidecar-logs")).unwrap() {
            for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
                text += &String::from_utf8_lossy(&std::fs::read(file.unwrap().path()).unwrap());
            }
        }
        text
    }
}

/// A served sidecar; dropping it ends it.
pub struct Server {
    pub child: Child,
    pub stdin: Option<ChildStdin>,
    pub url: String,
    pub token: String,
}

impl Server {
    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// With this Authorization header, or without one.
    pub fn get_as(&self, authorization: Option<&str>, path: &str) -> (u16, Value) {
        let mut request = agent().get(format!("{}{path}", self.url));
        if let Some(authorization) = authorization {
            request = request.header("Authorization", authorization);
        }
        answer(request.call())
    }

    /// Starts a probe that must start, and returns its id.
    pub fn probe(&self, spec: &Value) -> String {
        let (status, answer) = self.post("/probes", &spec.to_string());
        assert_eq!(status, 201, "{answer}");
        answer["id"].as_str().unwrap().to_owned()
    }

    /// Waits for a probe's end.
    pub fn follow(&self, id: &str) -> Value {
        let mut patience = Patience::of(2 * PATIENCE);
        loop {
            let (status, probe) = self.get(&format!("/probes/{id}?wait_s=20"));
            assert_eq!(status, 200, "{probe}");
            if probe["state"] != "running" {
                return probe;
            }
            assert!(patience.waits(), "it does not end: {probe}");
        }
    }

    /// Starts a probe and waits for its end.
    pub fn measure(&self, spec: &Value) -> Value {
        self.follow(&self.probe(spec))
    }

    pub fn get(&self, path: &str) -> (u16, Value) {
        self.get_as(Some(&self.bearer()), path)
    }

    pub fn get_with(&self, path: &str, header: (&str, &str)) -> (u16, Value) {
        answer(
            agent()
                .get(format!("{}{path}", self.url))
                .header("Authorization", self.bearer())
                .header(header.0, header.1)
                .call(),
        )
    }

    pub fn post(&self, path: &str, body: &str) -> (u16, Value) {
        answer(
            agent()
                .post(format!("{}{path}", self.url))
                .header("Authorization", self.bearer())
                .send(body),
        )
    }

    pub fn delete(&self, path: &str) -> (u16, Value) {
        answer(
            agent()
                .delete(format!("{}{path}", self.url))
                .header("Authorization", self.bearer())
                .call(),
        )
    }

    /// Starts a testbed that must start, and returns the answer.
    pub fn start(&self, name: &str, body: &str) -> Value {
        let (status, answer) = self.post(&format!("/testbeds/{name}/start"), body);
        assert_eq!(status, 201, "{answer}");
        answer
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let mut patience = Patience::of(PATIENCE);
        while patience.waits() {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .timeout_global(Some((2 * PATIENCE).mul_f64(LIMITS.most_slowness)))
        .build()
        .into()
}

fn answer(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> (u16, Value) {
    let mut answer = answer.unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    let body = serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text:?}"));
    (answer.status().as_u16(), body)
}

pub fn eventually(what: &str, holds: impl Fn() -> bool) {
    let mut patience = Patience::of(PATIENCE);
    while !holds() {
        assert!(patience.waits(), "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn command_line(pid: i32) -> String {
    procfs::process::Process::new(pid)
        .and_then(|process| process.cmdline())
        .map(|words| words.join(" "))
        .unwrap_or_default()
}

pub fn signal(pid: i32, signal: nix::sys::signal::Signal) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
}

/// A child's pid as `/proc` has it.
pub fn pid(child: &Child) -> i32 {
    child.id() as i32
}

/// Asserts that a failed command printed only one line, which contains all of `parts`.
pub fn one_line(stderr: &[u8], parts: &[&str]) {
    let text = String::from_utf8_lossy(stderr);
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
}
