//! The state that all connections of a probe share.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::spec::Until;
use crate::lock::lock;
use crate::net::clock::now_ns;
use crate::net::payload::Pattern;
use crate::probe::context::Context;
use crate::probe::far_end::Carried;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::outcome::UserOutcome;
use crate::probe::plan::{Plan, Users};
use crate::probe::socks5::codec::Address;
use crate::probe::tally::Tally;

/// The longest delay until the probe sees a cancel.
pub const SLICE: Duration = Duration::from_millis(50);
const NS_PER_MS: f64 = 1e6;

/// The data that all connections of a probe need.
pub struct Shared {
    pub users: Users,
    pub target: Address,
    /// Bytes of each entry.
    pub bytes: Vec<u64>,
    pub until: Option<Until>,
    /// Datagrams in place of connections.
    pub udp: bool,
    pub pattern: Pattern,
    pub timeout: Duration,
    /// The next entry that no task has taken.
    pub next: AtomicUsize,
    /// Tasks begin no further entry.
    pub stop: AtomicBool,
    pub outcomes: Mutex<Vec<UserOutcome>>,
    pub tally: Mutex<Tally>,
    pub carried: Mutex<Carried>,
}

pub fn ms(ns: u64) -> f64 {
    ns as f64 / NS_PER_MS
}

impl Shared {
    pub fn new(plan: &Plan, pattern: Pattern, tally: Tally) -> Result<Arc<Self>, ProbeError> {
        let missing = || ProbeError::new(ErrorKind::Network, "the probe has no users");
        let users = plan.spec.users.as_ref().ok_or_else(missing)?;
        let own = |bytes: Option<u64>| bytes.unwrap_or(plan.spec.payload_bytes);
        // An entry that never begins stays like this.
        let unbegun = |name: &String| UserOutcome {
            name: name.clone(),
            error: Some(ErrorKind::Cut),
            ..UserOutcome::default()
        };
        Ok(Arc::new(Self {
            users: plan.users.clone().ok_or_else(missing)?,
            target: plan.target.clone(),
            bytes: users.list.iter().map(|user| own(user.bytes)).collect(),
            until: users.until,
            udp: users.udp,
            pattern,
            timeout: plan.timeout,
            next: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            outcomes: Mutex::new(users.list.iter().map(|user| unbegun(&user.name)).collect()),
            tally: Mutex::new(tally),
            carried: Mutex::default(),
        }))
    }

    /// The next entry, unless the probe must stop.
    pub fn take(&self) -> Option<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        (next < self.users.credentials.len()).then_some(next)
    }

    pub fn note(&self, user: usize, outcome: UserOutcome) {
        let UserOutcome { sent, received, .. } = outcome;
        *lock(&self.carried) += match self.udp {
            // All but the last are of the same size.
            true => Carried::datagrams(sent, received, self.pattern.size() as u64),
            false => Carried::echoed(sent, received),
        };
        let one = &mut lock(&self.outcomes)[user];
        let name = std::mem::take(&mut one.name);
        *one = UserOutcome { name, ..outcome };
    }
}

pub fn runtime() -> Result<Runtime, ProbeError> {
    let made = Builder::new_current_thread().enable_all().build();
    made.map_err(|error| ProbeError::io("event loop", &error))
}

/// Runs tasks to their ends. A cancel ends them at once; after the limit no entry begins.
pub async fn drive<F>(tasks: impl Iterator<Item = F>, shared: &Shared, context: &Context)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut all = JoinSet::new();
    for task in tasks {
        all.spawn(task);
    }
    loop {
        match tokio::time::timeout(SLICE, all.join_next()).await {
            Ok(None) => break,
            Ok(Some(_)) if !context.cancelled() => {}
            _ => {
                let stopped = context.must_stop(now_ns());
                shared.stop.store(stopped.is_some(), Ordering::Relaxed);
                lock(&shared.tally).stopped = stopped;
                context.set_done(lock(&shared.tally).attempted());
                if context.cancelled() {
                    all.shutdown().await;
                }
            }
        }
    }
}

/// Indices of the series.
const FIRST_BYTE: usize = 0;
pub const TOTAL: usize = 1;

/// The numbers and lengths of a user's blocks.
pub fn blocks(bytes: u64, most: usize) -> impl Iterator<Item = (u64, usize)> {
    let most = most as u64;
    (0..bytes.div_ceil(most)).map(move |block| (block, (bytes - block * most).min(most) as usize))
}

pub fn note_first(shared: &Shared, began: u64, outcome: &mut UserOutcome) {
    if outcome.first_byte_ms.is_some() {
        return;
    }
    let now = now_ns();
    outcome.first_byte_ms = Some(ms(now - began));
    lock(&shared.tally).series[FIRST_BYTE].record(now, now - began);
}
