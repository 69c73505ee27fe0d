//! Objects of a web server of this sidecar ([`crate::echo::web`]), by HTTP/3 over QUIC or by HTTP/2 over TLS over TCP (sidecar/README.md, Probes).
//! `handshake_timeout` bounds the tunnel and, after that, the handshake.

mod session;
mod socket;

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::context::Context;
use super::far_end::Moved;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::{Outcome, Quic};
use super::plan::Plan;
use super::socks5::client::{self, Deadline};
use super::socks5::codec::Address;
use super::spec::ProbeKind;
use super::stream::Stream;
use super::threads::{self, Done, Worker};
use super::udp;
use crate::echo::bulk::Header;
use crate::lock::lock;
use crate::net::clock::now_ns;
use session::{Asked, Session};
use socket::Wrapped;

/// From the operation's begin: the handshake is over, and the document is here.
const PARTS: [&str; 2] = ["connected", "first_object"];
/// The longest wait at once, so that the thread sees a cancel.
const SLICE: Duration = Duration::from_millis(100);
/// How long the end of a connection may take to go out.
const FAREWELL: Duration = Duration::from_millis(5);

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let quic = Mutex::new(Quic::default());
    let worker = || Client {
        plan,
        context,
        quic: &quic,
        runtime: None,
    };
    let mut outcome = threads::run(plan, context, PARTS, worker)?;
    // The time of a single object is the total.
    outcome
        .series
        .retain(|series| series.name != "first_object" || plan.fetch.objects > 1);
    let quic = quic.into_inner().unwrap_or_else(PoisonError::into_inner);
    outcome.quic = (plan.spec.kind == ProbeKind::H3).then_some(quic);
    Ok(outcome)
}

struct Client<'a> {
    plan: &'a Plan,
    context: &'a Context,
    quic: &'a Mutex<Quic>,
    /// The next operation's runtime. It ends with all that the operation has started.
    runtime: Option<Runtime>,
}

impl Client<'_> {
    /// Waits for a step until a moment, or until the probe is cancelled.
    async fn within<T>(
        &self,
        until_ns: u64,
        step: impl Future<Output = Result<T, ProbeError>>,
        late: impl FnOnce() -> ProbeError,
    ) -> Result<T, ProbeError> {
        let mut step = pin!(step);
        loop {
            let left = Duration::from_nanos(until_ns.saturating_sub(now_ns()));
            match timeout(SLICE.min(left), step.as_mut()).await {
                Ok(done) => return done,
                Err(_) if now_ns() >= until_ns || self.context.cancelled() => return Err(late()),
                Err(_) => {}
            }
        }
    }

    async fn handshake(
        &self,
        opening: impl Future<Output = Result<Session, ProbeError>>,
        late: impl FnOnce() -> ProbeError,
    ) -> Result<Session, ProbeError> {
        let until_ns = now_ns() + self.plan.handshake_timeout.as_nanos() as u64;
        self.within(until_ns, opening, late).await
    }

    /// Fetches all objects. Returns when the connection was ready, and when the document and all objects were here.
    async fn objects(
        &self,
        session: &Session,
        asked: &Arc<Asked>,
        until_ns: u64,
    ) -> Result<[u64; 3], ProbeError> {
        let connected_ns = now_ns();
        let late = || ProbeError::late("objects");
        self.within(until_ns, session.objects(1, asked), late)
            .await?;
        let document_ns = now_ns();
        let others = session.objects(self.plan.fetch.objects - 1, asked);
        self.within(until_ns, others, late).await?;
        Ok([connected_ns, document_ns, now_ns()])
    }

    fn over_tcp(
        &self,
        runtime: &Runtime,
        asked: &Arc<Asked>,
        until_ns: u64,
    ) -> Result<[u64; 3], ProbeError> {
        let deadline = Deadline::of_handshake(self.plan, self.context);
        let (stream, _) = client::open(self.plan, &deadline)?;
        // The plan has no TLS with the proxy.
        let Stream::Plain(tunnel) = stream else {
            return Err(ProbeError::new(ErrorKind::Tls, "h2: TLS with the proxy"));
        };
        let late = || ProbeError::late("TLS handshake with the far end");
        runtime.block_on(async {
            let opening = session::over_tcp(tunnel);
            let session = self.handshake(opening, late).await?;
            self.objects(&session, asked, until_ns).await
        })
    }

    fn over_quic(
        &self,
        runtime: &Runtime,
        asked: &Arc<Asked>,
        until_ns: u64,
    ) -> Result<[u64; 3], ProbeError> {
        let (peer, header, mut control) = udp::path(self.plan, self.context)?;
        let target = match self.plan.target {
            Address::Ip(address) => address,
            // The proxy looks the name up. QUIC wants an address, and no datagram goes there.
            Address::Domain(_, port) => SocketAddr::from(([127, 0, 0, 1], port)),
        };
        let inside = runtime.enter();
        let socket = Wrapped::new(peer, header, target)
            .map_err(|error| ProbeError::io(format_args!("UDP {peer}"), &error))?;
        drop(inside);
        let socket = Arc::new(socket);
        let fetched = runtime.block_on(async {
            let opening = session::over_quic(Arc::clone(&socket), self.plan.spec.mtu);
            let late = || silent(&socket);
            let session = self.handshake(opening, late).await?;
            let fetched = self.objects(&session, asked, until_ns).await;
            if let Session::Quic(_, connection) = &session {
                self.note_path(connection, &socket);
                connection.close(0_u32.into(), b"");
                let _ = timeout(FAREWELL, connection.closed()).await;
                tokio::task::yield_now().await;
            }
            fetched
        });
        self.note_datagrams(&socket);
        fetched.map_err(|error| {
            if control
                .as_mut()
                .is_some_and(|control| control.closed(now_ns()))
            {
                let what = format!(
                    "QUIC: the proxy ended the control connection; the largest datagram to it had {} bytes",
                    socket.counts.largest_sent.load(Ordering::Relaxed),
                );
                return ProbeError::new(ErrorKind::ControlClosed, what);
            }
            error
        })
    }

    fn note_path(&self, connection: &quinn::Connection, socket: &Wrapped) {
        let path = connection.stats().path;
        let mut quic = lock(self.quic);
        quic.packets_lost += path.lost_packets;
        widen(&mut quic.mtu_up, path.current_mtu.into());
        let largest = socket.counts.largest.load(Ordering::Relaxed);
        widen(&mut quic.mtu_down, largest);
    }

    fn note_datagrams(&self, socket: &Wrapped) {
        let mut quic = lock(self.quic);
        quic.datagrams_sent += socket.counts.sent.load(Ordering::Relaxed);
        quic.datagrams_received += socket.counts.received.load(Ordering::Relaxed);
    }
}

fn widen(range: &mut Option<[u64; 2]>, value: u64) {
    let [least, most] = range.unwrap_or([value, value]);
    *range = Some([least.min(value), most.max(value)]);
}

/// A QUIC handshake that did not end in time.
fn silent(socket: &Wrapped) -> ProbeError {
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    if socket.counts.refused.load(Ordering::Relaxed) {
        let what = "QUIC handshake: nothing listens there";
        return ProbeError::new(ErrorKind::ConnectionRefused, what);
    }
    let came = match read(&socket.counts.received) {
        0 => "none was answered".to_owned(),
        count => format!("{count} came back"),
    };
    let what = format!(
        "QUIC handshake: no answer in time: of {} datagrams of 1,200 bytes, the least that QUIC sends (RFC 9000, 14.1), {came}",
        read(&socket.counts.sent),
    );
    ProbeError::new(ErrorKind::Timeout, what)
}

impl Worker<{ PARTS.len() }> for Client<'_> {
    fn prepare(&mut self) -> Result<(), ProbeError> {
        let new = Builder::new_current_thread().enable_all().build();
        self.runtime = Some(new.map_err(|error| ProbeError::io("a runtime", &error))?);
        Ok(())
    }

    fn operate(&mut self) -> Result<Done<{ PARTS.len() }>, ProbeError> {
        let began_ns = now_ns();
        let until_ns = began_ns + self.plan.timeout.as_nanos() as u64;
        let fetch = self.plan.fetch;
        let asked = Arc::new(Asked {
            object: Header::new(&self.plan.transfer, fetch.bytes, self.plan.tag),
            moved: Moved::default(),
        });
        let Some(runtime) = self.runtime.take() else {
            return Err(ProbeError::new(ErrorKind::Network, "it was not prepared"));
        };
        let fetched = match self.plan.spec.kind {
            ProbeKind::H3 => self.over_quic(&runtime, &asked, until_ns),
            _ => self.over_tcp(&runtime, &asked, until_ns),
        };
        drop(runtime);
        self.context.carry(asked.moved.carried());
        let [connected_ns, document_ns, ended_ns] = fetched?;
        Ok(Done {
            began_ns,
            ended_ns,
            bytes: fetch.bytes * fetch.objects,
            parts: [Some(connected_ns - began_ns), Some(document_ns - began_ns)],
        })
    }
}
