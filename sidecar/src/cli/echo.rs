//! `sidecar echo`.

use std::net::{IpAddr, Ipv4Addr};

use clap::Args;

use super::say;
use super::up::Interrupts;
use crate::echo::faults::{Faults, Stall};
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
    /// Hold all answers once, for this time
    #[arg(
        long,
        value_name = "MS",
        requires = "stall_after",
        help_heading = "Faults"
    )]
    stall_ms: Option<u64>,
    /// Begin the stall after this number of answers
    #[arg(long, value_name = "N", requires = "stall_ms", help_heading = "Faults")]
    stall_after: Option<u64>,
    #[command(flatten)]
    faults: Faults,
}

impl Echo {
    /// Prints the addresses and, when interrupted, the counts, as JSON lines.
    pub fn run(self) -> Result<u8> {
        crate::process::files::raise_limit();
        let interrupts = Interrupts::listen()?;
        let stall = self.stall_after.zip(self.stall_ms);
        let faults = Faults {
            stall: stall.map(|(after, ms)| Stall { after, ms }),
            ..self.faults
        };
        let none = Faults {
            seed: faults.seed,
            ..Faults::default()
        };
        let server = Server::start(Request {
            host: self.host,
            engine: self.engine,
            cpus: self.cpus,
            wait: self.wait,
            faults: (faults != none).then_some(faults),
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
