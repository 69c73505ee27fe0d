//! The datagrams of each part of a calibration, and the settings for each part.

use std::time::Duration;

use super::flow::{self, Flow, HEADERS, LEAST_PAYLOAD, MS, Pace, Plan};
use super::result::Carries;
use crate::failure::{Failure, Result};
use crate::link::counts::Counts;
use crate::link::ends::End;
use crate::link::settings::{Settings, Side};
use crate::link::{Link, State};

/// The number of datagrams that measure the loss.
const LOSSES: u64 = 2_000;
/// The highest rate of these datagrams, and the largest share of the line that they take.
const LOSSES_PER_S: f64 = 5_000.0;
const LOSSES_OF_LINE: f64 = 0.5;
/// Datagrams in flight while the calibration measures the link's capacity. The link's device can hold more.
const WINDOW: u64 = 1_000;
/// Silence after the last arrival, in addition to delay and queue.
const SILENCE: Duration = Duration::from_millis(150);

/// How long to measure. All amounts have the same bounds.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    /// The number of datagrams that measure the delay.
    delays: u64,
    /// How long the rate is measured once the queue is full.
    pub rate_for: Duration,
    /// How long the link's capacity is measured, for each packet size.
    carry_for: Duration,
}

pub const WHOLE: Amount = Amount {
    delays: 100,
    rate_for: Duration::from_millis(600),
    carry_for: Duration::from_millis(300),
};
pub const BRIEF: Amount = Amount {
    delays: 40,
    rate_for: Duration::from_millis(300),
    carry_for: Duration::from_millis(100),
};

/// One direction of a link.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    pub from: &'a End,
    pub to: &'a End,
    pub side: &'a Side,
    pub counts: fn(&State) -> Counts,
}

/// The directions up and down.
pub fn ways(link: &Link) -> [Way<'_>; 2] {
    let (near, far) = (link.near(), link.far());
    let Settings { up, down } = &link.spec.settings;
    let way = |from, to, side, counts| Way {
        from,
        to,
        side,
        counts,
    };
    [
        way(near, far, up, |state| state.up),
        way(far, near, down, |state| state.down),
    ]
}

/// A flow with few datagrams, so that none waits for another.
pub fn delay_flow(link: &Link, way: &Way<'_>, amount: Amount) -> Result<Flow> {
    let plan = Plan {
        payload: LEAST_PAYLOAD,
        together: 1,
        pace: Pace::Each(5.0 * MS),
        duration: Duration::from_secs(30),
        count: amount.delays,
        silence: silence(way.side, 0.0),
        once: true,
    };
    run(link, way, &plan)
}

pub fn loss_flow(link: &Link, way: &Way<'_>) -> Result<Flow> {
    let side = way.side;
    let bits = ((LEAST_PAYLOAD + HEADERS) * 8) as f64;
    let line = side
        .rate_bit_s
        .map_or(f64::INFINITY, |rate| rate as f64 / bits * LOSSES_OF_LINE);
    let plan = Plan {
        payload: LEAST_PAYLOAD,
        together: 1,
        pace: Pace::Each(1e9 / line.min(LOSSES_PER_S)),
        duration: Duration::from_secs(60),
        count: LOSSES,
        silence: silence(side, 0.0),
        once: side.duplicate == 0.0,
    };
    run(link, way, &plan)
}

/// Measures the capacity with packets of full size and of the smallest size.
pub fn carries(link: &Link, amount: Amount) -> Result<Carries> {
    let free = |side: &Side| Side {
        rate_bit_s: None,
        delay_ns: 0,
        ..quiet(side)
    };
    let settings = &link.spec.settings;
    link.measure(Settings {
        up: free(&settings.up),
        down: free(&settings.down),
    })?;
    let a_second = |payload: usize| -> Result<f64> {
        let plan = Plan {
            payload,
            together: usize::MAX,
            pace: Pace::Window(WINDOW),
            duration: amount.carry_for,
            count: u64::MAX,
            silence: SILENCE,
            once: true,
        };
        let flow = run(link, &ways(link)[0], &plan)?;
        Ok(flow.arrivals.len() as f64 / amount.carry_for.as_secs_f64())
    };
    let mtu = link.spec.mtu as usize;
    Ok(Carries {
        mbit_s: a_second(mtu - HEADERS)? * (mtu * 8) as f64 / 1e6,
        packets_s: a_second(LEAST_PAYLOAD)?,
    })
}

/// Settings with only delay, rate and queue.
pub fn clean(settings: &Settings) -> Settings {
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

/// Settings of a live link. A link that is dead at its start is measured as it is later.
pub fn alive(side: &Side) -> Side {
    Side {
        dead: false,
        ..side.clone()
    }
}

pub fn silence(side: &Side, queue_ms: f64) -> Duration {
    let way = Duration::from_nanos(side.delay_ns + side.jitter_ns + side.reorder_by_ns);
    way + Duration::from_secs_f64(queue_ms / 1e3) + SILENCE
}

pub fn run(link: &Link, way: &Way<'_>, plan: &Plan) -> Result<Flow> {
    let flow = flow::run(way.from, way.to, plan).map_err(Failure::of_limits(format!(
        "the link {} cannot be measured",
        link.spec.text
    )))?;
    link.check()?;
    Ok(flow)
}

pub fn nothing_came(link: &Link) -> Failure {
    Failure::setup(
        format!("nothing came through the link {}", link.spec.text),
        "measure it on a machine that is less busy",
    )
}
