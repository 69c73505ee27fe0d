//! A link is measured before it is believed: its delay, rate, queue and loss by datagrams through it, what it loses by
//! itself, and what it can carry here.

mod flow;
mod result;

use std::time::{Duration, Instant};

use self::flow::{Arrival, Flow, HEADERS, LEAST_PAYLOAD, Pace, Plan};
pub use self::result::{Calibration, Figure};
use self::result::{Carries, Direction, Loss};
use super::counts::Counts;
use super::ends::End;
use super::settings::{Settings, Side};
use super::{Link, State};
use crate::failure::{Failure, Result};

/// How far a delay may be from what was asked for, ms.
const DELAY_WITHIN_MS: f64 = 0.2;
/// And a rate, as a share of it.
const RATE_WITHIN: f64 = 0.01;
/// How much faster than the line packets are sent to fill the queue.
const OVER: f64 = 2.0;
/// Datagrams of the delay and of the loss.
const DELAYS: u64 = 100;
const LOSSES: u64 = 2_000;
/// At most so many a second of these, and at most this share of the line.
const LOSSES_PER_S: f64 = 5_000.0;
const LOSSES_OF_LINE: f64 = 0.5;
/// How long the rate is measured once the queue is full, and what the link carries.
const RATE_FOR: Duration = Duration::from_millis(600);
const CARRY_FOR: Duration = Duration::from_millis(300);
/// On their way at once where it is measured what the link carries: fewer than its device keeps.
const WINDOW: u64 = 1_000;
/// A rate above this share of what the link carries is the link's own limit.
const OF_CARRIED: f64 = 0.8;
/// After the last arrival, besides delay and queue.
const SILENCE: Duration = Duration::from_millis(150);
const MS: f64 = 1e6;

/// Measures a link through which nothing else goes, and leaves it as it was at its start.
pub fn calibrate(link: &Link) -> Result<Calibration> {
    let began = Instant::now();
    let asked = &link.spec.settings;
    let (near, far) = (link.near(), link.far());
    let up = Measured::of(link, near, far, &asked.up, |state| state.up)?;
    let down = Measured::of(link, far, near, &asked.down, |state| state.down)?;
    let carries = carries(link)?;
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

/// One direction, and the fastest that its line was asked to be while it was filled.
struct Measured {
    direction: Direction,
    offered_mbit_s: f64,
}

impl Measured {
    fn of(link: &Link, from: &End, to: &End, side: &Side, counts: fn(&State) -> Counts) -> Result<Self> {
        let clean = clean(&link.spec.settings);
        link.measure(clean.clone())?;
        let base_ms = median(&delays(&delay_flow(link, from, to, side)?.arrivals));
        let line_ms = side.rate_bit_s.map_or(0.0, |rate| {
            ((LEAST_PAYLOAD + HEADERS) * 8) as f64 / rate as f64 * 1e3
        });
        let delay_ms = Figure::new(side.delay_ns as f64 / MS + line_ms, base_ms, DELAY_WITHIN_MS);
        let mut own_lost = counts(&link.state()).own();

        let filled = match side.rate_bit_s {
            None => None,
            Some(rate) => Some(Filled::measure(link, from, to, (side, rate), base_ms)?),
        };

        link.measure(Settings {
            up: alive(&link.spec.settings.up),
            down: alive(&link.spec.settings.down),
        })?;
        let flow = loss_flow(link, from, to, side)?;
        let found = counts(&link.state());
        own_lost += found.own();
        let spread = delays(&flow.arrivals);
        Ok(Self {
            direction: Direction {
                delay_ms,
                least_ms: spread.first().copied().unwrap_or(0.0),
                most_ms: spread.last().copied().unwrap_or(0.0),
                rate_mbit_s: filled.as_ref().and_then(|filled| filled.rate),
                queue_ms: filled.as_ref().and_then(|filled| filled.queue),
                loss: loss(&flow, &found, side),
                own_lost,
            },
            offered_mbit_s: filled.map_or(0.0, |filled| filled.offered_mbit_s),
        })
    }

    fn judge(&self, name: &str, side: &Side, carries: &Carries, wrong: &mut Vec<String>) {
        let Direction { delay_ms, rate_mbit_s, queue_ms, loss, own_lost, .. } = &self.direction;
        let rate = side.rate_bit_s.map_or(0.0, |rate| rate as f64 / 1e6);
        let figures = [
            ("delay", "ms", Some(delay_ms)),
            ("rate", "Mbit/s", rate_mbit_s.as_ref()),
            ("delay of the full queue", "ms", queue_ms.as_ref()),
            ("loss of 1,000", "packets", Some(&loss.per_1000)),
        ];
        for (what, unit, figure) in figures {
            if let Some(Figure { asked, measured, .. }) = figure.filter(|figure| !figure.ok) {
                wrong.push(format!("{name}: the {what} is {measured:.3} {unit}, not {asked:.3}"));
            }
        }
        if loss.missed != loss.counted {
            let Loss { missed, counted, sent, .. } = loss;
            wrong.push(format!(
                "{name}: {missed} of {sent} packets were missing, and the link counted {counted}"
            ));
        }
        if *own_lost > 0 {
            wrong.push(format!("{name}: the link lost {own_lost} packets by itself"));
        }
        if rate > OF_CARRIED * carries.mbit_s {
            wrong.push(format!(
                "{name}: the link itself is the bottleneck: it carries {:.0} Mbit/s here, and {rate:.0} are asked for",
                carries.mbit_s
            ));
        } else if rate > 0.0 && rate_mbit_s.is_none() {
            wrong.push(format!(
                "{name}: nothing here fills its {rate:.0} Mbit/s: {:.0} were offered",
                self.offered_mbit_s
            ));
        }
    }
}

/// What a line did while more came than it takes.
struct Filled {
    rate: Option<Figure>,
    queue: Option<Figure>,
    offered_mbit_s: f64,
}

impl Filled {
    fn measure(link: &Link, from: &End, to: &End, (side, rate): (&Side, u64), base_ms: f64) -> Result<Self> {
        link.measure(clean(&link.spec.settings))?;
        let packet = link.spec.mtu as usize;
        let packet_ms = (packet * 8) as f64 / rate as f64 * 1e3;
        let (bytes, packets) = side.room(link.spec.settings.rtt_ns());
        // A queue takes whole packets.
        let held = (bytes / packet as u64).min(packets).max(1);
        let queue_ms = held as f64 * packet_ms;
        let full_after = Duration::from_secs_f64(queue_ms / 1e3 / (OVER - 1.0));
        let flow = run(link, from, to, &Plan {
            payload: packet - HEADERS,
            pace: Pace::Each(packet_ms * MS / OVER),
            duration: full_after + RATE_FOR,
            count: u64::MAX,
            silence: silence(side, queue_ms),
        })?;
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
            return Ok(Self { rate: None, queue: None, offered_mbit_s });
        }
        let waited_ms = median(&delays(full)) - base_ms;
        Ok(Self {
            rate: Some(Figure::new(asked, measured, asked * RATE_WITHIN)),
            queue: Some(Figure::new(queue_ms, waited_ms, DELAY_WITHIN_MS + 2.0 * packet_ms)),
            offered_mbit_s,
        })
    }
}

/// Datagrams one by one, each when the one before has arrived.
fn delay_flow(link: &Link, from: &End, to: &End, side: &Side) -> Result<Flow> {
    run(link, from, to, &Plan {
        payload: LEAST_PAYLOAD,
        pace: Pace::Each(5.0 * MS),
        duration: Duration::from_secs(30),
        count: DELAYS,
        silence: silence(side, 0.0),
    })
}

fn loss_flow(link: &Link, from: &End, to: &End, side: &Side) -> Result<Flow> {
    let bits = ((LEAST_PAYLOAD + HEADERS) * 8) as f64;
    let line = side.rate_bit_s.map_or(f64::INFINITY, |rate| rate as f64 / bits * LOSSES_OF_LINE);
    run(link, from, to, &Plan {
        payload: LEAST_PAYLOAD,
        pace: Pace::Each(1e9 / line.min(LOSSES_PER_S)),
        duration: Duration::from_secs(60),
        count: LOSSES,
        silence: silence(side, 0.0),
    })
}

/// In packets of full size and of the smallest.
fn carries(link: &Link) -> Result<Carries> {
    let free = |side: &Side| Side {
        rate_bit_s: None,
        delay_ns: 0,
        ..quiet(side)
    };
    let settings = &link.spec.settings;
    link.measure(Settings { up: free(&settings.up), down: free(&settings.down) })?;
    let a_second = |payload: usize| -> Result<f64> {
        let flow = run(link, link.near(), link.far(), &Plan {
            payload,
            pace: Pace::Window(WINDOW),
            duration: CARRY_FOR,
            count: u64::MAX,
            silence: SILENCE,
        })?;
        Ok(flow.arrivals.len() as f64 / CARRY_FOR.as_secs_f64())
    };
    let mtu = link.spec.mtu as usize;
    Ok(Carries {
        mbit_s: a_second(mtu - HEADERS)? * (mtu * 8) as f64 / 1e6,
        packets_s: a_second(LEAST_PAYLOAD)?,
    })
}

/// Delay, rate and queue alone.
fn clean(settings: &Settings) -> Settings {
    Settings {
        up: quiet(&settings.up),
        down: quiet(&settings.down),
    }
}

fn quiet(side: &Side) -> Side {
    Side {
        delay_ns: side.delay_ns,
        rate_bit_s: side.rate_bit_s,
        queue: side.queue,
        ..Side::default()
    }
}

/// A link that is dead at its start is measured as it is later.
fn alive(side: &Side) -> Side {
    Side { dead: false, ..side.clone() }
}

fn silence(side: &Side, queue_ms: f64) -> Duration {
    let way = Duration::from_nanos(side.delay_ns + side.jitter_ns + side.reorder_by_ns);
    way + Duration::from_secs_f64(queue_ms / 1e3) + SILENCE
}

fn run(link: &Link, from: &End, to: &End, plan: &Plan) -> Result<Flow> {
    let flow = flow::run(from, to, plan).map_err(|error| {
        Failure::setup(
            format!("the link {} cannot be measured: {error}", link.spec.text),
            "look at the machine's limits",
        )
    })?;
    link.check()?;
    Ok(flow)
}

fn nothing_came(link: &Link) -> Failure {
    Failure::setup(
        format!("nothing came through the link {}", link.spec.text),
        "measure it on a machine that is less busy",
    )
}

/// Of what arrived, the shortest first, ms.
fn delays(arrivals: &[Arrival]) -> Vec<f64> {
    let mut delays: Vec<f64> = arrivals
        .iter()
        .map(|one| (one.arrived_ns as f64 - one.sent_ns as f64) / MS)
        .collect();
    delays.sort_by(f64::total_cmp);
    delays
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

fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

fn loss(flow: &Flow, counts: &Counts, side: &Side) -> Loss {
    let mut numbers: Vec<u64> = flow.arrivals.iter().map(|one| one.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let sent = flow.sent as f64;
    // Five standard deviations of a binomial; packets of a bad spell are lost together.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One each millisecond, but that these arrived so much later, in ms.
    fn arrivals(late: &[(u64, u64)]) -> Vec<Arrival> {
        let late_of = |number| late.iter().find(|one| one.0 == number).map_or(0, |one| one.1);
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

    #[test]
    fn a_figure_is_good_within_its_bound_only() {
        assert!(Figure::new(50.0, 50.2, 0.2001).ok && Figure::new(50.0, 49.8, 0.2001).ok);
        assert!(!Figure::new(50.0, 50.3, 0.2).ok && !Figure::new(50.0, f64::NAN, 0.2).ok);
    }
}
