//! `sidecar serve`.

use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use clap::Args;
use nix::sys::signalfd::SfdFlags;
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::{Starts, Targets, say};
use crate::api;
use crate::api::token::Token;
use crate::failure::{Failure, Result, refuse};
use crate::probe::plan::Allowed;
use crate::probe::registry::Registry;
use crate::process::signals::{END, Signals};

#[derive(Args)]
pub struct Serve {
    /// Loopback address and port; port 0 means any free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Stop everything and exit when standard input ends
    #[arg(long)]
    exit_with_stdin: bool,
    #[command(flatten)]
    targets: Targets,
    #[command(flatten)]
    starts: Starts,
}

impl Serve {
    pub fn run(self) -> Result<u8> {
        refuse(
            !self.listen.ip().is_loopback(),
            &format!("--listen {}: this is not a loopback address", self.listen),
            "give 127.0.0.1:PORT",
        )?;
        let failed = Failure::of_limits("the sidecar cannot start");
        crate::process::files::raise_limit();
        let token = Token::from_environment()?;
        let signals = Signals::block(&END, SfdFlags::empty()).map_err(&failed)?;
        let supervisor = self.starts.supervisor()?;
        let probes = Registry::new(Allowed(self.targets.allow_target));
        let end = Arc::new(Notify::new());
        let on_signal = Arc::clone(&end);
        std::thread::spawn(move || {
            signals.next();
            on_signal.notify_one();
        });
        if self.exit_with_stdin {
            let on_end = Arc::clone(&end);
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut std::io::stdin().lock().by_ref(), &mut std::io::sink());
                on_end.notify_one();
            });
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(&failed)?;
        let served = runtime.block_on(serve(
            self.listen,
            &token,
            api::router(Arc::clone(&supervisor), Arc::clone(&probes), token.clone()),
            &end,
        ));
        probes.end();
        supervisor.end();
        runtime.shutdown_background();
        served.map(|()| 0)
    }
}

async fn serve(listen: SocketAddr, token: &Token, router: Router, end: &Notify) -> Result<()> {
    let failed = Failure::of_setup(
        format!("--listen {listen}"),
        "give another port, or 0 for any free one",
    );
    let listener = TcpListener::bind(listen).await.map_err(&failed)?;
    let address = listener.local_addr().map_err(&failed)?;
    say(serde_json::json!({"url": format!("http://{address}"), "token": token.reveal()}));
    tokio::select! {
        served = axum::serve(listener, router) => served.map_err(&failed),
        () = end.notified() => Ok(()),
    }
}
