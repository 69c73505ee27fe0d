//! Opening all tunnels at the start.

use super::drive::{Drive, Happened};
use crate::net::clock::now_ns;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::outcome::Stopped;
use crate::probe::recorder::{Errors, Series};

pub struct Opened {
    /// Slots whose tunnel was open.
    pub usable: Vec<usize>,
    /// Time from dial to usable, of each tunnel.
    pub series: Series,
    /// The first dial, and the last tunnel that opened or failed.
    pub began_ns: u64,
    pub ended_ns: u64,
    pub first_error: Option<ProbeError>,
    pub errors: Errors,
    pub stopped: Option<Stopped>,
}

pub fn open_all(drive: &mut Drive<'_>) -> std::io::Result<Opened> {
    let spec = &drive.plan.spec;
    let began_ns = now_ns();
    let mut all = Opened {
        usable: Vec::new(),
        series: Series::new("open", spec.connections, spec.keep),
        began_ns,
        ended_ns: began_ns,
        first_error: None,
        errors: Errors::default(),
        stopped: None,
    };
    for index in 0..drive.slots.len() {
        drive.open(index);
    }
    while drive.opening() && all.stopped.is_none() {
        drive.turn(u64::MAX)?;
        all.stopped = drive.stopped();
    }
    for happened in drive.happened.drain(..) {
        match happened {
            Happened::Opened { began_ns, ended_ns } => {
                all.series.record(ended_ns, ended_ns - began_ns);
                all.ended_ns = ended_ns;
            }
            Happened::NotOpened { error, ended_ns } => {
                all.ended_ns = ended_ns;
                all.errors.add(error.kind, 1);
                all.first_error.get_or_insert(error);
            }
            Happened::Sent { .. } | Happened::Answered { .. } | Happened::Failed { .. } => {}
        }
    }
    all.usable = drive.usable();
    if all.stopped == Some(Stopped::Limit) {
        let ended = all.usable.len() as u64 + all.errors.total();
        let asked = drive.slots.len() as u64;
        all.errors.add(ErrorKind::Cut, asked.saturating_sub(ended));
    }
    Ok(all)
}
