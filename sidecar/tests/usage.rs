//! CPU time and memory against known answers: what the programs say of themselves.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use common::{Root, eventually, pid};
use serde_json::{Value, json};

const MIB: f64 = 1024.0 * 1024.0;

/// On `burn` it burns CPU time itself, in a thread and in a child that it waits for, and on `allocate`
/// it takes and frees memory. It says what it used when it is done.
const WORKER: &str = "
import resource, threading
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
def used():
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
root, done = sys.argv[1], []
print('ready', flush=True)
while True:
    time.sleep(0.01)
    for order in ('burn', 'allocate', 'quit'):
        if order in done or not os.path.exists(root + '/' + order): continue
        done.append(order)
        before = used()
        if order == 'burn':
            pid = os.fork()
            if pid == 0:
                burn(0.4)
                os._exit(0)
            os.waitpid(pid, 0)
            thread = threading.Thread(target=burn, args=(0.3,))
            thread.start()
            thread.join()
            burn(0.3)
        if order == 'allocate':
            block = b'x' * (200 * 1024 * 1024)
            del block
        if order == 'quit':
            burn(0.3)
            open(root + '/quit.tmp', 'w').write(str(used() - before))
            os.rename(root + '/quit.tmp', root + '/quit.done')
            sys.exit(3)
        open(root + '/' + order + '.tmp', 'w').write(str(used() - before))
        os.rename(root + '/' + order + '.tmp', root + '/' + order + '.done')
";

fn root() -> Root {
    let root = Root::new();
    let body = format!(
        "[[process]]\nname = \"worker\"\ncommand = [\"python3\", \"-c\", '''\nimport os, sys, time\n{WORKER}\n''', \"{{{{ root }}}}\"]\n\
         env = {{ MARK_OF_TEST = \"@MARK@\" }}\nready = {{ log = '^ready$' }}\n\
         [[process]]\nname = \"helper\"\nrole = \"support\"\ncommand = [\"sleep\", \"600\"]\nenv = {{ MARK_OF_TEST = \"@MARK@\" }}\n[outputs]\n"
    );
    root.testbed("worker", &body);
    root
}

/// Gives the order and returns the CPU seconds that the worker says it used for it.
fn order(root: &Root, name: &str) -> f64 {
    std::fs::write(root.file(name), "").unwrap();
    let done = root.file(&format!("{name}.done"));
    eventually(name, || done.exists());
    std::fs::read_to_string(done).unwrap().parse().unwrap()
}

/// The worker looks for orders meanwhile, which costs a little.
fn about(measured: f64, told: f64) {
    assert!(
        measured >= told - 0.03 && measured <= told * 1.1 + 0.1,
        "measured {measured}, told {told}"
    );
}

#[test]
fn a_window_measures_cpu_time_of_threads_and_of_children_that_ended() {
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
    // The test started the sidecar: what its testbed used is not the test's.
    assert!(processes[2]["cpu_s"].as_f64().unwrap() < told, "{usage}");

    assert_eq!(
        server.post(&format!("{path}/close"), "").1,
        usage,
        "closing twice"
    );
    assert_eq!(server.get(&path).1, usage);
}

#[test]
fn a_window_s_peak_is_of_that_window() {
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
    let usage = server.post(&format!("{second}/close"), "").1;
    assert!(peak(&usage) > 1.0 && peak(&usage) < 100.0, "{usage}");
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
    let told = order(&root, "quit");
    eventually("its end is seen", || {
        server.get(&path).1["processes"][0]["exit"] == "exit status 3"
    });
    server.delete(&format!("/instances/{}", started["id"].as_str().unwrap()));
    let usage = server.post(&format!("{path}/close"), "").1;
    about(usage["processes"][0]["cpu_s"].as_f64().unwrap(), told);
    assert!(usage["processes"][0]["peak_rss_bytes"].as_f64().unwrap() > MIB);
    assert_eq!(usage["processes"][0]["exit"], "exit status 3");
    assert_eq!(usage["processes"][1]["exit"], "signal 15");
}

#[test]
fn sample_measures_a_process_until_it_ends() {
    let root = Root::new();
    let script = "
import resource, sys
sys.stdin.readline()
block = b'x' * (150 * 1024 * 1024)
del block
import time
while time.process_time() < 0.6: pass
own = resource.getrusage(resource.RUSAGE_SELF)
print(own.ru_utime + own.ru_stime, flush=True)
sys.stdin.readline()";
    let mut child = std::process::Command::new("python3")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let sample = root
        .sidecar(&["sample", "--json", "--pid", &pid(&child).to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Until the sample has begun: it ends by a signal as soon as it has a handler for one.
    eventually("the sample has begun", || {
        procfs::process::Process::new(pid(&sample))
            .and_then(|process| process.status())
            .is_ok_and(|status| status.threads >= 3)
    });
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"go\n").unwrap();
    let mut told = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut told)
        .unwrap();
    // A look or two at the peak, before it ends.
    std::thread::sleep(std::time::Duration::from_millis(500));
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
    let root = Root::new();
    let me = std::process::id().to_string();
    let output = root
        .sidecar(&["sample", "--pid", &me, "--seconds", "0.2"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("peak RSS"));
}
