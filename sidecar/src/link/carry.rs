//! The thread that carries packets from the device of one end to the device of the other.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};

use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};
use tun_rs::SyncDevice;

use super::counts::{Carried, Counts};
use super::ends::End;
use super::fate::Fates;
use super::pipe::Pipe;
use super::samples::{AppliedChange, Samples};
use super::settings::Settings;
use super::spec::{Change, Spec};
use crate::lock::lock;
use crate::net::clock::ThreadClock;
use crate::net::clock::{now_ns, seconds};
use crate::net::poller::{Flags, Poller, Waker};
use crate::net::wait::Wait;

/// Packets that are read from one device before the other device is read.
const TURN: usize = 64;
/// Size of the largest packet, bytes.
const BUFFER: usize = 65_536;
const WAKER: u64 = 2;
/// The thread stops sleeping this long before a packet's time, because waking up usually takes longer, ns.
const EARLY_NS: u64 = 30_000;
/// Limits of busy waiting: on average one of [`SPIN_ONE_IN`] ns, and at most [`SPIN_MOST_NS`] ns at once. Without limits, dense traffic
/// would take a whole CPU. A packet for which the thread sleeps still arrives within about 0.1 ms.
const SPIN_ONE_IN: i64 = 5;
const SPIN_MOST_NS: i64 = 1_000_000;
/// The wait if nothing is due, ns.
const LONG_NS: u64 = 3_600_000_000_000;

/// An order to the thread. The answer comes once [`Shared`] shows the result.
pub type Order = (Box<dyn FnOnce(&mut Carrier) + Send>, Sender<()>);

/// The thread's state that other threads read.
#[derive(Default)]
pub struct Shared {
    seen: Mutex<Seen>,
    pub clock: ThreadClock,
    samples: Mutex<Samples>,
}

#[derive(Default, Clone)]
pub struct Seen {
    pub settings: Settings,
    /// Counts of the directions up and down.
    pub counts: [Counts; 2],
    /// Totals before the last restart, up and down.
    pub earlier: [Carried; 2],
    /// The time of the start or the last restart, and the time since then, ns.
    pub began_ns: u64,
    pub since_ns: u64,
    pub real_time: bool,
    /// Why the link has stopped.
    pub failed: Option<String>,
}

impl Shared {
    pub fn seen(&self) -> Seen {
        lock(&self.seen).clone()
    }

    /// The most bytes that waited in the second before `after_ns` after the start, up and down.
    pub fn recent_most(&self, after_ns: u64) -> [u64; 2] {
        lock(&self.samples).recent_most(after_ns)
    }

    pub fn sampled(&self) -> Samples {
        lock(&self.samples).clone()
    }
}

pub struct Carrier {
    spec: Spec,
    ends: Arc<[End; 2]>,
    shared: Arc<Shared>,
    settings: Settings,
    pipes: [Pipe; 2],
    timetable: Vec<Change>,
    /// The number of changes that are already made.
    changed: usize,
    began_ns: u64,
    /// Totals before the last restart, up and down.
    earlier: [Carried; 2],
    /// Whether counts changed since the last sample. If so, the thread wakes for the next sample.
    unsampled: bool,
    stopped: bool,
}

impl Carrier {
    pub fn new(spec: Spec, ends: Arc<[End; 2]>, shared: Arc<Shared>) -> Self {
        let settings = spec.settings.clone();
        lock(&shared.seen).settings = settings.clone();
        let rtt_ns = settings.rtt_ns();
        let [up, down] = fates(&spec);
        let pipes = [
            Pipe::new(settings.up.clone(), rtt_ns, up),
            Pipe::new(settings.down.clone(), rtt_ns, down),
        ];
        Self {
            timetable: spec.changes.clone(),
            spec,
            ends,
            shared,
            settings,
            pipes,
            changed: 0,
            began_ns: now_ns(),
            earlier: Default::default(),
            unsampled: false,
            stopped: false,
        }
    }

    /// Carries packets until it is stopped. [`Shared`] keeps an error.
    pub fn run(mut self, orders: &Receiver<Order>, waker: &Waker) {
        self.shared.clock.enter();
        lock(&self.shared.seen).real_time = go_first();
        if let Err(error) = self.carry(orders, waker) {
            lock(&self.shared.seen).failed = Some(error.to_string());
        }
        self.shared.clock.leave();
    }

    fn carry(&mut self, orders: &Receiver<Order>, waker: &Waker) -> std::io::Result<()> {
        let mut poller = Poller::new(Wait::Block)?;
        poller.add(waker, WAKER, Flags::IN | Flags::ET)?;
        for (token, end) in self.ends.iter().enumerate() {
            poller.add(&end.device, token as u64, Flags::IN)?;
        }
        let mut buffer = vec![0; BUFFER];
        let mut waiting = Vec::new();
        let mut spin = Spin::default();
        loop {
            while let Ok((order, done)) = orders.try_recv() {
                order(self);
                waiting.push(done);
            }
            if self.stopped {
                return Ok(());
            }
            self.make_changes();
            self.hand_over();
            self.sample();
            self.publish();
            for done in waiting.drain(..) {
                // The caller may have stopped waiting.
                let _ = done.send(());
            }
            let next = self.next_ns();
            let now = now_ns();
            let early_ns = spin.early_ns(now);
            if next > now && next - now < early_ns {
                spin.spins = true;
                for token in [0, 1] {
                    self.take_in(token, &mut buffer)?;
                }
                continue;
            }
            let ready = poller.wait(next.saturating_sub(early_ns).max(now))?;
            for index in 0..ready {
                let (token, _) = poller.event(index);
                if token < WAKER {
                    self.take_in(token as usize, &mut buffer)?;
                }
            }
        }
    }

    /// Reads the packets that entered at one end.
    fn take_in(&mut self, end: usize, buffer: &mut [u8]) -> std::io::Result<()> {
        for _ in 0..TURN {
            match receive(&self.ends[end].device, buffer)? {
                None => break,
                Some(length) if is_for_one(&buffer[..length]) => {
                    self.pipes[end].offer(now_ns(), &buffer[..length]);
                    self.unsampled = true;
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Writes the packets that have arrived to the other end.
    fn hand_over(&mut self) {
        for (pipe, other) in self.pipes.iter_mut().zip([1, 0]) {
            while let Some((due_ns, bytes)) = pipe.due(now_ns()) {
                self.unsampled = true;
                match self.ends[other].device.send(&bytes) {
                    Ok(_) => {
                        pipe.counts.delivered += 1;
                        pipe.counts.delivered_bytes += bytes.len() as u64;
                        pipe.counts.note_lateness(now_ns().saturating_sub(due_ns));
                    }
                    Err(_) => pipe.counts.own_refused += 1,
                }
            }
        }
    }

    fn next_ns(&self) -> u64 {
        let change = self.timetable.get(self.changed);
        let change = change.map(|change| self.began_ns + change.at_ns);
        let packets = self.pipes.iter().filter_map(Pipe::next_ns);
        let sample = self.unsampled.then(|| lock(&self.shared.samples).next_ns());
        let sample = sample.map(|after_ns| self.began_ns + after_ns);
        let next = packets.chain(change).chain(sample).min();
        next.unwrap_or_else(|| now_ns() + LONG_NS)
    }

    fn make_changes(&mut self) {
        while let Some(change) = self.timetable.get(self.changed) {
            if self.began_ns + change.at_ns > now_ns() {
                return;
            }
            let items = change.items.clone();
            self.changed += 1;
            self.set_items(&items);
        }
    }

    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Sets items from now on. The caller has checked them.
    pub fn set_items(&mut self, items: &[(String, String)]) {
        let mut settings = self.settings.clone();
        for (key, value) in items {
            let _ = settings.set(key, value);
        }
        self.set(settings);
        let at_s = seconds(now_ns() - self.began_ns);
        let items = items.to_vec();
        let change = AppliedChange { at_s, items };
        lock(&self.shared.samples).changes.push(change);
    }

    fn set(&mut self, settings: Settings) {
        let (now, rtt_ns) = (now_ns(), settings.rtt_ns());
        self.pipes[0].change(now, settings.up.clone(), rtt_ns);
        self.pipes[1].change(now, settings.down.clone(), rtt_ns);
        self.settings = settings;
    }

    /// Replaces the timetable. Times count from the start or the last restart.
    pub fn replace_timetable(&mut self, timetable: Vec<Change>) {
        (self.timetable, self.changed) = (timetable, 0);
    }

    /// Resets settings, draws, timetable and counts to the start.
    pub fn begin_anew(&mut self) {
        self.restart(self.spec.settings.clone(), self.spec.changes.clone());
    }

    /// Applies settings and a timetable, with draws and counts from the start.
    pub fn restart(&mut self, settings: Settings, timetable: Vec<Change>) {
        self.set(settings);
        for (way, fates) in fates(&self.spec).into_iter().enumerate() {
            self.earlier[way] = self.earlier[way].and(&self.pipes[way].counts);
            self.pipes[way].restart(fates);
        }
        self.replace_timetable(timetable);
        self.began_ns = now_ns();
        *lock(&self.shared.samples) = Samples::default();
        self.unsampled = false;
    }

    fn sample(&mut self) {
        let after_ns = now_ns() - self.began_ns;
        let mut samples = lock(&self.shared.samples);
        if samples.due(after_ns) {
            let [up, down] = &mut self.pipes;
            let most = [up.take_recent_most(), down.take_recent_most()];
            samples.take(after_ns, [up.counts, down.counts], most);
            self.unsampled = false;
        }
    }

    fn publish(&self) {
        let mut seen = lock(&self.shared.seen);
        seen.began_ns = self.began_ns;
        seen.counts = [self.pipes[0].counts, self.pipes[1].counts];
        seen.earlier = self.earlier;
        seen.since_ns = now_ns() - self.began_ns;
        if seen.settings != self.settings {
            seen.settings = self.settings.clone();
        }
    }
}

/// Busy waiting that the thread may still do.
#[derive(Default)]
struct Spin {
    /// Remaining time, ns. It is below 0 if the thread took more than allowed.
    left_ns: i64,
    last_ns: u64,
    /// Whether the thread has waited busily since the last call.
    spins: bool,
}

impl Spin {
    /// How long before a packet's time the thread stops sleeping.
    fn early_ns(&mut self, now_ns: u64) -> u64 {
        let passed_ns = now_ns.saturating_sub(self.last_ns).min(LONG_NS) as i64;
        self.last_ns = now_ns;
        if std::mem::take(&mut self.spins) {
            // The bound keeps other delays of the thread from counting as busy waiting.
            self.left_ns = (self.left_ns - passed_ns).max(-SPIN_MOST_NS);
        } else {
            self.left_ns = (self.left_ns + passed_ns / SPIN_ONE_IN).min(SPIN_MOST_NS);
        }
        if self.left_ns > 0 { EARLY_NS } else { 0 }
    }
}

/// Gives the calling thread real-time priority, and returns whether that worked. Without it, packets may be late.
fn go_first() -> bool {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy).is_ok()
}

fn fates(spec: &Spec) -> [Fates; 2] {
    [Fates::new(spec.seed, 0), Fates::new(spec.seed, 1)]
}

fn receive(device: &SyncDevice, buffer: &mut [u8]) -> std::io::Result<Option<usize>> {
    match device.recv(buffer) {
        Ok(length) => Ok(Some(length)),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a packet has a single receiver. Multicast packets are announcements of the kernel: they are not traffic, and would use up draws.
fn is_for_one(packet: &[u8]) -> bool {
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= 20 => {
            let [a, b, c, d] = [packet[16], packet[17], packet[18], packet[19]];
            !Ipv4Addr::new(a, b, c, d).is_multicast()
        }
        Some(6) if packet.len() >= 40 => {
            let to: [u8; 16] = std::array::from_fn(|index| packet[24 + index]);
            !Ipv6Addr::from(to).is_multicast()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_again_and_again_takes_a_share_of_the_time_alone() {
        let mut spin = Spin::default();
        let (mut now_ns, mut spun_ns) = (0, 0);
        for _ in 0..1_000_000 {
            now_ns += 1_000;
            if spin.early_ns(now_ns) > 0 {
                spin.spins = true;
                spun_ns += 1_000;
            }
        }
        let share = spun_ns as f64 / now_ns as f64;
        assert!((0.1..0.25).contains(&share), "{share}");
        // Sparse packets always get busy waiting.
        spin.early_ns(now_ns);
        for _ in 0..100 {
            now_ns += 10_000_000;
            assert_eq!(spin.early_ns(now_ns), EARLY_NS);
            spin.spins = true;
            now_ns += EARLY_NS;
            spin.early_ns(now_ns);
        }
    }

    #[test]
    fn only_packets_to_one_are_carried() {
        let mut four = vec![0x45; 20];
        four[16..20].copy_from_slice(&[198, 18, 2, 1]);
        assert!(is_for_one(&four));
        four[16] = 224;
        assert!(!is_for_one(&four));
        let mut six = vec![0x60; 40];
        six[24..26].copy_from_slice(&[0x20, 0x01]);
        assert!(is_for_one(&six));
        six[24] = 0xff;
        assert!(!is_for_one(&six));
        assert!(!is_for_one(&four[..19]) && !is_for_one(&[]));
    }
}
