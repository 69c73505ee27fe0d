//! Measures a link before a run uses it. Datagrams through the link measure its delay, rate, queue and loss. The calibration also finds
//! losses that nobody asked for, and the capacity on this machine.

mod flow;
mod flows;
mod line;
mod result;

use std::panic::resume_unwind;
use std::time::Instant;

use self::flow::{Flow, HEADERS, LEAST_PAYLOAD, MS, at_share, delays};
pub use self::flows::{Amount, BRIEF, WHOLE};
use self::flows::{Way, alive, carries, clean, delay_flow, loss_flow, ways};
use self::line::{FAST, Filled};
pub use self::result::{Calibration, Figure};
use self::result::{Carries, DELAY_WITHIN_MS, Direction, Loss};
use super::counts::Counts;
use super::settings::{Settings, Side};
use super::{Link, State};
use crate::failure::{Failure, Result};

/// A rate above this share of the capacity is limited by the machine, not by the link's settings.
const OF_CARRIED: f64 = 0.8;

/// Measures a link without other traffic, and leaves it as it was at its start. Both directions are measured at once, as each has its own
/// line. Fast lines are filled one after the other, because the sender's own work limits them.
pub fn calibrate(link: &Link, amount: Amount) -> Result<Calibration> {
    let began = Instant::now();
    let asked = &link.spec.settings;
    let [up, down] = measured(link, &ways(link), amount)?;
    let carries = carries(link, amount)?;
    link.restart()?;
    let mut wrong = Vec::new();
    for (name, measured, side) in [("up", &up, &asked.up), ("down", &down, &asked.down)] {
        measured.judge(name, side, &carries, &mut wrong);
    }
    Ok(Calibration {
        text: link.spec.text.clone(),
        seed: link.spec.seed,
        ok: wrong.is_empty(),
        wrong,
        up: up.direction,
        down: down.direction,
        carries,
        seconds: began.elapsed().as_secs_f64(),
    })
}

/// Measures both directions at once, by their indices.
fn at_once<T: Send>(measure: impl Fn(usize) -> Result<T> + Sync) -> Result<[T; 2]> {
    std::thread::scope(|scope| {
        let up = scope.spawn(|| measure(0));
        let down = measure(1);
        let up = up.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok([up?, down?])
    })
}

fn measured(link: &Link, ways: &[Way<'_>; 2], amount: Amount) -> Result<[Measured; 2]> {
    link.measure(clean(&link.spec.settings))?;
    let base_ms = at_once(|index| {
        let flow = delay_flow(link, &ways[index], amount)?;
        Ok(at_share(&delays(&flow.arrivals), 0.5))
    })?;
    let state = link.state();
    let lost_before = [own_lost(&ways[0], &state)?, own_lost(&ways[1], &state)?];

    let fill = |index: usize| {
        let known = (base_ms[index], amount.rate_for);
        let rate = ways[index].side.rate_bit_s;
        rate.map(|rate| Filled::measure(link, &ways[index], rate, known))
            .transpose()
    };
    link.measure(clean(&link.spec.settings))?;
    let slow = |way: &Way<'_>| way.side.rate_bit_s.is_none_or(|rate| rate <= FAST / 2);
    let filled = if ways.iter().all(slow) {
        at_once(fill)?
    } else {
        let up = fill(0)?;
        link.measure(clean(&link.spec.settings))?;
        [up, fill(1)?]
    };

    link.measure(Settings {
        up: alive(&link.spec.settings.up),
        down: alive(&link.spec.settings.down),
    })?;
    let flows = at_once(|index| loss_flow(link, &ways[index]))?;
    let state = link.state();
    let lost_after = [own_lost(&ways[0], &state)?, own_lost(&ways[1], &state)?];
    let [up, down] = filled;
    let of = |index: usize, filled: Option<Filled>| {
        let way = &ways[index];
        let found = (way.counts)(&state);
        let lost = lost_before[index] + lost_after[index];
        Measured::of(
            way.side,
            base_ms[index],
            filled,
            (&flows[index], &found, lost),
        )
    };
    Ok([of(0, up), of(1, down)])
}

/// Packets of one direction that the link lost although no setting asked for it.
fn own_lost(way: &Way<'_>, state: &State) -> Result<u64> {
    (way.counts)(state).own_losses().ok_or_else(|| {
        Failure::setup(
            "the link cannot be calibrated: the number of packets that its device dropped is unknown",
            "make /proc/net/dev readable",
        )
    })
}

/// Results of one direction, and the highest rate that its line was set to while it was filled.
struct Measured {
    direction: Direction,
    offered_mbit_s: f64,
}

impl Measured {
    fn of(
        side: &Side,
        base_ms: f64,
        filled: Option<Filled>,
        (flow, found, own_lost): (&Flow, &Counts, u64),
    ) -> Self {
        let line_ms = side.rate_bit_s.map_or(0.0, |rate| {
            ((LEAST_PAYLOAD + HEADERS) * 8) as f64 / rate as f64 * 1e3
        });
        let delay_ms = Figure::new(
            side.delay_ns as f64 / MS + line_ms,
            base_ms,
            DELAY_WITHIN_MS,
        );
        let spread = delays(&flow.arrivals);
        Self {
            direction: Direction {
                delay_ms,
                least_ms: spread.first().copied().unwrap_or(0.0),
                most_ms: spread.last().copied().unwrap_or(0.0),
                rate_mbit_s: filled.as_ref().and_then(|filled| filled.rate),
                queue_ms: filled.as_ref().and_then(|filled| filled.queue),
                loss: loss(flow, found, side),
                own_lost,
            },
            offered_mbit_s: filled.map_or(0.0, |filled| filled.offered_mbit_s),
        }
    }

    fn judge(&self, name: &str, side: &Side, carries: &Carries, wrong: &mut Vec<String>) {
        let Direction {
            delay_ms,
            rate_mbit_s,
            queue_ms,
            loss,
            own_lost,
            ..
        } = &self.direction;
        let rate = side.rate_bit_s.map_or(0.0, |rate| rate as f64 / 1e6);
        let figures = [
            ("delay", "ms", Some(delay_ms)),
            ("rate", "Mbit/s", rate_mbit_s.as_ref()),
            ("delay of the full queue", "ms", queue_ms.as_ref()),
            ("loss of 1,000", "packets", Some(&loss.per_1000)),
        ];
        for (what, unit, figure) in figures {
            if let Some(Figure {
                asked, measured, ..
            }) = figure.filter(|figure| !figure.ok)
            {
                wrong.push(format!(
                    "{name}: the {what} is {measured:.3} {unit}, not {asked:.3}"
                ));
            }
        }
        if loss.missed != loss.counted {
            let Loss {
                missed,
                counted,
                sent,
                ..
            } = loss;
            wrong.push(format!(
                "{name}: {missed} of {sent} packets were missing, and the link counted {counted}"
            ));
        }
        if *own_lost > 0 {
            wrong.push(format!(
                "{name}: the link lost {own_lost} packets although no setting asks for it"
            ));
        }
        // A line that reached its rate can carry it. A busy machine may have disturbed the capacity measurement.
        let seen = rate_mbit_s.is_some_and(|figure| figure.ok) && *own_lost == 0;
        if rate > OF_CARRIED * carries.mbit_s && !seen {
            wrong.push(format!(
                "{name}: the link itself is the bottleneck: it carries {:.0} Mbit/s on this machine, and the rate is {rate:.0}",
                carries.mbit_s
            ));
        } else if rate > 0.0 && rate_mbit_s.is_none() {
            wrong.push(format!(
                "{name}: this machine cannot fill the link's {rate:.0} Mbit/s: it offered {:.0}",
                self.offered_mbit_s
            ));
        }
    }
}

fn loss(flow: &Flow, counts: &Counts, side: &Side) -> Loss {
    let mut numbers: Vec<u64> = flow.arrivals.iter().map(|one| one.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let sent = flow.sent as f64;
    // Five standard deviations of a binomial distribution. Packets of a bad spell are lost together.
    let deviation = (side.loss * (1.0 - side.loss) * sent * 2.0 * side.burst).sqrt();
    Loss {
        sent: flow.sent,
        missed: flow.sent - numbers.len() as u64,
        counted: counts.lost + counts.queue_dropped + counts.dead + counts.corrupted,
        per_1000: Figure::new(
            side.loss * 1e3,
            counts.lost as f64 / sent.max(1.0) * 1e3,
            5.0 * deviation / sent.max(1.0) * 1e3,
        ),
    }
}
