//! `sidecar link`.

use clap::Args;
use serde_json::json;

use super::up::Interrupts;
use super::{Place, say};
use crate::failure::{Result, exit_code};
use crate::link::calibrate::{Calibration, Figure, WHOLE, calibrate};
use crate::link::{End, Link, spec};
use crate::testbed::catalogue::Catalogue;

pub fn list(place: Place) -> Result<u8> {
    let root = Catalogue::find(place.root)?.root;
    for name in spec::names(&root) {
        say(format_args!(
            "{name:15} {}",
            spec::read(&root, &name)?.title
        ));
    }
    Ok(0)
}

/// The link, and the CPUs of its thread.
#[derive(Args)]
pub struct Which {
    /// A name from `sidecar link list`, items such as rtt:100ms,rate:50mbit,loss:1%,queue:1bdp, or both
    link: String,
    /// CPUs of the link's thread [default: any]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    cpus: Vec<usize>,
    #[command(flatten)]
    place: Place,
}

impl Which {
    fn start(self) -> Result<Link> {
        let root = Catalogue::find(self.place.root)?.root;
        Link::start(spec::read(&root, &self.link)?, &self.cpus)
    }
}

/// Makes the link and removes it. Exit code 2 means that the text is wrong, and 4 that this machine or user cannot make links.
pub fn check(which: Which) -> Result<u8> {
    which.start().map(|_| 0)
}

pub fn up(which: Which) -> Result<u8> {
    let interrupts = Interrupts::listen()?;
    let link = which.start()?;
    let end = |end: &End| json!({"namespace": end.namespace.path(), "address": end.place.address});
    say(json!({"near": end(link.near()), "far": end(link.far())}));
    eprintln!(
        "sidecar: the link {} is up: nsenter --net=NAMESPACE COMMAND runs at one end; Ctrl-C stops it",
        link.spec.text
    );
    let _ = interrupts.arrived.recv();
    let state = link.state();
    link.check()?;
    say(json!({"up": state.up, "down": state.down, "cpu_s": state.cpu_s}));
    Ok(0)
}

#[derive(Args)]
pub struct Calibrate {
    #[command(flatten)]
    which: Which,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Calibrate {
    pub fn run(self) -> Result<u8> {
        let calibration = calibrate(&self.which.start()?, WHOLE)?;
        if self.json {
            say(serde_json::to_string(&calibration).unwrap_or_default());
        } else {
            print(&calibration);
        }
        let differs = exit_code("inconclusive");
        Ok(if calibration.ok { 0 } else { differs })
    }
}

fn print(found: &Calibration) {
    say(format_args!(
        "{:24} {:>12} {:>12} {:>10}",
        found.text, "asked", "measured", "within"
    ));
    for (name, side) in [("up", &found.up), ("down", &found.down)] {
        let figures = [
            ("delay, ms", Some(side.delay_ms)),
            ("rate, Mbit/s", side.rate_mbit_s),
            ("full queue, ms", side.queue_ms),
            ("lost of 1,000", Some(side.loss.per_1000)),
        ];
        for (title, figure) in figures {
            let Some(Figure {
                asked,
                measured,
                within,
                ..
            }) = figure
            else {
                continue;
            };
            let title = format!("{name}: {title}");
            say(format_args!(
                "{title:24} {asked:12.3} {measured:12.3} {within:10.3}"
            ));
        }
        say(format_args!(
            "{:24} {:>12} {:12}",
            format!("{name}: own losses"),
            0,
            side.own_lost
        ));
    }
    let carries = &found.carries;
    say(format_args!(
        "capacity on this machine: {:.0} Mbit/s, {:.0} packets/s",
        carries.mbit_s, carries.packets_s
    ));
    for wrong in &found.wrong {
        say(format_args!("wrong: {wrong}"));
    }
}
