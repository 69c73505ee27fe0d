//! Testbeds and their running instances.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use serde::Deserialize;
use serde_json::{Value, json};

use super::all::All;
use super::answer::{Answer, Created, answer, blocking, created, read};
use crate::failure::{Failure, Result, refuse};
use crate::limits::spec::Limits;
use crate::process::kept::Kept;
use crate::process::namespace::NamespaceOf;
use crate::process::supervised::Supervised;
use crate::process::{programs, rest, tun};
use crate::testbed::hop::{Over, Wanted};
use crate::testbed::instance::Instance;
use crate::testbed::launch::Asked;
use crate::testbed::supervisor::Supervisor;
use crate::testbed::variables::Values;

type Shared = State<Arc<Supervisor>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartRequest {
    #[serde(default)]
    variables: Values,
    /// The link between the ends of the hop; the default is no link.
    link: Option<Wanted>,
    /// A namespace of another instance, such as one end of its link. Both ends of the hop are in it.
    namespace: Option<NamespaceOf>,
    /// The folder of the instance's logs, within the sidecar's log folder. The default is the instance's id.
    log_name: Option<String>,
    /// Limits of the system's processes, such as cpu:50%,memory:64mib, in place of the sidecar's. The empty text means none.
    limits: Option<String>,
}

impl StartRequest {
    fn asked(self) -> Result<Asked> {
        let over = match (self.link, self.namespace) {
            (Some(_), Some(_)) => {
                return Err(Failure::invalid(
                    "link and namespace: a hop has one or the other",
                    "leave one of them out",
                ));
            }
            (Some(link), None) => Over::Link(link),
            (None, Some(of)) => Over::Within(of),
            (None, None) => Over::Loopback,
        };
        let limits = match self.limits.as_deref() {
            Some("") => Some(Limits::default()),
            given => given.map(str::parse).transpose()?,
        };
        Ok(Asked {
            variables: self.variables,
            over,
            limits,
            log_name: self.log_name,
        })
    }
}

/// An instance, as JSON.
fn shown(instance: &Instance) -> Value {
    let process = |process: &Arc<Supervised>| {
        json!({
            "name": process.name,
            "role": process.role,
            "pid": process.pid,
            // The CPUs to which the instance is bound; empty if it is not bound.
            "cpus": process.cpus,
            "exit": process.ending(),
            // It and its descendants that live.
            "alive": programs::alive(process.pid),
            "complaint": process.log.complaint(),
        })
    };
    json!({
        "id": instance.id,
        "testbed": instance.testbed,
        "variables": instance.variables,
        "outputs": instance.outputs,
        "versions": instance.versions,
        "processes": instance.processes.iter().map(process).collect::<Vec<_>>(),
        // Network namespaces that probes and echo servers may name.
        "namespaces": instance.namespace_names(),
        // Null if the instance was started without a link.
        "link": instance.link().ok().map(|link| link.state()),
        // Null if the instance was started without limits.
        "limits": instance.group.as_ref().map(|group| group.limited()),
        "log_dir": instance.log_dir.display().to_string(),
    })
}

/// All testbeds. A testbed whose file is malformed has only `error` and `mend`.
pub async fn testbeds(State(supervisor): Shared) -> Json<Vec<Value>> {
    let catalogue = &supervisor.catalogue;
    let describe = |name: String| match catalogue.load(&name) {
        Ok(testbed) => json!({
            "name": name,
            "system": testbed.file.system,
            "title": testbed.file.title,
            "variables": testbed.file.variables,
        }),
        Err(failure) => json!({"name": name, "error": failure.error, "mend": failure.mend}),
    };
    Json(catalogue.names().into_iter().map(describe).collect())
}

/// True once the caller no longer waits for the answer.
struct Abandoned(Arc<AtomicBool>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

pub async fn start(State(supervisor): Shared, Path(name): Path<String>, body: Bytes) -> Created {
    let asked = read::<StartRequest>(&body)?.asked()?;
    let flag = Arc::new(AtomicBool::new(false));
    let waiting = Abandoned(Arc::clone(&flag));
    let instance = blocking(move || {
        let abandoned = || flag.load(Ordering::SeqCst);
        let instance = supervisor.start(&name, &asked, &abandoned)?;
        if abandoned() {
            supervisor.stop(&instance.id)?;
        }
        Ok(instance)
    })
    .await?;
    drop(waiting);
    let mut answer = shown(&instance);
    // Only this answer has them.
    answer["secret_outputs"] = json!(instance.secret_outputs);
    created(answer)
}

pub async fn list(State(supervisor): Shared) -> Json<Vec<Value>> {
    let all = supervisor.instances();
    Json(all.iter().map(|instance| shown(instance)).collect())
}

pub async fn show(State(supervisor): Shared, Path(id): Path<String>) -> Answer {
    Ok(Json(shown(&*supervisor.instance(&id)?)))
}

/// The files that the instance's processes run, by the kernel.
pub async fn programs(State(supervisor): Shared, Path(id): Path<String>) -> Answer {
    answer(move || {
        let instance = supervisor.instance(&id)?;
        let of = |process: &Arc<Supervised>| {
            json!({"name": process.name, "programs": programs::of(process.pid)})
        };
        let processes: Vec<_> = instance.system().map(of).collect();
        Ok(json!({"processes": processes}))
    })
    .await
}

/// The TUN devices of the instance's namespaces.
pub async fn tun(State(supervisor): Shared, Path(id): Path<String>) -> Answer {
    answer(move || {
        let instance = supervisor.instance(&id)?;
        let mut devices = Vec::new();
        for name in instance.namespace_names() {
            let found = tun::of(&*instance.namespace(&name)?).map_err(Failure::of_setup(
                format!("namespace {name} of instance {id}: its devices are unknown"),
                "apt-get install iproute2",
            ))?;
            devices.extend(found);
        }
        Ok(json!({"devices": devices}))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RestRequest {
    seconds: f64,
}

/// The longest accepted idle time, seconds.
const REST_MOST_S: f64 = 10.0;

/// Checks the time for which idle processes are sampled. `field` is its name in the request.
pub fn rest_time(field: &str, seconds: f64) -> Result<Duration> {
    refuse(
        !(0.0..=REST_MOST_S).contains(&seconds),
        &format!("{field} is {seconds}"),
        &format!("give 0 to {REST_MOST_S}"),
    )?;
    Ok(Duration::from_secs_f64(seconds))
}

/// Measures the instance's idle processes. The caller must send no load meanwhile.
pub async fn rest(State(supervisor): Shared, Path(id): Path<String>, body: Bytes) -> Answer {
    let RestRequest { seconds } = read(&body)?;
    let time = rest_time("seconds", seconds)?;
    answer(move || {
        let instance = supervisor.instance(&id)?;
        let system = instance.system();
        let living = system.map(|process| (process.name.clone(), process.pid));
        let watched = rest::watch(living.collect(), time);
        Ok(json!({"processes": watched}))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HeldRequest {
    settle_s: f64,
    /// Whether the system must close its files too.
    #[serde(default)]
    closes_all: bool,
}

/// Compares what the instance's system holds after a load with what it held when it was ready.
pub async fn held(State(supervisor): Shared, Path(id): Path<String>, body: Bytes) -> Answer<Kept> {
    let request: HeldRequest = read(&body)?;
    let settle = rest_time("settle_s", request.settle_s)?;
    answer(move || {
        let instance = supervisor.instance(&id)?;
        Ok(instance.held(settle, request.closes_all))
    })
    .await
}

/// Stops an instance, and everything else in its namespaces.
pub async fn stop(State(all): State<All>, Path(id): Path<String>) -> Answer {
    answer(move || {
        let processes = all.supervisor.stop(&id)?;
        all.probes.cancel_of(&id);
        all.echoes.stop_of(&id);
        Ok(json!({"processes": processes}))
    })
    .await
}
