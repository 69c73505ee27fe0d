//! Runs the workers: finds their programs, starts one per section, and reads their reports.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::Signal;
use procfs::{Current, LoadAverage};
use serde_json::json;

use super::plan::{self, Mode, Section};
use super::report::{Answer, Report, SCHEMA};
use crate::failure::{Failure, Result};
use crate::host::host;
use crate::process::exec;
use crate::process::folder::Folder;
use crate::process::signals::Arrived;

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The longest time of a worker. A slower worker has failed.
const LIMIT: Duration = Duration::from_secs(1800);
const MEND: &str =
    "run make bin/primitives bin/primitives-portable, which takes some minutes the first time";

/// The two builds of the worker.
pub struct Workers {
    accelerated: PathBuf,
    portable: PathBuf,
}

impl Workers {
    /// Looks next to this program, or else in `bin` under the root.
    pub fn find(root: Option<&Path>) -> Result<Self> {
        let own = std::env::current_exe().ok();
        let beside = own.and_then(|own| Some(own.parent()?.to_owned()));
        let folders = [beside, root.map(|root| root.join("bin"))];
        let find = |name: &str| {
            let mut paths = folders.iter().flatten().map(|folder| folder.join(name));
            paths
                .find(|path| path.is_file())
                .ok_or_else(|| Failure::setup(format!("bin/{name} is not built"), MEND))
        };
        Ok(Self {
            accelerated: find("primitives")?,
            portable: find("primitives-portable")?,
        })
    }
}

/// Measures the sections on one CPU. It calls `say` with the name of each section that begins.
pub fn run(
    workers: &Workers,
    mode: Mode,
    only: &[Section],
    cpu: usize,
    interrupted: &Receiver<Arrived>,
    say: impl Fn(&str),
) -> Result<Report> {
    let began = Instant::now();
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut report = Report {
        schema: SCHEMA,
        start_unix_s: since_1970.map_or(0, |time| time.as_secs()),
        duration_s: 0.0,
        mode,
        parameters: mode.plan(),
        host: host(),
        cpu,
        load: [load(); 2],
        build: None,
        known_answers: 0,
        waited: None,
        measurements: Vec::new(),
        skipped: Vec::new(),
    };
    let plan = json!(report.parameters).to_string();
    for section in plan::sections(only) {
        let portable = section.has_portable().then_some(&workers.portable);
        for program in std::iter::once(&workers.accelerated).chain(portable) {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            say(&format!("{name}: {section}"));
            let (path, part) = (program.display().to_string(), section.to_string());
            let words = [&path, "--section", &part, "--plan", &plan].map(str::to_owned);
            report.add(section, answer(words.to_vec(), cpu, &name, interrupted)?);
        }
    }
    report.load[1] = load();
    report.duration_s = began.elapsed().as_secs_f64();
    Ok(report)
}

fn load() -> f64 {
    LoadAverage::current().map_or(0.0, |load| f64::from(load.one))
}

fn answer(
    mut words: Vec<String>,
    cpu: usize,
    name: &str,
    interrupted: &Receiver<Arrived>,
) -> Result<Answer> {
    let failed = |error: &dyn std::fmt::Display| Failure::setup(format!("{name}: {error}"), MEND);
    let work = Folder::create("windtunnel-primitives-")
        .map_err(Failure::of_setup("temporary folder", "make room in TMPDIR"))?;
    words.extend(["--work".to_owned(), work.path().display().to_string()]);
    let errors = work.path().join("errors");
    // Criterion prints to standard output, and reads the environment.
    let child = exec::command(Signal::SIGKILL, &cpu.to_string(), None, &[], &words)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&errors).map_err(|error| failed(&error))?)
        .spawn()
        .map_err(|error| failed(&error))?;
    wait(child, name, &errors, interrupted)?;
    let text = std::fs::read(work.path().join("report.json")).map_err(|error| failed(&error))?;
    serde_json::from_slice(&text).map_err(|error| failed(&error))
}

/// Waits for the end of a worker, and kills the worker on an interrupt.
fn wait(
    mut child: Child,
    name: &str,
    errors: &Path,
    interrupted: &Receiver<Arrived>,
) -> Result<()> {
    let began = Instant::now();
    let status = loop {
        if let Ok(Some(status)) = child.try_wait() {
            break status;
        }
        let given_up = match interrupted.recv_timeout(LOOK_EVERY) {
            Err(RecvTimeoutError::Timeout) if began.elapsed() < LIMIT => None,
            Err(RecvTimeoutError::Timeout) => Some(Failure::setup(
                format!("{name} did not end within {} minutes", LIMIT.as_secs() / 60),
                "try a shorter --mode, or a quieter machine",
            )),
            _ => Some(Failure::given_up("bench primitives")),
        };
        if let Some(failure) = given_up {
            let _ = child.kill();
            let _ = child.wait();
            return Err(failure);
        }
    };
    if status.success() {
        return Ok(());
    }
    if status.signal() == Some(Signal::SIGKILL as i32) {
        return Err(Failure::setup(
            format!("{name} was killed, as a kernel without enough memory does it"),
            "see docs/how-to/primitives.md for what each mode takes, or choose parts with --only",
        ));
    }
    let errors = std::fs::read_to_string(errors).unwrap_or_default();
    let last_line = errors.lines().rev().find(|line| !line.trim().is_empty());
    Err(Failure::setup(
        format!(
            "{name} failed ({status}): {}",
            last_line.unwrap_or("it said nothing")
        ),
        MEND,
    ))
}
