//! `sidecar probe`.

use std::net::Ipv4Addr;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::tls::TlsOptions;
use super::up::Interrupts;
use super::{Targets, probe_table, say};
use crate::echo::transfer::Transfer;
use crate::echo::zone::Zone;
use crate::echo::{Echo, Engine, Request};
use crate::failure::{Failure, Result, exit_code, refuse};
use crate::net::wait::Wait;
use crate::probe::far_end::FarEnd;
use crate::probe::observer::Observer;
use crate::probe::plan::{Allowed, Plan};
use crate::probe::registry::{Registry, State};
use crate::probe::spec::{DnsSpec, FetchSpec, FlowSpec, Loop, NatSpec, ProbeKind, ProxySpec, Spec};

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The environment variable with the proxy's password.
const PASSWORD: &str = "SOCKS_PASSWORD";

#[derive(Args)]
pub struct Probe {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Subcommand)]
enum Kind {
    /// Round trips over established connections
    Tcp(Options),
    /// Datagrams, with a window in flight
    Udp(Options),
    /// From TCP dial to a usable tunnel, by stages
    Handshake(Options),
    /// Bulk transfer
    Throughput(With<Transfer>),
    /// Many tunnels open at once
    Concurrency(Options),
    /// DNS queries over UDP, with a window in flight
    Dns(With<DnsSpec>),
    /// Objects from the far end: pages, or segments of a stream
    Fetch(FetchOptions),
    /// Tunnels that are kept full for a time, with requests on the same tunnels
    Flow(With<FlowSpec>),
    /// How a UDP association behaves: mapping, filtering, idle life
    Nat(NatOptions),
}

#[derive(Args)]
struct NatOptions {
    #[command(flatten)]
    options: Options,
    /// Idle times that are tried side by side, seconds
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = NatSpec::default().idle_s)]
    idle_s: Vec<f64>,

    /// Two addresses of this machine, at which the far ends are
    #[arg(long, value_name = "ADDRESS,ADDRESS", value_delimiter = ',', default_values_t = NatSpec::default().far_ends)]
    far_ends: Vec<Ipv4Addr>,
}

fn timeout_help() -> String {
    use ProbeKind::{Dns, Nat, Tcp, Udp};
    let [udp, nat, dns, other] = [Udp, Nat, Dns, Tcp].map(ProbeKind::timeout_ms);
    format!(
        "Timeout of one operation, milliseconds [default: {udp} for udp, {nat} for nat, {dns} for dns, else {other}]"
    )
}

/// Common options of the probes, with the options of one kind of probe.
#[derive(Args)]
struct With<T: Args> {
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    spec: T,
}

#[derive(Args)]
struct FetchOptions {
    #[command(flatten)]
    with: With<FetchSpec>,
    /// Fetch from a web server over one connection instead, which each operation opens
    #[arg(long, value_enum, conflicts_with_all = ["tunnels", "fresh"])]
    http: Option<Http>,
}

/// HTTP/2 over TLS over TCP, or HTTP/3 over QUIC.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Http {
    H2,
    H3,
}

#[derive(Args)]
struct Options {
    /// The SOCKS5 proxy
    #[arg(
        long,
        value_name = "HOST:PORT",
        required_unless_present = "direct",
        conflicts_with = "direct"
    )]
    proxy: Option<String>,
    /// Connect without a proxy, as the baseline
    #[arg(long)]
    direct: bool,
    /// The proxy's user name; the password is in SOCKS_PASSWORD
    #[arg(long, value_name = "NAME", requires = "proxy")]
    user: Option<String>,
    #[command(flatten)]
    tls: TlsOptions,
    /// The target, requested from the proxy or dialled directly [default: an echo server in this process]
    #[arg(long, value_name = "HOST:PORT")]
    target: Option<String>,
    /// Measured operations
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    count: u64,
    /// Operations before the measured ones, which are not recorded
    #[arg(long, value_name = "N", default_value_t = 0)]
    warmup: u64,
    #[arg(long, value_name = "N", default_value_t = 1)]
    connections: u64,
    /// Payload of one operation, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1_024)]
    payload: u64,
    /// Datagrams in flight
    #[arg(long, value_name = "N", default_value_t = 1)]
    window: u64,
    /// Open loop: operations per second, latency from the intended time [default: closed loop]
    #[arg(long, value_name = "PER_S")]
    rate: Option<f64>,
    #[arg(long, value_name = "MS", help = timeout_help())]
    timeout_ms: Option<u64>,
    /// Seconds after which no operation begins; operations under way have their own timeout
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    limit_s: f64,
    /// CPUs for the probe's threads, as in 0,2 [default: not pinned]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cpus: Vec<usize>,
    #[arg(long, value_enum, default_value = "block")]
    wait: Wait,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    targets: Targets,
}

impl Probe {
    pub fn run(self) -> Result<u8> {
        let mut spec = Spec::new(ProbeKind::Tcp, String::new());
        let (kind, options) = match self.kind {
            Kind::Tcp(options) => (ProbeKind::Tcp, options),
            Kind::Udp(options) => (ProbeKind::Udp, options),
            Kind::Handshake(options) => (ProbeKind::Handshake, options),
            Kind::Concurrency(options) => (ProbeKind::Concurrency, options),
            Kind::Throughput(more) => {
                spec.transfer = Some(more.spec);
                (ProbeKind::Throughput, more.options)
            }
            Kind::Dns(more) => {
                spec.dns = Some(more.spec);
                (ProbeKind::Dns, more.options)
            }
            Kind::Flow(more) => {
                spec.flow = Some(more.spec);
                (ProbeKind::Flow, more.options)
            }
            Kind::Nat(NatOptions {
                options,
                idle_s,
                far_ends,
            }) => {
                let far_ends = far_ends.try_into().map_err(|_| {
                    Failure::invalid("--far-ends: give two addresses", "separate them by a comma")
                })?;
                spec.nat = Some(NatSpec { idle_s, far_ends });
                (ProbeKind::Nat, options)
            }
            Kind::Fetch(more) => {
                spec.fetch = Some(more.with.spec);
                let kind = match more.http {
                    None => ProbeKind::Fetch,
                    Some(Http::H2) => ProbeKind::H2,
                    Some(Http::H3) => ProbeKind::H3,
                };
                (kind, more.with.options)
            }
        };
        let json = options.json;
        crate::process::files::raise_limit();
        let interrupts = Interrupts::listen()?;
        let allowed = Allowed(options.targets.allow_target.clone());
        let echo = match &options.target {
            Some(_) => None,
            None => Some(start_echo(kind, options.connections)?),
        };
        let own = echo.as_ref().map(|echo| match kind {
            kind if kind.over_udp() => echo.udp.to_string(),
            _ => echo.tcp.to_string(),
        });
        spec.kind = kind;
        spec.target = options.target.clone().or(own).unwrap_or_default();
        options.put_into(&mut spec)?;
        let plan = Plan::check(spec, &allowed)?;
        let registry = Registry::new(allowed);
        let far_end = echo.as_ref().map(|echo| FarEnd::new(echo, false));
        let id = registry.start(plan, None, Observer::default(), far_end)?;
        let probe = loop {
            let probe = registry.probe(&id, LOOK_EVERY)?;
            if probe.state != State::Running {
                break probe;
            }
            if interrupts.interrupted() {
                registry.end();
            }
        };
        if json {
            say(serde_json::to_string(&probe).unwrap_or_default());
        } else if let Some(outcome) = probe.outcome.iter().flatten().next() {
            say(probe_table::outcome(outcome).trim_end());
        }
        match (probe.state, probe.error) {
            (State::Failed, Some(error)) => Err(Failure::setup(
                format!("{}: {error}", error.kind),
                "look at the proxy and at the target",
            )),
            (State::Cancelled, _) => Ok(exit_code("interrupted")),
            _ => Ok(0),
        }
    }
}

impl Options {
    fn put_into(self, spec: &mut Spec) -> Result<()> {
        let password = self.user.as_ref().and(std::env::var(PASSWORD).ok());
        refuse(
            self.user.is_some() && password.is_none(),
            &format!("--user is given and {PASSWORD} is not"),
            &format!("put the password in the environment variable {PASSWORD}"),
        )?;
        let tls = self.tls.spec()?;
        spec.proxy = self.proxy.map(|address| ProxySpec {
            address,
            username: self.user,
            password,
            tls,
        });
        spec.pace = self
            .rate
            .map_or(Loop::Closed, |rate_per_s| Loop::Open { rate_per_s });
        spec.count = self.count;
        spec.warmup = self.warmup;
        spec.connections = self.connections;
        spec.payload_bytes = self.payload;
        spec.window = self.window;
        spec.timeout_ms = self.timeout_ms;
        spec.limit_s = self.limit_s;
        spec.cpus = self.cpus;
        spec.wait = self.wait;
        Ok(())
    }
}

/// An echo server in this process, which is not pinned to CPUs.
fn start_echo(kind: ProbeKind, connections: u64) -> Result<Echo> {
    // The blocking engine ends connections that are idle between two transfers.
    let idle = kind == ProbeKind::Fetch;
    let many = kind == ProbeKind::Concurrency || connections > 64;
    Echo::start(Request {
        engine: if many || idle {
            Engine::Events
        } else {
            Engine::Blocking
        },
        dns: (kind == ProbeKind::Dns).then(Zone::default),
        web: kind.of_web(),
        ..Request::default()
    })
}
