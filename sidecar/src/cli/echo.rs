//! `sidecar echo`.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;

use super::say;
use super::up::Interrupts;
use crate::echo::faults::{Faults, Stall, TcpFaults};
use crate::echo::zone::Zone;
use crate::echo::{Echo as Server, Engine, Request};
use crate::failure::{Failure, Kind, Result};
use crate::net::wait::Wait;

#[derive(Args)]
pub struct Echo {
    /// Loopback address
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// Port 0 means any free port
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    tcp_port: u16,
    /// Port 0 means any free port
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    udp_port: u16,
    /// Engine; faults need the events engine
    #[arg(long, value_enum, default_value = "blocking")]
    engine: Engine,
    /// CPUs for its threads, as in 0,2 [default: not pinned]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cpus: Vec<usize>,
    #[arg(long, value_enum, default_value = "block")]
    wait: Wait,
    /// Serve authoritative DNS for windtunnel.test instead of an echo; its records have this TTL
    #[arg(long, value_name = "TTL_S")]
    dns: Option<u32>,
    /// Serve HTTP/2 and HTTP/3 instead of an echo; of the faults it has only the delay
    #[arg(long, conflicts_with = "dns")]
    web: bool,
    #[command(flatten)]
    faults: FaultOptions,
}

#[derive(Args)]
#[command(next_help_heading = "Faults")]
struct FaultOptions {
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Delay of each answer
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    delay_ms: f64,
    /// Additional delay of each answer, uniform from 0 to this
    #[arg(long, value_name = "MS", default_value_t = 0.0)]
    jitter_ms: f64,
    /// Fraction of datagrams without an answer
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    loss: f64,
    /// Fraction of datagrams that get two answers
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    duplicate: f64,
    /// Fraction of datagrams whose answer is held back until 3 other answers are sent
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    reorder: f64,
    /// Hold all answers once, for this time
    #[arg(long, value_name = "MS", requires = "stall_after")]
    stall_ms: Option<u64>,
    /// Begin the stall after this number of answers
    #[arg(long, value_name = "N", requires = "stall_ms")]
    stall_after: Option<u64>,
    /// Limit of the total payload, bytes per second
    #[arg(long, value_name = "BYTES")]
    rate: Option<u64>,
    /// Fraction of answers with one wrong byte
    #[arg(long, value_name = "FRACTION", default_value_t = 0.0)]
    corrupt: f64,
    /// Cut answers over UDP to this size
    #[arg(long, value_name = "BYTES")]
    truncate: Option<usize>,
    /// TCP: never answer
    #[arg(long)]
    silent: bool,
    /// TCP: reset a connection after this number of answers
    #[arg(long, value_name = "N")]
    reset_after: Option<u64>,
    /// TCP: end a connection after this number of answers
    #[arg(long, value_name = "N")]
    close_after: Option<u64>,
}

impl FaultOptions {
    /// `None` if no fault is set.
    fn faults(self) -> Option<Faults> {
        let seed = self.seed;
        let stall = self.stall_after.zip(self.stall_ms);
        let faults = Faults {
            seed,
            delay_ms: self.delay_ms,
            jitter_ms: self.jitter_ms,
            loss: self.loss,
            duplicate: self.duplicate,
            reorder: self.reorder,
            stall: stall.map(|(after, ms)| Stall { after, ms }),
            rate_bytes_per_s: self.rate,
            corrupt: self.corrupt,
            truncate: self.truncate,
            tcp: TcpFaults {
                silent: self.silent,
                reset_after: self.reset_after,
                close_after: self.close_after,
                farewell: false,
            },
        };
        let none = Faults {
            seed,
            ..Faults::default()
        };
        (faults != none).then_some(faults)
    }
}

impl Echo {
    /// Prints the addresses and, when interrupted, the counts, as JSON lines.
    pub fn run(self) -> Result<u8> {
        crate::process::files::raise_limit();
        let interrupts = Interrupts::listen()?;
        let server = Server::start(Request {
            host: self.host,
            engine: self.engine,
            cpus: self.cpus,
            wait: self.wait,
            faults: self.faults.faults(),
            dns: self.dns.map(|ttl_s| Zone { ttl_s }),
            tls: false,
            web: self.web,
            destinations: 1,
            namespace: None,
            tcp_port: self.tcp_port,
            udp_port: self.udp_port,
        })?;
        say(serde_json::json!({"tcp": server.tcp, "udp": server.udp}));
        interrupts
            .arrived
            .recv()
            .map_err(|_| Failure::new(Kind::Setup, "signals cannot be received", "report it"))?;
        server.stop();
        say(serde_json::to_string(&server.state()).unwrap_or_default());
        Ok(0)
    }
}
