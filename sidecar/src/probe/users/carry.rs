//! One connection of a user that carries bytes to the far end and back, or one association.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::task::JoinSet;
use tokio::time::timeout;

use super::datagrams;
use super::flow::{self, BLOCK, Receiver, Sender, sequence};
use super::shared::{Shared, blocks, note_first};
use crate::net::clock::now_ns;
use crate::probe::kinds::ErrorKind;
use crate::probe::outcome::UserOutcome;

pub struct Try {
    pub began: u64,
    pub ended: u64,
    pub outcome: UserOutcome,
    pub end: Result<(), ErrorKind>,
}

/// `sent` has what was sent also where this ends early.
pub async fn attempt(shared: Arc<Shared>, user: usize, sent: Arc<AtomicU64>, began: u64) -> Try {
    let mut outcome = UserOutcome::default();
    let carrying = carry(&shared, user, began, &sent, &mut outcome);
    let end = timeout(shared.timeout, carrying).await;
    Try {
        began,
        ended: now_ns(),
        outcome,
        end: end.unwrap_or(Err(ErrorKind::Timeout)),
    }
}

/// `sent` and `outcome` have what was carried, also where the time is over.
async fn carry(
    shared: &Arc<Shared>,
    user: usize,
    began: u64,
    sent: &Arc<AtomicU64>,
    outcome: &mut UserOutcome,
) -> Result<(), ErrorKind> {
    if shared.udp {
        return datagrams::carry(shared, user, began, sent, outcome).await;
    }
    let (sender, receiver) = flow::dial(shared, user).await?;
    // The set keeps the sender, whose end would close this way of the connection, and ends its task.
    let mut sending = JoinSet::new();
    sending.spawn(upload(Arc::clone(shared), user, sender, Arc::clone(sent)));
    download(shared, user, receiver, began, outcome).await
}

/// An error shows in the answer, too.
async fn upload(
    shared: Arc<Shared>,
    user: usize,
    mut sender: Sender,
    sent: Arc<AtomicU64>,
) -> Sender {
    let mut room = vec![0; BLOCK];
    for (block, length) in blocks(shared.bytes[user], BLOCK) {
        shared.pattern.fill(sequence(user, block), &mut room);
        sent.fetch_add(length as u64, Ordering::Relaxed);
        if sender.send(&room[..length]).await.is_err() {
            break;
        }
    }
    sender
}

async fn download(
    shared: &Shared,
    user: usize,
    mut receiver: Receiver,
    began: u64,
    outcome: &mut UserOutcome,
) -> Result<(), ErrorKind> {
    let mut room = vec![0; BLOCK];
    for (block, length) in blocks(shared.bytes[user], BLOCK) {
        let number = sequence(user, block);
        loop {
            match receiver.take(&shared.pattern, number, length, &mut room) {
                Some(true) => break,
                Some(false) => return Err(ErrorKind::Corrupted),
                None => outcome.received += receiver.more().await?,
            }
            note_first(shared, began, outcome);
        }
    }
    match receiver.has_more() {
        true => Err(ErrorKind::Corrupted),
        false => Ok(()),
    }
}
