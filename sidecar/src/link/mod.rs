//! A network between the two ends of a proxy: delay, rate, queue and loss, made in user space.
//!
//! Two network namespaces, `near` and `far`, have one TUN device each. One thread reads packets from one device and writes them to the
//! other when they are due. The link needs no kernel module but TUN, and no rights outside of a user namespace. docs/explanation/link.md
//! describes its features, and docs/benchmarks.md its accuracy.
//!
//! The link ends with the sidecar: namespaces, devices and routes live as long as this process has them open.

pub mod calibrate;
mod carry;
mod counts;
mod ends;
mod fate;
mod pipe;
mod samples;
mod settings;
pub mod spec;
mod units;

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;

use crate::failure::{Failure, Result};
use crate::lock::lock;
use crate::net::clock::{now_ns, seconds, to_unix_us};
use crate::net::poller::Waker;
use crate::process::cpus;
use carry::{Carrier, Order, Seen, Shared};
use counts::{Carried, Counts};
use ends::Place;
pub use ends::{DEVICE, End, FAR, FAR_ADDRESS, NEAR};
use samples::{AppliedChange, EVERY_NS, Sample};
use settings::Settings;
use spec::{Change, Spec};

/// The longest time that the thread may take to carry out an order.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Link {
    pub spec: Spec,
    ends: Arc<[End; 2]>,
    shared: Arc<Shared>,
    orders: Mutex<Sender<Order>>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<()>>,
    /// Packets that the devices had dropped before the last restart.
    unread_before: Mutex<[Option<u64>; 2]>,
}

/// Settings and counts of a link, as in JSON.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Link")]
pub struct State {
    /// The text of the request, and the file's title. The title is empty if the link has no file.
    pub text: String,
    pub title: String,
    pub seed: u64,
    pub mtu: u64,
    pub near: Place,
    pub far: Place,
    /// The present settings. A change or a request may have replaced the settings of the start.
    pub settings: Settings,
    /// Time since the start or the last restart, seconds.
    pub seconds: f64,
    /// Counts from near to far, and back.
    pub up: Counts,
    pub down: Counts,
    pub ever: Ever,
    /// Whether the link's thread has real-time priority (SCHED_FIFO). Only root may set it. Without it, a busy machine delays packets.
    pub real_time: bool,
    /// CPU time of the link's thread, seconds.
    pub cpu_s: f64,
    /// Why the link has stopped; null while it works.
    pub failed: Option<String>,
}

/// Counts that only grow while the link exists, even after a restart. A client that polls them can take differences.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Ever {
    pub up: Way,
    pub down: Way,
}

#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Way {
    #[serde(flatten)]
    pub carried: Carried,
    /// The most bytes that waited for the line in the last 1.2 s. This value alone may also fall.
    pub queued_bytes_recent: u64,
}

/// Samples of a link over time, as in JSON: one of each direction every `every_ms` since the start or the last restart.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct OverTime {
    pub began_unix_us: u64,
    pub every_ms: u64,
    /// The number of the first sample. It is above 0 if older samples were dropped.
    pub from: u64,
    pub up: Vec<Sample>,
    pub down: Vec<Sample>,
    /// Changes made by the timetable and by requests.
    pub changes: Vec<AppliedChange>,
}

impl Link {
    /// Makes both ends, and starts to carry packets. The thread runs on `cpus`; an empty list means any CPU.
    pub fn start(spec: Spec, cpus: &[usize]) -> Result<Self> {
        cpus::check("cpus", cpus)?;
        let ends = Arc::new(ends::make(spec.mtu)?);
        let shared: Arc<Shared> = Arc::default();
        let no_thread = Failure::of_limits("a link's thread cannot be started");
        let waker = Arc::new(Waker::new().map_err(&no_thread)?);
        let (orders, receiver) = channel();
        let carrier = Carrier::new(spec.clone(), Arc::clone(&ends), Arc::clone(&shared));
        let (cpus, own_waker) = (cpus.to_vec(), Arc::clone(&waker));
        let thread = std::thread::Builder::new()
            .name("link".to_owned())
            .spawn(move || {
                // The CPUs were checked before.
                let _ = cpus::bind(&cpus);
                carrier.run(&receiver, &own_waker);
            })
            .map_err(&no_thread)?;
        Ok(Self {
            spec,
            ends,
            shared,
            orders: Mutex::new(orders),
            waker,
            thread: Some(thread),
            unread_before: Mutex::new([Some(0); 2]),
        })
    }

    pub fn near(&self) -> &End {
        &self.ends[0]
    }

    pub fn far(&self) -> &End {
        &self.ends[1]
    }

    pub fn state(&self) -> State {
        let seen = self.shared.seen();
        let [mut up, mut down] = seen.counts;
        let ever = self.ever(&seen);
        let before = *lock(&self.unread_before);
        let now = self.ends.each_ref().map(End::unread);
        up.own_unread = counts::since(before[0], now[0]);
        down.own_unread = counts::since(before[1], now[1]);
        State {
            text: self.spec.text.clone(),
            title: self.spec.title.clone(),
            seed: self.spec.seed,
            mtu: self.spec.mtu,
            near: self.near().place.clone(),
            far: self.far().place.clone(),
            settings: seen.settings,
            seconds: seconds(seen.since_ns),
            up,
            down,
            ever,
            real_time: seen.real_time,
            cpu_s: seconds(self.shared.clock.used_ns()),
            failed: seen.failed,
        }
    }

    fn ever(&self, seen: &Seen) -> Ever {
        let after_ns = now_ns().saturating_sub(seen.began_ns);
        let recent = self.shared.recent_most(after_ns);
        let way = |way: usize| Way {
            carried: seen.earlier[way].and(&seen.counts[way]),
            queued_bytes_recent: recent[way].max(seen.counts[way].queued_bytes),
        };
        Ever {
            up: way(0),
            down: way(1),
        }
    }

    pub fn over_time(&self) -> OverTime {
        let samples = self.shared.sampled();
        let way = |way: usize| samples.each.iter().map(|sample| sample[way]).collect();
        OverTime {
            began_unix_us: to_unix_us()(self.shared.seen().began_ns),
            every_ms: EVERY_NS / 1_000_000,
            from: samples.gone,
            up: way(0),
            down: way(1),
            changes: samples.changes,
        }
    }

    /// Fails if the link has stopped.
    pub fn check(&self) -> Result<()> {
        match self.shared.seen().failed {
            None => Ok(()),
            Some(error) => Err(Failure::setup(
                format!("the link {} has died: {error}", self.spec.text),
                "start the testbed again",
            )),
        }
    }

    /// Sets items, such as `rate` and `10mbit`, from now on.
    pub fn change(&self, items: &[(String, String)]) -> Result<()> {
        self.check()?;
        let mut settings = self.shared.seen().settings;
        let wrong =
            |(wrong, mend): (String, String)| Failure::invalid(format!("link: {wrong}"), mend);
        for (key, value) in items {
            settings.set(key, value).map_err(wrong)?;
        }
        settings.check().map_err(wrong)?;
        let items = items.to_vec();
        self.ask(move |carrier| carrier.set_items(&items))
    }

    /// Replaces the timetable. Its times count from the start or the last restart. Past changes apply at once.
    pub fn later(&self, changes: Vec<Change>) -> Result<()> {
        self.check()?;
        spec::check(&self.shared.seen().settings, &changes)?;
        self.ask(|carrier| carrier.replace_timetable(changes))
    }

    /// Resets settings, draws, timetable and counts to the start. A run after a calibration then begins like a run without one.
    pub fn restart(&self) -> Result<()> {
        self.count_anew();
        self.ask(Carrier::begin_anew)
    }

    /// Applies other settings, without a timetable, and with draws and counts from the start.
    fn measure(&self, settings: Settings) -> Result<()> {
        self.count_anew();
        self.ask(|carrier| carrier.restart(settings, Vec::new()))
    }

    fn count_anew(&self) {
        *lock(&self.unread_before) = self.ends.each_ref().map(End::unread);
    }

    /// Gives an order, and waits until it is carried out.
    fn ask(&self, order: impl FnOnce(&mut Carrier) + Send + 'static) -> Result<()> {
        self.check()?;
        self.order(order).recv_timeout(PATIENCE).or_else(|_| {
            self.check()?;
            Err(Failure::setup(
                format!("the link {} does not answer", self.spec.text),
                "start the testbed again on a machine that is less busy",
            ))
        })
    }

    fn order(&self, order: impl FnOnce(&mut Carrier) + Send + 'static) -> Receiver<()> {
        let (done, answer) = channel();
        // A thread that has ended accepts no order, and `check` reports it.
        let _ = lock(&self.orders).send((Box::new(order), done));
        self.waker.wake();
        answer
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.order(Carrier::stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
