//! Opening all tunnels at the start.

use super::drive::{Drive, Happened, Hears};
use crate::net::clock::now_ns;
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::outcome::Stopped;
use crate::probe::recorder::{Errors, Series};

pub struct Opened {
    /// Slots whose tunnel was open.
    pub usable: Vec<usize>,
    /// Time from dial to usable, of each tunnel.
    pub series: Series,
    /// Time from the first dial to the last tunnel that opened or failed.
    pub took_ns: u64,
    pub first_error: Option<ProbeError>,
    pub errors: Errors,
    pub stopped: Option<Stopped>,
}

struct Heard {
    series: Series,
    ended_ns: u64,
    first_error: Option<ProbeError>,
    errors: Errors,
}

impl Hears for Heard {
    fn hear(&mut self, happened: Happened) {
        match happened {
            Happened::Opened { began_ns, ended_ns } => {
                self.series.record(ended_ns, ended_ns - began_ns);
                self.ended_ns = ended_ns;
            }
            Happened::NotOpened(error) => {
                self.ended_ns = now_ns();
                self.errors.add(error.kind, 1);
                self.first_error.get_or_insert(error);
            }
            Happened::Sent { .. } | Happened::Answered { .. } | Happened::Failed { .. } => {}
        }
    }
}

pub fn open_all(drive: &mut Drive<'_>) -> std::io::Result<Opened> {
    let spec = &drive.plan.spec;
    let began_ns = now_ns();
    let mut heard = Heard {
        series: Series::new("open", spec.connections, spec.keep),
        ended_ns: began_ns,
        first_error: None,
        errors: Errors::default(),
    };
    for index in 0..drive.slots.len() {
        drive.open(index, &mut heard);
    }
    let mut stopped = None;
    while drive.opening() && stopped.is_none() {
        drive.turn(u64::MAX, &mut heard)?;
        stopped = drive.stopped();
    }
    let usable = drive.usable();
    if stopped == Some(Stopped::Limit) {
        let ended = usable.len() as u64 + heard.errors.total();
        let asked = drive.slots.len() as u64;
        heard
            .errors
            .add(ErrorKind::Cut, asked.saturating_sub(ended));
    }
    Ok(Opened {
        usable,
        series: heard.series,
        took_ns: heard.ended_ns - began_ns,
        first_error: heard.first_error,
        errors: heard.errors,
        stopped,
    })
}
