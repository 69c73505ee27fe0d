//! Locks that outlive the panic of a thread that held them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for changes while `waits` holds, for at most `patience`.
pub fn wait<'a, T>(
    changed: &Condvar,
    guard: MutexGuard<'a, T>,
    patience: Duration,
    waits: impl FnMut(&mut T) -> bool,
) -> MutexGuard<'a, T> {
    let waited = changed.wait_timeout_while(guard, patience, waits);
    waited.unwrap_or_else(PoisonError::into_inner).0
}
