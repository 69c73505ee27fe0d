//! One attempt to start a testbed: from values of variables to ready processes.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use regex::Regex;

use super::file::{Process, Value};
use super::instance::{Instance, end_group, roots, stop_all};
use super::launch::Launch;
use super::parts::Parts;
use super::ports;
use super::ready::{self, Check, NotReady};
use super::setting::{FIX_COMMAND, Setting};
use super::variables::{Values, ports as ports_of};
use crate::failure::{Cause, Failure, Result};
use crate::process::holding;
use crate::process::log::Log;
use crate::process::protocol::{Exit, Order};
use crate::process::role::Role;
use crate::process::supervised::Supervised;

/// Why an attempt failed, and whether an attempt with other ports may succeed.
pub struct Attempt {
    pub failure: Failure,
    pub port_was_taken: bool,
}

impl From<Failure> for Attempt {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            port_was_taken: false,
        }
    }
}

impl Launch<'_> {
    /// A given port that is in use ends a start early. Ports in `idle` do not matter.
    fn check_given_ports(&self, variables: &Values, idle: &HashSet<String>) -> Result<()> {
        for (name, port) in ports_of(&self.testbed.file.variables, variables) {
            if port == 0 || idle.contains(&name) {
                continue;
            }
            if let Err(error) = ports::check_free(port) {
                let who =
                    ports::holder(port).map_or_else(String::new, |holder| format!(" by {holder}"));
                let what = if error.kind() == std::io::ErrorKind::AddrInUse {
                    format!("is taken{who}")
                } else {
                    format!("cannot be used: {error}")
                };
                return Err(Failure::setup(
                    format!(
                        "port {port} (variable {name} of testbed {}) {what}",
                        self.testbed.file.name
                    ),
                    format!("free it, give another {name}, or {name}=0 for any free port"),
                ));
            }
        }
        Ok(())
    }

    /// Starts all processes, or none.
    pub fn attempt(&self, given: &Values) -> std::result::Result<Instance, Attempt> {
        let mut variables = given.clone();
        let mut chosen: Vec<_> = ports_of(&self.testbed.file.variables, given)
            .filter(|(_, port)| *port == 0)
            .collect();
        let found = (self.reserve_ports)(chosen.len()).map_err(Failure::of_setup(
            "no free port",
            "stop something that listens",
        ))?;
        for ((name, port), found) in chosen.iter_mut().zip(found) {
            *port = found;
            variables.insert(name.clone(), Value::Integer(i64::from(*port)));
        }
        let mut setting = self.setting(&variables, chosen)?;
        let parts = setting.parts()?;
        self.check_given_ports(given, &parts.idle_ports)?;
        setting
            .chosen
            .retain(|(name, _)| !parts.idle_ports.contains(name));
        setting.check_requirements(&parts)?;
        setting.check_cpus(&parts)?;
        setting.make_namespaces(&parts)?;
        setting.make_hop(&parts)?;
        let versions = setting.versions(&parts)?;
        setting.generate()?;
        let (outputs, secret_outputs) = setting.outputs()?;
        setting.write_files(&parts)?;
        let log_dir = self.log_dir()?;
        setting.set_up_namespaces(&parts)?;
        setting.group = self.ledger.group(self.limits)?;
        let processes = setting.start_all(&parts)?;
        Ok(Instance {
            id: self.id.clone(),
            testbed: self.testbed.file.name.clone(),
            outputs,
            secret_outputs,
            versions,
            before: holding::read(roots(&processes).collect()),
            processes,
            log_dir: log_dir.to_owned(),
            namespaces: Mutex::new(std::mem::take(&mut setting.namespaces)),
            link: Mutex::new(setting.link.take()),
            work: Mutex::new(Some(setting.work)),
            group: setting.group,
            ledger: Arc::clone(&self.ledger),
            variables,
        })
    }
}

impl Setting<'_> {
    fn start_all(&self, parts: &Parts<'_>) -> std::result::Result<Vec<Arc<Supervised>>, Attempt> {
        let mut started = Vec::new();
        for (index, process) in &parts.processes {
            if let Err(attempt) = self.start_one(*index, process, &mut started) {
                stop_all(&started);
                if let Some(group) = &self.group {
                    end_group(group, &self.launch.ledger, &started);
                }
                return Err(self.judge(attempt));
            }
        }
        Ok(started)
    }

    fn start_one(
        &self,
        index: usize,
        process: &Process,
        started: &mut Vec<Arc<Supervised>>,
    ) -> std::result::Result<(), Attempt> {
        let field = format!("process[{index}]");
        let command = self.render_all(&format!("{field}.command"), &process.command)?;
        let mut env = self.env.clone();
        for (name, template) in &process.env {
            env.insert(
                name.clone(),
                self.render(&format!("{field}.env.{name}"), template)?,
            );
        }
        let (check, timeout) = self.check(&field, process)?;
        let what = self.of_testbed(&format!("process {}", process.name));
        self.check_program(&what, &command[0], &env, FIX_COMMAND)
            .map_err(|failure| {
                failure.because(Cause::MissingProgram {
                    program: command[0].clone(),
                    process: Some(process.name.clone()),
                })
            })?;
        let namespace = self.namespace_of(index, process)?;
        let group = self.group.clone();
        let group = group.filter(|_| process.role == Role::System);
        let order = Order {
            command,
            env,
            work: self.work.path().to_owned(),
            cpus: self.cpus(index, process)?,
            namespace: namespace.as_ref().map(|namespace| namespace.path()),
            groups: group
                .as_ref()
                .map(|group| group.folders())
                .unwrap_or_default(),
            stop_signal: process.stop_signal,
            stop_timeout_s: process.stop_timeout_s,
        };
        let awaited = process
            .ready
            .as_ref()
            .and_then(|ready| Regex::new(ready.log.as_ref()?).ok());
        let log_path = self.launch.log_dir()?.join(format!("{}.log", process.name));
        let log =
            Log::create(&log_path, self.redactor.clone(), awaited).map_err(Failure::of_setup(
                format!("log {}", log_path.display()),
                "give another --log-dir",
            ))?;
        let log = Arc::new(log);
        let supervised =
            Supervised::start(&process.name, process.role, &order, log, group).map_err(
                Failure::of_limits(format!("process {} cannot be started", process.name)),
            )?;
        started.push(Arc::clone(&supervised));
        ready::wait(
            &supervised,
            &check,
            namespace.as_deref(),
            timeout,
            self.launch.cancelled,
        )
        .map_err(|not_ready| self.not_ready(&supervised, &not_ready, timeout, &log_path))
    }

    fn check(&self, field: &str, process: &Process) -> Result<(Check, Duration)> {
        let Some(ready) = &process.ready else {
            return Ok((Check::None, Duration::from_secs(30)));
        };
        let check = if let Some(url) = &ready.http {
            Check::Http(self.render(&format!("{field}.ready.http"), url)?)
        } else if let Some(address) = &ready.tcp {
            Check::Tcp(self.render(&format!("{field}.ready.tcp"), address)?)
        } else if let Some(port) = &ready.listens {
            let field = format!("{field}.ready.listens");
            let port = self.render(&field, port)?;
            Check::Listens(port.parse().map_err(|_| {
                Failure::invalid(
                    format!("{field}: `{port}` is not a port"),
                    "write {{ vars.PORT }}, or 1 to 65535",
                )
            })?)
        } else {
            Check::Log
        };
        Ok((check, Duration::from_secs_f64(ready.timeout_s)))
    }

    fn not_ready(
        &self,
        supervised: &Supervised,
        why: &NotReady,
        timeout: Duration,
        log: &Path,
    ) -> Attempt {
        let name = self.of_testbed(&format!("process {}", supervised.name));
        // The last output of an ended process may still be on its way.
        let patience = Duration::from_secs(matches!(why, NotReady::Exited(_)).into());
        let lines = supervised.log.tail(patience);
        let process = supervised.name.clone();
        let (what, cause) = match why {
            NotReady::Cancelled => return Failure::given_up(name).into(),
            NotReady::Exited(exit) => {
                let (status, signal) = match exit {
                    Exit::Status(status) => (Some(*status), None),
                    Exit::Signal(signal) => (None, Some(*signal)),
                    Exit::Unknown => (None, None),
                };
                let how = supervised.ending().unwrap_or_default();
                let cause = Cause::Ended {
                    process,
                    status,
                    signal,
                    said: lines.clone(),
                };
                (format!("{name} ended before it was ready ({how})"), cause)
            }
            NotReady::TimedOut(reason) => {
                let seconds = timeout.as_secs_f64();
                let what = format!("{name} was not ready within {seconds} s ({reason})");
                (what, Cause::NotReady { process })
            }
            NotReady::Stranger { port } => {
                let who = ports::holder(*port).map_or(String::new(), |who| format!(", {who},"));
                let port = *port;
                (
                    format!("{name} did not get port {port}: another process{who} answers there"),
                    Cause::PortTaken { process, port },
                )
            }
        };
        let quote = if lines.is_empty() {
            "it printed nothing".to_owned()
        } else {
            format!("its last lines: {}", lines.join(" | "))
        };
        let in_use = lines.iter().any(|line| says_in_use(line));
        let failure = Failure::setup(
            format!("{what}; {quote}"),
            format!("its log is {}", log.display()),
        );
        let killed = self.group.as_ref().and_then(|group| group.effects().killed);
        let cause = match killed {
            Some(times @ 1..) => Cause::KilledForMemory { times },
            _ => cause,
        };
        Attempt {
            failure: failure.because(cause),
            port_was_taken: in_use || matches!(why, NotReady::Stranger { .. }),
        }
    }

    /// If another process took a port that was chosen here, a second attempt makes sense.
    fn judge(&self, attempt: Attempt) -> Attempt {
        let ended = attempt.failure.kind == crate::failure::Kind::Setup;
        let taken = ended
            && self
                .chosen
                .iter()
                .any(|(_, port)| ports::check_free(*port).is_err());
        let port_was_taken = !self.chosen.is_empty() && (taken || attempt.port_was_taken);
        Attempt {
            port_was_taken,
            ..attempt
        }
    }
}

fn says_in_use(line: &str) -> bool {
    let line = line.to_lowercase();
    line.contains("address already in use")
        || line.contains("eaddrinuse")
        || line.contains("errno 98")
}
