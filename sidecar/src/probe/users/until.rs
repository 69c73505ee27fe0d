//! Tries of one user, until a connection carries data, or until one does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::carry::{Try, attempt};
use super::shared::{SLICE, Shared, TOTAL, ms};
use super::spec::Until;
use crate::lock::lock;
use crate::net::clock::{now_ns, to_unix_us};
use crate::probe::kinds::ErrorKind;
use crate::probe::outcome::{Turn, UserOutcome};

/// A later interval is the elapsed time divided by this, if that is longer.
const SHARE: u64 = 10;

/// Whether the proxy refused the user. A proxy that takes no connection says nothing about the user.
fn is_refusal(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Timeout | ErrorKind::Closed | ErrorKind::ConnectionReset
    )
}

/// Waits for the end of a try, at most until `until_ns`.
async fn next(tries: &mut JoinSet<Try>, until_ns: u64) -> Option<Try> {
    let wait = Duration::from_nanos(until_ns.saturating_sub(now_ns())).min(SLICE);
    if tries.is_empty() {
        sleep(wait).await;
        return None;
    }
    timeout(wait, tries.join_next()).await.ok()??.ok()
}

/// Tries overlap while the user must carry data: a proxy may leave a refused connection open in silence. While the user must not carry
/// data, a try begins after the end of the last one, and two refusals in a row show the turn. The first of them counts. One more try
/// after the time confirms a refusal at its end.
pub async fn one(shared: &Arc<Shared>, user: usize, wanted: Until) {
    let start = now_ns();
    let every = (wanted.every_ms * 1e6) as u64;
    let sent = Arc::new(AtomicU64::new(0));
    let mut tries = JoinSet::new();
    let mut all = UserOutcome::default();
    let mut turn = Turn {
        began_unix_us: to_unix_us()(start),
        ..Turn::default()
    };
    let mut others: Vec<u64> = Vec::new();
    // A refusal that the next connection must confirm: a restart of the proxy breaks a connection, too.
    let mut refused: Option<Try> = None;
    let mut turned: Option<Try> = None;
    let mut due = start;
    let over = || shared.stop.load(Ordering::Relaxed);
    while turned.is_none() && (refused.is_some() || !over()) {
        let now = now_ns();
        let free = wanted.carries || tries.is_empty();
        if free && now >= due {
            turn.tries += 1;
            tries.spawn(attempt(Arc::clone(shared), user, Arc::clone(&sent), now));
            due = now + every.max((now - start) / SHARE);
            if wanted.carries {
                others.push(now);
            }
        }
        let until_ns = if free { due } else { u64::MAX };
        let Some(ended) = next(&mut tries, until_ns).await else {
            continue;
        };
        all.received += ended.outcome.received;
        match ended.end {
            Ok(()) if !wanted.carries => {
                others.push(ended.began);
                refused = None;
            }
            Err(kind) if wanted.carries || !is_refusal(kind) => {
                refused = refused.filter(|_| !over());
            }
            Err(_) if refused.is_none() => refused = Some(ended),
            _ => turned = refused.take().or(Some(ended)),
        }
    }
    tries.shutdown().await;
    if let Some(turned) = turned {
        let first = turned.outcome.first_byte_ms;
        let seen = first.unwrap_or_else(|| ms(turned.ended - turned.began));
        let after = |at: u64| ms(at - start);
        let before = others.iter().filter(|at| **at < turned.began);
        turn.last_other_ms = before.max().map(|at| after(*at));
        turn.turned_ms = Some(after(turned.began));
        turn.seen_ms = Some(after(turned.began) + seen);
    }
    let now = now_ns();
    all.took_ms = ms(now - start);
    all.sent = sent.load(Ordering::Relaxed);
    all.carried = turn.turned_ms.is_some() == wanted.carries;
    let mut tally = lock(&shared.tally);
    tally.end_ns = now;
    if turn.turned_ms.is_some() {
        tally.success(0);
        tally.series[TOTAL].record(now, now - start);
    } else {
        all.error = Some(ErrorKind::Timeout);
        tally.errors.add(ErrorKind::Timeout, 1);
    }
    drop(tally);
    all.turn = Some(turn);
    shared.note(user, all);
}
