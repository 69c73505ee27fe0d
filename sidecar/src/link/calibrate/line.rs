//! A line while more comes than it takes: its rate, and the delay of its full queue.

use std::time::Duration;

use super::flow::{Arrival, HEADERS, Pace, Plan};
use super::flows::{clean, nothing_came, run, silence};
use super::result::Figure;
use super::{DELAY_WITHIN_MS, MS, at_share, delays};
use crate::failure::Result;
use crate::link::Link;
use crate::link::ends::End;
use crate::link::settings::Side;

/// How far a rate may be from what was asked for, as a share of it.
const RATE_WITHIN: f64 = 0.01;
/// How much faster than the line packets are sent to fill the queue.
const OVER: f64 = 2.0;
/// How long the rate is measured once the queue is full.
const RATE_FOR: Duration = Duration::from_millis(600);

/// What a line did while more came than it takes.
pub struct Filled {
    pub rate: Option<Figure>,
    pub queue: Option<Figure>,
    pub offered_mbit_s: f64,
}

impl Filled {
    pub fn measure(
        link: &Link,
        from: &End,
        to: &End,
        (side, rate): (&Side, u64),
        base_ms: f64,
    ) -> Result<Self> {
        link.measure(clean(&link.spec.settings))?;
        let packet = link.spec.mtu as usize;
        let packet_ms = (packet * 8) as f64 / rate as f64 * 1e3;
        let (bytes, packets) = side.room(link.spec.settings.rtt_ns());
        // A queue takes whole packets.
        let held = (bytes / packet as u64).min(packets).max(1);
        let queue_ms = held as f64 * packet_ms;
        let full_after = Duration::from_secs_f64(queue_ms / 1e3 / (OVER - 1.0));
        let flow = run(
            link,
            from,
            to,
            &Plan {
                payload: packet - HEADERS,
                pace: Pace::Each(packet_ms * MS / OVER),
                duration: full_after + RATE_FOR,
                count: u64::MAX,
                silence: silence(side, queue_ms),
            },
        )?;
        let arrivals = &flow.arrivals;
        // Once the queue is full; before, a sender that was held up leaves the line idle.
        let full = &arrivals[arrivals.len() / 2..];
        let Some(a_second) = slope(full) else {
            return Err(nothing_came(link));
        };
        let measured = a_second * (packet * 8) as f64 / 1e6;
        let offered_s = (full_after + RATE_FOR).as_secs_f64();
        let offered_mbit_s = (flow.sent as usize * packet * 8) as f64 / offered_s / 1e6;
        let asked = rate as f64 / 1e6;
        // Not filled: what came in is what came out, and nothing is known of the line.
        if (arrivals.len() as u64) == flow.sent {
            return Ok(Self {
                rate: None,
                queue: None,
                offered_mbit_s,
            });
        }
        // A sender that is held up lets the queue go down for a while.
        let waited_ms = at_share(&delays(full), 0.9) - base_ms;
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

/// Arrivals a second, by the line that fits all of them best: what held up the first or the last moves it little.
fn slope(arrivals: &[Arrival]) -> Option<f64> {
    let first_ns = arrivals.first()?.arrived_ns;
    let count = arrivals.len() as f64;
    let at = |one: &Arrival| one.arrived_ns.saturating_sub(first_ns) as f64 / 1e9;
    let mean_at = arrivals.iter().map(at).sum::<f64>() / count;
    let mean_number = (count - 1.0) / 2.0;
    let (mut of_both, mut of_at) = (0.0, 0.0);
    for (number, one) in arrivals.iter().enumerate() {
        let apart = at(one) - mean_at;
        of_both += apart * (number as f64 - mean_number);
        of_at += apart * apart;
    }
    (of_at > 0.0).then(|| of_both / of_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One each millisecond, but that these arrived so much later, in ms.
    fn arrivals(late: &[(u64, u64)]) -> Vec<Arrival> {
        let late_of = |number| {
            late.iter()
                .find(|one| one.0 == number)
                .map_or(0, |one| one.1)
        };
        (0..1_000)
            .map(|number| Arrival {
                number,
                sent_ns: 0,
                arrived_ns: (number + late_of(number)) * 1_000_000,
            })
            .collect()
    }

    #[test]
    fn the_slope_is_the_rate_and_one_late_packet_moves_it_little() {
        assert!((slope(&arrivals(&[])).unwrap() - 1_000.0).abs() < 1e-6);
        let late = slope(&arrivals(&[(999, 20)])).unwrap();
        assert!((late / 1_000.0 - 1.0).abs() < 2e-4, "{late}");
        assert!(slope(&[]).is_none());
        assert!(slope(&arrivals(&[])[..1]).is_none());
    }
}
