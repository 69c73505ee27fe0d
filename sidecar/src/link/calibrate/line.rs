//! A line with more traffic than it can carry: its rate, and the delay of its full queue.

use std::time::Duration;

use super::flow::{Arrival, Flow, HEADERS, MS, Pace, Plan, at_share, delays};
use super::flows::{Way, nothing_came, run, silence};
use super::result::{DELAY_WITHIN_MS, Figure};
use crate::failure::Result;
use crate::link::Link;

/// The largest accepted error of a rate, as a share of the requested rate.
const RATE_WITHIN: f64 = 0.01;
/// Packets that fill the queue are sent at this multiple of the line's rate. Above [`FAST`], the sender's own work limits the result.
const OVER: f64 = 2.0;
const OVER_FAST: f64 = 1.3;
pub const FAST: u64 = 100_000_000;
/// A system call sends at most this share of the queue's capacity.
const OF_QUEUE: u64 = 16;
/// The least total time for measuring a rate, s. Only time in which the line certainly had a packet to send counts.
const BUSY_LEAST_S: f64 = 0.1;
/// A packet that waited this long proves that the line had a packet to send before it, ms. A quarter of the full queue's delay is enough if
/// that is less.
const CERTAIN_MS: f64 = 0.5;
/// The least arrivals of a stretch that is used.
const STRETCH_LEAST: usize = 20;
/// The percentile of the delays, while the queue is mostly full, that counts as the delay of the full queue.
const FULL_SHARE: f64 = 0.95;

/// The results of a line with more traffic than it can carry.
pub struct Filled {
    pub rate: Option<Figure>,
    pub queue: Option<Figure>,
    pub offered_mbit_s: f64,
}

impl Filled {
    /// Fills the line of one direction, which has this rate.
    pub fn measure(
        link: &Link,
        way: &Way<'_>,
        rate: u64,
        (base_ms, rate_for): (f64, Duration),
    ) -> Result<Self> {
        let side = way.side;
        let packet = link.spec.mtu as usize;
        let packet_ms = (packet * 8) as f64 / rate as f64 * 1e3;
        let (bytes, packets) = side.room(link.spec.settings.rtt_ns());
        // A queue takes whole packets.
        let held = (bytes / packet as u64).min(packets).max(1);
        let queue_ms = held as f64 * packet_ms;
        let over = if rate > FAST { OVER_FAST } else { OVER };
        let full_after = Duration::from_secs_f64(queue_ms / 1e3 / (over - 1.0));
        let plan = Plan {
            payload: packet - HEADERS,
            together: (held / OF_QUEUE) as usize,
            pace: Pace::Each(packet_ms * MS / over),
            duration: full_after + rate_for,
            count: u64::MAX,
            silence: silence(side, queue_ms),
            once: true,
        };
        let flow = run(link, way, &plan)?;
        let arrivals = &flow.arrivals;
        if arrivals.is_empty() {
            return Err(nothing_came(link));
        }
        let offered_s = (full_after + rate_for).as_secs_f64();
        let offered_mbit_s = (flow.sent as usize * packet * 8) as f64 / offered_s / 1e6;
        let certain_ns = (CERTAIN_MS.min(queue_ms / 4.0) * MS) as u64;
        let found = rate_of(&stretches(&flow, side.delay_ns + certain_ns));
        // The queue was not filled: all packets arrived, so the result says nothing about the line.
        let Some(a_second) = found.filter(|_| (arrivals.len() as u64) < flow.sent) else {
            return Ok(Self {
                rate: None,
                queue: None,
                offered_mbit_s,
            });
        };
        let measured = a_second * (packet * 8) as f64 / 1e6;
        let asked = rate as f64 / 1e6;
        let full = &arrivals[arrivals.len() / 2..];
        // A delayed sender lets the queue drain for a while.
        let waited_ms = at_share(&delays(full), FULL_SHARE) - base_ms;
        Ok(Self {
            rate: Some(Figure::new(asked, measured, asked * RATE_WITHIN)),
            queue: Some(Figure::new(
                queue_ms,
                waited_ms,
                DELAY_WITHIN_MS + 2.0 * packet_ms,
            )),
            offered_mbit_s,
        })
    }
}

/// Stretches of arrivals in which the line was never idle. Each packet was handed to the kernel `waited_ns` before the previous packet
/// arrived, so it was ready to be sent next. A delay of the sender falls between two stretches.
fn stretches(flow: &Flow, waited_ns: u64) -> Vec<&[Arrival]> {
    let next_to = |one: &Arrival, next: &Arrival| {
        let entered_ns = flow.entered_ns.get(next.number as usize);
        entered_ns.is_some_and(|entered_ns| entered_ns + waited_ns <= one.arrived_ns)
    };
    let all = flow.arrivals.chunk_by(next_to);
    all.filter(|stretch| stretch.len() >= STRETCH_LEAST)
        .collect()
}

/// Arrivals per second, by the slope that fits all stretches best. One delayed packet hardly moves the slope. `None` if the stretches are
/// shorter than [`BUSY_LEAST_S`] in total.
fn rate_of(stretches: &[&[Arrival]]) -> Option<f64> {
    let (mut of_both, mut of_at, mut busy_s) = (0.0, 0.0, 0.0);
    for stretch in stretches {
        let first_ns = stretch[0].arrived_ns;
        let at = |one: &Arrival| one.arrived_ns.saturating_sub(first_ns) as f64 / 1e9;
        let count = stretch.len() as f64;
        let mean_at = stretch.iter().map(at).sum::<f64>() / count;
        let mean_number = (count - 1.0) / 2.0;
        for (number, one) in stretch.iter().enumerate() {
            let apart = at(one) - mean_at;
            of_both += apart * (number as f64 - mean_number);
            of_at += apart * apart;
        }
        busy_s += stretch.last().map_or(0.0, at);
    }
    (busy_s >= BUSY_LEAST_S && of_at > 0.0).then(|| of_both / of_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS_NS: u64 = 1_000_000;
    const DELAY_NS: u64 = 10 * MS_NS;

    /// A line that takes 1 ms for each packet, with a delay of 10 ms. `entered` has the times by number, ms.
    fn flow(entered: &[u64]) -> Flow {
        let mut free = 0;
        let arrivals = (0..).zip(entered).map(|(number, entered)| {
            free = free.max(*entered) + 1;
            Arrival {
                number,
                sent_ns: entered * MS_NS,
                arrived_ns: free * MS_NS + DELAY_NS,
            }
        });
        Flow {
            sent: entered.len() as u64,
            entered_ns: entered.iter().map(|ms| ms * MS_NS).collect(),
            arrivals: arrivals.collect(),
        }
    }

    #[test]
    fn the_rate_is_the_line_s_however_the_sender_was_held_up() {
        // Fifty packets at once, and then a pause of 20 ms after their arrival.
        let held_up: Vec<u64> = (0..20)
            .flat_map(|burst| std::iter::repeat_n(burst * 70, 50))
            .collect();
        let flow = flow(&held_up);
        let found = stretches(&flow, DELAY_NS);
        assert_eq!(found.len(), 20);
        assert!((rate_of(&found).unwrap() - 1_000.0).abs() < 1e-6);
    }

    #[test]
    fn a_line_that_is_slower_than_what_waits_for_it_is_seen() {
        let mut flow = flow(&[0; 400]);
        for one in &mut flow.arrivals {
            one.arrived_ns += one.number * MS_NS / 4;
        }
        assert!((rate_of(&stretches(&flow, DELAY_NS)).unwrap() - 800.0).abs() < 1.0);
    }

    #[test]
    fn a_line_that_was_never_full_has_no_figures() {
        let sparse: Vec<u64> = (0..500).map(|number| number * 2).collect();
        assert!(rate_of(&stretches(&flow(&sparse), DELAY_NS)).is_none());
        assert!(rate_of(&stretches(&flow(&[]), DELAY_NS)).is_none());
    }

    #[test]
    fn one_late_packet_moves_the_rate_little() {
        let mut flow = flow(&[0; 1_000]);
        flow.arrivals[999].arrived_ns += 20 * MS_NS;
        let found = rate_of(&stretches(&flow, DELAY_NS)).unwrap();
        assert!((found / 1_000.0 - 1.0).abs() < 2e-4, "{found}");
    }
}
