//! The command line.

mod bench;
mod echo;
mod limits;
mod link;
mod probe;
mod probe_table;
mod run;
mod sample;
mod serve;
mod table;
mod testbed;
mod tls;
mod up;

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};

use crate::failure::{Result, exit_code};
use crate::testbed::catalogue::Catalogue;
use crate::testbed::supervisor::Supervisor;

fn exit_codes() -> String {
    let [usage, other, setup, interrupted] =
        ["usage", "inconclusive", "setup", "interrupted"].map(exit_code);
    format!(
        "Exit codes: 0 done, {usage} wrong usage or a malformed testbed file, {setup} a system or worker could not be set up, {interrupted} a start was interrupted, {other} `link calibrate` found another link than was asked for. \
`testbed run` exits with its command's code (128 + N where signal N ended it)."
    )
}

#[derive(Parser)]
#[command(name = "sidecar", version, about = "Starts the systems that Windtunnel measures, samples their resource usage, and removes everything at the end.", after_help = exit_codes())]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the HTTP interface on loopback; the first line printed is {"url":"http://…","token":"…"}
    #[command(after_help = exit_codes())]
    Serve(serve::Serve),
    /// List, show and run testbeds
    #[command(subcommand, after_help = exit_codes())]
    Testbed(Testbed),
    /// Measure a SOCKS5 proxy, or a server directly
    #[command(after_help = exit_codes())]
    Probe(probe::Probe),
    /// Echo over TCP and UDP until Ctrl-C, with faults for known answers: the far end of a probe
    #[command(after_help = exit_codes())]
    Echo(echo::Echo),
    /// List, measure and start links: delay, rate, queue and loss between two network namespaces
    #[command(subcommand, after_help = exit_codes())]
    Link(Link),
    /// Check that this machine can set limits; print them in one form
    #[command(after_help = exit_codes())]
    Limits(limits::Check),
    /// Measure the basic operations of a proxy on this machine
    #[command(subcommand)]
    Bench(Bench),
    /// Measure CPU time and peak memory of a running process, with its descendants
    #[command(after_help = exit_codes())]
    Sample(sample::Sample),
    /// Print the JSON Schemas of testbed files and of the HTTP interface's answers
    Schema,
}

#[derive(Subcommand)]
enum Testbed {
    /// List the testbeds
    List(Place),
    /// Show a testbed's variables
    Show(testbed::Show),
    /// Check values of a testbed's variables, and print the values and all errors as JSON
    Check(testbed::Check),
    /// Print the make targets that a start needs, one per line
    Needs(testbed::Needs),
    /// Start a testbed and keep it until Ctrl-C
    Up(up::Up),
    /// Start a testbed, run a command with its outputs as environment, stop it
    Run(run::Run),
}

#[derive(Subcommand)]
enum Bench {
    /// Measure the cost of encryption, hashes, rule sets, buffers and memory on this machine; k6 x primitives judges the results
    #[command(after_help = exit_codes())]
    Primitives(bench::Primitives),
}

#[derive(Subcommand)]
enum Link {
    /// List the links in links/
    List(Place),
    /// Check that this machine can make a link; print nothing if it can
    Check(link::Which),
    /// Start a link and keep it until Ctrl-C, for other meters; prints the namespaces of its ends and its counts
    Up(link::Which),
    /// Measure whether a link matches its settings: delay, rate, queue, loss, and its capacity on this machine
    Calibrate(link::Calibrate),
}

/// The folder of the testbeds.
#[derive(Args)]
struct Place {
    /// The repository's root [default: WINDTUNNEL_ROOT, or the first folder upwards with testbeds/]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// Options that all starts of testbeds share.
#[derive(Args)]
struct Starts {
    /// Limit CPU and memory of the system's processes: cpu:PERCENT%, memory:SIZE or both, such as cpu:50%,memory:64mib
    #[arg(long, value_name = "LIMITS")]
    limits: Option<String>,
    #[command(flatten)]
    place: Place,
    /// Folder for the logs; each start gets its own folder in it [default: ROOT/results/sidecar-logs]
    #[arg(long, value_name = "DIR")]
    log_dir: Option<PathBuf>,
}

impl Starts {
    fn supervisor(&self) -> Result<Arc<Supervisor>> {
        let limits = self.limits.as_deref().map(str::parse).transpose()?;
        let catalogue = Catalogue::find(self.place.root.clone())?;
        Supervisor::new(catalogue, self.log_dir.clone(), limits)
    }
}

/// The allowed targets of probes.
#[derive(Args)]
struct Targets {
    /// Allow probes to these hosts too; the default is loopback only [repeatable]
    #[arg(long, value_name = "HOST,…", value_delimiter = ',')]
    allow_target: Vec<String>,
}

/// Prints one line. A reader that has ended (`| head`) is not an error.
fn say(line: impl std::fmt::Display) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Runs the command line and returns the exit code.
pub fn run() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() {
                exit_code("usage")
            } else {
                0
            };
        }
    };
    let result: Result<u8> = match cli.command {
        Command::Serve(serve) => serve.run(),
        Command::Testbed(Testbed::List(place)) => testbed::list(place),
        Command::Testbed(Testbed::Show(show)) => show.run(),
        Command::Testbed(Testbed::Check(check)) => check.run(),
        Command::Testbed(Testbed::Needs(needs)) => needs.run(),
        Command::Testbed(Testbed::Up(up)) => up.run(),
        Command::Testbed(Testbed::Run(run)) => run.run(),
        Command::Probe(probe) => probe.run(),
        Command::Echo(echo) => echo.run(),
        Command::Link(Link::List(place)) => link::list(place),
        Command::Link(Link::Check(which)) => link::check(which),
        Command::Link(Link::Up(which)) => link::up(which),
        Command::Link(Link::Calibrate(calibrate)) => calibrate.run(),
        Command::Limits(check) => check.run(),
        Command::Bench(Bench::Primitives(primitives)) => primitives.run(),
        Command::Sample(sample) => sample.run(),
        Command::Schema => {
            say(crate::schema::all());
            Ok(0)
        }
    };
    result.unwrap_or_else(|failure| {
        eprintln!("sidecar: {failure}");
        failure.exit_code()
    })
}
