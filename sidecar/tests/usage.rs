//! CPU time and memory against known answers: the values that programs report about themselves.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use common::{Root, eventually, patient, pid, timely, undisturbed};
use serde_json::{Value, json};

/// A window over this test process resets the memory marks of all processes of the other tests. Tests
/// that read marks must not run at the same time. A failed test does not affect the next one.
static MARKS: RwLock<()> = RwLock::new(());

const MIB: f64 = 1024.0 * 1024.0;

const WORKER: &str = include_str!("usage/worker.py");

fn root() -> Root {
    let root = Root::new();
    let body = format!(
        "[[process]]\nname = \"worker\"\ncommand = [\"python3\", \"-c\", '''\n{WORKER}''', \"{{{{ root }}}}\"]\n\
         env = {{ MARK_OF_TEST = \"@MARK@\" }}\nready = {{ log = '^ready$' }}\n\
         [[process]]\nname = \"helper\"\nrole = \"support\"\ncommand = [\"sleep\", \"600\"]\nenv = {{ MARK_OF_TEST = \"@MARK@\" }}\n[outputs]\n"
    );
    root.testbed("worker", &body);
    root
}

/// Gives the order, and returns the CPU seconds that the worker reports for it.
fn order(root: &Root, name: &str) -> f64 {
    std::fs::write(root.file(name), "").unwrap();
    let done = root.file(&format!("{name}.done"));
    eventually(name, || done.exists());
    std::fs::read_to_string(done).unwrap().parse().unwrap()
}

/// The worker polls for orders meanwhile, which costs a little.
fn about(measured: f64, told: f64) {
    assert!(
        measured >= told - 0.03 && measured <= told * 1.1 + 0.1,
        "measured {measured}, told {told}"
    );
}

#[test]
fn a_window_measures_cpu_time_of_threads_and_of_children_that_ended() {
    undisturbed(|| {
        let _alone = MARKS.write().unwrap_or_else(PoisonError::into_inner);
        let root = root();
        let server = root.serve();
        let started = server.start("worker", "{}");
        let body = json!({"instance": started["id"], "pids": {"me": std::process::id()}});
        let (status, window) = server.post("/windows", &body.to_string());
        assert_eq!(status, 201, "{window}");
        let path = format!("/windows/{}", window["id"].as_str().unwrap());
        let told = order(&root, "burn");
        let (status, live) = server.get(&path);
        assert_eq!((status, &live["closed"]), (200, &json!(false)));
        let (_, usage) = server.post(&format!("{path}/close"), "");
        let processes = usage["processes"].as_array().unwrap();
        let names: Vec<_> = processes
            .iter()
            .map(|p| (p["name"].as_str().unwrap(), p["role"].as_str().unwrap()))
            .collect();
        assert_eq!(
            names,
            [
                ("worker", "system"),
                ("helper", "support"),
                ("me", "generator")
            ]
        );
        about(processes[0]["cpu_s"].as_f64().unwrap(), told);
        assert!(processes[1]["cpu_s"].as_f64().unwrap() < 0.05);
        assert_eq!(
            usage["total"]["cpu_s"], processes[0]["cpu_s"],
            "the total is of the system"
        );
        assert_eq!(
            usage["total"]["peak_rss_bytes"],
            processes[0]["peak_rss_bytes"]
        );
        let percent =
            processes[0]["cpu_s"].as_f64().unwrap() / usage["duration_s"].as_f64().unwrap() * 100.0;
        assert!((processes[0]["cpu_percent"].as_f64().unwrap() - percent).abs() < 0.1);
        let busy = usage["host"]["busy_percent"].as_f64().unwrap();
        assert!(busy > 0.0 && busy <= 100.0);
        assert!(usage["host"]["busy_s"].as_f64().unwrap() > 0.0);
        // The test process excludes the usage of the sidecar's testbed, although the test started the sidecar. It includes other tests,
        // which run in this process.
        timely(
            processes[2]["cpu_s"].as_f64().unwrap() < told,
            usage.to_string(),
        );

        assert_eq!(
            server.post(&format!("{path}/close"), "").1,
            usage,
            "closing twice"
        );
        assert_eq!(server.get(&path).1, usage);
    });
}

#[test]
fn the_whole_has_what_a_system_does_after_the_load_and_in_the_quiet_period() {
    let _alone = MARKS.write().unwrap_or_else(PoisonError::into_inner);
    let root = root();
    let server = root.serve();
    let started = server.start("worker", "{}");
    let body = json!({"instance": started["id"]}).to_string();
    let path = format!(
        "/windows/{}",
        server.post("/windows", &body).1["id"].as_str().unwrap()
    );
    let quiet = format!("{path}/quiet");
    let load = order(&root, "burn");
    let (status, answer) = server.post(&quiet, r#"{"seconds": 0}"#);
    assert_eq!(status, 409, "the load goes on: {answer}");
    let (_, closed) = server.post(&format!("{path}/close"), "");
    assert_eq!(closed.get("whole"), None, "there was no quiet period");
    let after = order(&root, "allocate");
    let (told, later) = std::thread::scope(|scope| {
        let waits = scope.spawn(|| server.post(&quiet, r#"{"seconds": 5, "rest_s": 0.1}"#));
        // The quiet period has begun by then.
        std::thread::sleep(patient(Duration::from_millis(300)));
        (order(&root, "quit"), waits.join().unwrap())
    });
    let (status, usage) = later;
    assert_eq!(status, 200, "{usage}");
    let of = |field: &str| usage["whole"][field].as_f64().unwrap();
    about(of("system_s"), load + after + told);
    about(of("quiet_system_s"), told);
    assert_eq!(usage["whole"]["quiet_s"], json!(5.0));
    assert!(of("window_s") >= closed["duration_s"].as_f64().unwrap() + 5.0);
    for kept in ["duration_s", "processes", "total", "host"] {
        assert_eq!(usage[kept], closed[kept], "the window was closed before");
    }
    assert_eq!(usage["at_rest"], json!([]), "it has ended");
    assert_eq!(server.post(&quiet, r#"{"seconds": 9}"#).1, usage, "twice");
    assert_eq!(server.get(&path).1, usage);
}

#[test]
fn a_quiet_period_is_of_a_system() {
    undisturbed(|| {
        let root = Root::new();
        root.python("busy", "while True: pass", "");
        let server = root.serve();
        let started = server.start("busy", "{}");
        let me = json!({"me": std::process::id()});
        let quiet_of = |opened: Value, asked: Value| {
            let window = server.post("/windows", &opened.to_string()).1;
            let path = format!("/windows/{}", window["id"].as_str().unwrap());
            server.post(&format!("{path}/close"), "");
            server.post(&format!("{path}/quiet"), &asked.to_string())
        };
        let instance = json!({"instance": started["id"], "peaks": false});
        let (_, usage) = quiet_of(instance.clone(), json!({"seconds": 0.5, "rest_s": 1}));
        let (whole, at_rest) = (&usage["whole"], &usage["at_rest"]);
        let busy = whole["quiet_system_s"].as_f64().unwrap();
        assert!(busy <= whole["system_s"].as_f64().unwrap());
        timely(busy > 0.05, usage.to_string());
        assert_eq!(at_rest[0]["name"], started["processes"][0]["name"]);
        let percent = at_rest[0]["cpu_percent"].as_f64().unwrap();
        timely(percent > 10.0, usage.to_string());
        let (_, usage) = quiet_of(instance, json!({"seconds": 0.1}));
        assert_eq!(usage.get("at_rest"), None, "nobody asked");
        let nobody = json!({"pids": me, "peaks": false});
        let (status, usage) = quiet_of(nobody.clone(), json!({"seconds": 0.1, "rest_s": 0.1}));
        assert_eq!((status, usage.get("whole")), (200, None));
        assert_eq!(usage.get("at_rest"), None);
        for wrong in [json!({"seconds": 11}), json!({"seconds": 1, "rest_s": -1})] {
            let (status, answer) = quiet_of(nobody.clone(), wrong);
            assert_eq!(status, 422, "{answer}");
        }
        let (status, answer) = server.post("/windows/w99/quiet", r#"{"seconds": 0}"#);
        assert_eq!(status, 404, "{answer}");
    });
}

#[test]
fn an_instance_tells_what_it_holds_since_it_was_ready() {
    let root = root();
    let server = root.serve();
    let started = server.start("worker", "{}");
    let path = format!("/instances/{}/held", started["id"].as_str().unwrap());
    let held = |settle_s: f64| {
        let asked = json!({"settle_s": settle_s, "closes_all": true});
        let (status, held) = server.post(&path, &asked.to_string());
        assert_eq!(status, 200, "{held}");
        assert_eq!(held["processes"].as_array().unwrap().len(), 1, "{held}");
        let [before, after] =
            ["before", "after"].map(|when| &held["processes"][0][when]["descriptors"]["other"]);
        let more = after.as_u64().unwrap() - before.as_u64().unwrap();
        (more, held["after_s"].as_f64().unwrap())
    };
    let (more, after_s) = held(9.0);
    assert!(more == 0 && after_s < 9.0, "{more} {after_s}");
    order(&root, "keep");
    let (more, after_s) = held(0.5);
    assert!(more == 30 && after_s >= 0.5, "{more} {after_s}");
}

#[test]
fn a_window_s_peak_is_of_that_window() {
    let _shared = MARKS.read().unwrap_or_else(PoisonError::into_inner);
    let root = root();
    let server = root.serve();
    let started = server.start("worker", "{}");
    let body = json!({"instance": started["id"]}).to_string();
    let open = || {
        format!(
            "/windows/{}",
            server.post("/windows", &body).1["id"].as_str().unwrap()
        )
    };
    let peak = |usage: &Value| usage["processes"][0]["peak_rss_bytes"].as_f64().unwrap() / MIB;
    let first = open();
    order(&root, "allocate");
    // A second window resets the kernel's mark, which the first must have noted before.
    let second = open();
    let usage = server.post(&format!("{first}/close"), "").1;
    assert!(peak(&usage) > 200.0 && peak(&usage) < 260.0, "{usage}");
    let now = usage["processes"][0]["rss_bytes"].as_f64().unwrap() / MIB;
    assert!(now > 1.0 && now < 100.0, "{usage}");
    let usage = server.post(&format!("{second}/close"), "").1;
    assert!(peak(&usage) > 1.0 && peak(&usage) < 100.0, "{usage}");
}

#[test]
fn pages_of_files_are_no_memory_of_the_process_s_own() {
    let _shared = MARKS.read().unwrap_or_else(PoisonError::into_inner);
    let root = root();
    let server = root.serve();
    let started = server.start("worker", "{}");
    let body = json!({"instance": started["id"]}).to_string();
    let peaks = |what: &str| {
        let window = server.post("/windows", &body).1;
        order(&root, what);
        let path = format!("/windows/{}/close", window["id"].as_str().unwrap());
        let usage = server.post(&path, "").1;
        let process = &usage["processes"][0];
        assert_eq!(
            usage["total"]["peak_anon_bytes"],
            process["peak_anon_bytes"]
        );
        ["peak_rss_bytes", "peak_anon_bytes"].map(|peak| process[peak].as_f64().unwrap() / MIB)
    };
    let [rss, own] = peaks("allocate");
    assert!(own > 200.0 && own < 240.0 && rss > own, "{own} of {rss}");
    // A file in memory (tmpfs) would count as the process's own memory.
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("mapped");
    std::fs::write(&file, vec![1; 64 << 20]).unwrap();
    std::os::unix::fs::symlink(&file, root.file("mapped")).unwrap();
    // The worker has unmapped the file when the window is closed.
    let [rss, own] = peaks("map");
    assert!(rss > 64.0 && own < 40.0, "{own} of {rss}");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn a_window_without_peaks_leaves_the_kernel_s_marks_alone() {
    let _alone = MARKS.write().unwrap_or_else(PoisonError::into_inner);
    let root = root();
    let server = root.serve();
    let started = server.start("worker", "{}");
    order(&root, "allocate");
    let worker = started["processes"][0]["pid"].as_i64().unwrap() as i32;
    let mark = || {
        let process = procfs::process::Process::new(worker).unwrap();
        process.status().unwrap().vmhwm.unwrap()
    };
    let before = mark();
    let body = json!({"instance": started["id"], "peaks": false}).to_string();
    let path = format!(
        "/windows/{}",
        server.post("/windows", &body).1["id"].as_str().unwrap()
    );
    let usage = server.get(&path).1;
    assert_eq!(mark(), before);
    let rss = usage["processes"][0]["rss_bytes"].as_f64().unwrap() / MIB;
    assert!(rss > 1.0 && rss < 100.0, "{usage}");
    server.delete(&format!("/instances/{}", started["id"].as_str().unwrap()));
    assert_eq!(server.get(&path).1["closed"], true, "nothing is left");
}

#[test]
fn a_process_that_ends_keeps_its_last_values() {
    let root = root();
    let server = root.serve();
    let started = server.start("worker", "{}");
    let body = json!({"instance": started["id"]}).to_string();
    let path = format!(
        "/windows/{}",
        server.post("/windows", &body).1["id"].as_str().unwrap()
    );
    let wake_ups = |usage: &Value, process: usize| {
        let found = usage["processes"][process].get("voluntary_switches");
        found.map(|count| count.as_u64().unwrap())
    };
    assert!(wake_ups(&server.get(&path).1, 0).is_some());
    let told = order(&root, "quit");
    eventually("its end is seen", || {
        server.get(&path).1["processes"][0]["exit"] == "exit status 3"
    });
    let live = server.get(&path).1;
    assert!(wake_ups(&live, 0).is_none() && wake_ups(&live, 1).is_some());
    server.delete(&format!("/instances/{}", started["id"].as_str().unwrap()));
    let usage = server.post(&format!("{path}/close"), "").1;
    about(usage["processes"][0]["cpu_s"].as_f64().unwrap(), told);
    assert!(usage["processes"][0]["peak_rss_bytes"].as_f64().unwrap() > MIB);
    assert_eq!(usage["processes"][0]["exit"], "exit status 3");
    assert_eq!(usage["processes"][1]["exit"], "signal 15");
}

#[test]
fn sample_measures_a_process_until_it_ends() {
    let _shared = MARKS.read().unwrap_or_else(PoisonError::into_inner);
    let root = Root::new();
    let script = "
import resource, sys
def used():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime
block = b'x' * (120 * 1024 * 1024)
del block
print('ready', flush=True)
sys.stdin.readline()
before = used()
block = b'x' * (150 * 1024 * 1024)
del block
while used() < before + 0.6: pass
print(used() - before, flush=True)
sys.stdin.readline()";
    let mut child = std::process::Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "ready");
    let sample = root
        .sidecar(&["sample", "--json", "--pid", &pid(&child).to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    eventually(
        "the sample has begun and forgets the peak from before",
        || {
            procfs::process::Process::new(pid(&child))
                .and_then(|process| process.status())
                .is_ok_and(|status| status.vmhwm.unwrap() < 100 * 1024)
        },
    );
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"go\n").unwrap();
    let told = said.next().unwrap().unwrap();
    // The mark is read once a second.
    std::thread::sleep(patient(Duration::from_millis(1_200)));
    drop(stdin);
    child.wait().unwrap();
    let output = sample.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let usage: Value = serde_json::from_slice(&output.stdout).unwrap();
    let process = &usage["processes"][0];
    let told: f64 = told.trim().parse().unwrap();
    let measured = process["cpu_s"].as_f64().unwrap();
    assert!(
        measured <= told + 0.05 && measured >= told - 0.15,
        "measured {measured}, told {told}"
    );
    let peak = process["peak_rss_bytes"].as_f64().unwrap() / MIB;
    assert!(peak > 150.0 && peak < 210.0, "{usage}");
    assert!(process["exit"].is_string());
}

#[test]
fn sample_ends_after_its_seconds() {
    let _alone = MARKS.write().unwrap_or_else(PoisonError::into_inner);
    let root = Root::new();
    let me = std::process::id().to_string();
    let output = root
        .sidecar(&["sample", "--pid", &me, "--seconds", "0.2"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("peak RSS"));
}

fn sleeper() -> std::process::Child {
    std::process::Command::new("sleep")
        .arg("600")
        .spawn()
        .unwrap()
}

#[test]
fn a_window_whose_processes_are_all_gone_closes_itself() {
    let root = Root::new();
    let server = root.serve();
    let mut children = [sleeper(), sleeper()];
    let body = json!({"pids": {"a": pid(&children[0]), "b": pid(&children[1])}}).to_string();
    let path = format!(
        "/windows/{}",
        server.post("/windows", &body).1["id"].as_str().unwrap()
    );
    let mut end = |index: usize| {
        children[index].kill().unwrap();
        children[index].wait().unwrap();
    };
    end(0);
    eventually("one end is seen", || {
        server.get(&path).1["processes"][0]["exit"].is_string()
    });
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(server.get(&path).1["closed"], false, "one lives");
    end(1);
    eventually("it closes", || server.get(&path).1["closed"] == true);
    let usage = server.get(&path).1;
    assert_eq!(server.post(&format!("{path}/close"), "").1, usage);
}

#[test]
fn the_number_of_open_windows_is_bounded() {
    let root = Root::new();
    root.python("idle", "import time\ntime.sleep(600)", "");
    let server = root.serve();
    let started = server.start("idle", "{}");
    let mut child = sleeper();
    let body = json!({"pids": {"a": pid(&child)}}).to_string();
    let (refused, windows) = {
        let mut windows = Vec::new();
        loop {
            let (status, answer) = server.post("/windows", &body);
            if status != 201 {
                break ((status, answer), windows);
            }
            windows.push(answer["id"].as_str().unwrap().to_owned());
            assert!(windows.len() <= 16, "more and more");
        }
    };
    assert_eq!((refused.0, windows.len()), (409, 16));
    assert!(refused.1["error"].as_str().unwrap().contains("16 windows"));
    let probe = json!({"kind": "tcp", "target": "127.0.0.1:9", "instance": started["id"]});
    let (status, answer) = server.post("/probes", &probe.to_string());
    assert_eq!(status, 409, "it could not measure the instance: {answer}");
    server.post(&format!("/windows/{}/close", windows[3]), "");
    // A probe that measures nothing leaves no window open.
    for _ in 0..3 {
        let failed = server.measure(&probe);
        assert_eq!(failed["state"], "failed", "{failed}");
    }
    assert_eq!(server.post("/windows", &body).0, 201);
    child.kill().unwrap();
    child.wait().unwrap();
}
