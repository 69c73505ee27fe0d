//! A time in which all connections of a probe carry nothing. The work of the observed processes and the packets on the wire are counted
//! meanwhile.

use std::collections::BTreeMap;
use std::io;

use super::context::Context;
use super::outcome::{Idle, IdleProcess};
use super::plan::Plan;
use super::spec::IdleSpec;
use crate::net::clock::{now_ns, seconds};
use crate::process::holding::Holding;
use crate::process::scheduling::{Counts, Scheduling};
use crate::wire::{Counter, ports_of};

/// Time between two readings of the scheduler's counts. A thread that ends takes its own counts of this time with it.
const LOOK_EVERY_NS: u64 = 1_000_000_000;
/// The longest time between two readings of the packets.
const SLICE_NS: u64 = 200_000_000;

pub struct Held {
    pub idle: Idle,
    pub began_ns: u64,
}

/// Waits for the idle time to pass. `turn` handles events until the given moment at the latest. Returns none without an idle time,
/// or if it was cut short.
pub fn hold(
    plan: &Plan,
    context: &Context,
    mut turn: impl FnMut(u64) -> io::Result<()>,
) -> io::Result<Option<Held>> {
    let Some(idle) = &plan.spec.idle else {
        return Ok(None);
    };
    let mut pass = |until_ns: u64, look: &mut dyn FnMut()| -> io::Result<bool> {
        while now_ns() < until_ns {
            if context.must_stop(now_ns()).is_some() {
                return Ok(false);
            }
            turn(until_ns.min(now_ns() + SLICE_NS))?;
            look();
        }
        Ok(true)
    };
    if !pass(after(now_ns(), idle.settle_s), &mut || {})? {
        return Ok(None);
    }
    let mut watch = Watch::begin(plan, idle, context);
    let began_ns = watch.began_ns;
    let whole = pass(after(began_ns, idle.seconds), &mut || watch.look())?;
    let idle = watch.end();
    Ok(whole.then_some(Held { idle, began_ns }))
}

fn after(moment_ns: u64, seconds: f64) -> u64 {
    moment_ns + (seconds * 1e9) as u64
}

struct Watch<'a> {
    context: &'a Context,
    packets: Option<Counter>,
    before: Vec<Holding>,
    last: BTreeMap<String, Counts>,
    counted: BTreeMap<String, Scheduling>,
    /// Connections that had ended at the far end before.
    ended_there: Option<u64>,
    ended_there_s: Vec<f64>,
    looked_ns: u64,
    began_ns: u64,
}

impl<'a> Watch<'a> {
    fn begin(plan: &Plan, idle: &IdleSpec, context: &'a Context) -> Self {
        let addresses = [plan.first_hop().address, plan.target_at.address];
        let packets = ports_of(&addresses).and_then(|mut ports| {
            ports.extend(&idle.ports);
            Counter::start(&ports).ok()
        });
        let before = context.observer().holding();
        let began_ns = now_ns();
        Self {
            context,
            packets,
            before,
            last: context.observer().counts(),
            counted: BTreeMap::new(),
            ended_there: context.ended_there(),
            ended_there_s: Vec::new(),
            looked_ns: began_ns,
            began_ns,
        }
    }

    fn look(&mut self) {
        if let Some(packets) = &mut self.packets {
            packets.read();
        }
        if now_ns() >= self.looked_ns + LOOK_EVERY_NS {
            self.count();
        }
        self.ends_there();
    }

    fn ends_there(&mut self) {
        let Some((now, before)) = self.context.ended_there().zip(self.ended_there) else {
            return;
        };
        let at_s = seconds(now_ns() - self.began_ns);
        self.ended_there_s.resize((now - before) as usize, at_s);
    }

    fn count(&mut self) {
        self.looked_ns = now_ns();
        let now = self.context.observer().counts();
        for (name, counts) in &now {
            if let Some(last) = self.last.get(name) {
                *self.counted.entry(name.clone()).or_default() += counts.since(last);
            }
        }
        self.last = now;
    }

    fn end(mut self) -> Idle {
        self.count();
        self.ends_there();
        let seconds = seconds(now_ns() - self.began_ns);
        let wire = self.packets.take().and_then(Counter::end);
        let after = self.context.observer().holding();
        let processes = after
            .into_iter()
            .filter_map(|now| self.process(now))
            .collect();
        Idle {
            seconds,
            ended_there_s: self.ended_there.map(|_| self.ended_there_s),
            processes,
            wire,
            ..Idle::default()
        }
    }

    fn process(&self, Holding { name, role, held }: Holding) -> Option<IdleProcess> {
        let before = self.before.iter().find(|before| before.name == name)?;
        let scheduling = *self.counted.get(&name)?;
        Some(IdleProcess {
            role,
            cpu_s: (held.cpu_s - before.held.cpu_s).max(0.0),
            scheduling,
            anon_bytes: held.anon_bytes,
            threads: held.threads,
            descriptors: held.descriptors.map(|all| all.all),
            name,
        })
    }
}
