//! Threads that begin together, or not at all: a barrier that can be given up, because a thread that
//! could not be started never comes to it.

use std::io;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};

use super::kinds::{ErrorKind, ProbeError};
use crate::lock::lock;

#[derive(Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: usize,
    /// The decision, once made: go, or the reason not to.
    decided: Option<Result<(), ProbeError>>,
}

impl Gate {
    /// Called by each thread. Returns false if the gate was abandoned.
    pub fn pass(&self) -> bool {
        let mut state = lock(&self.state);
        state.waiting += 1;
        self.changed.notify_all();
        let state = self
            .changed
            .wait_while(state, |state| state.decided.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        matches!(state.decided, Some(Ok(())))
    }

    /// Starts a thread for each work, which passes this gate. None, and the gate is abandoned, if one could not be started.
    pub fn start<'scope, T: Send + 'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        works: impl IntoIterator<Item = impl FnOnce() -> T + Send + 'scope>,
    ) -> Option<Vec<ScopedJoinHandle<'scope, T>>> {
        let start = |work| Builder::new().spawn_scoped(scope, work);
        let started: io::Result<_> = works.into_iter().map(start).collect();
        started.inspect_err(|error| self.abandon(error)).ok()
    }

    /// Waits until the given number of threads wait, or the gate is abandoned.
    pub fn gather(&self, threads: usize) {
        let waits = |state: &mut State| state.waiting < threads && state.decided.is_none();
        let state = self.changed.wait_while(lock(&self.state), waits);
        drop(state);
    }

    pub fn open(&self) {
        self.decide(Ok(()));
    }

    /// A thread could not be started: no other goes on.
    pub fn abandon(&self, error: &io::Error) {
        self.decide(Err(ProbeError::new(
            ErrorKind::Network,
            format!("a thread cannot be started: {error}"),
        )));
    }

    pub fn result(&self) -> Result<(), ProbeError> {
        lock(&self.state).decided.clone().unwrap_or(Ok(()))
    }

    fn decide(&self, how: Result<(), ProbeError>) {
        lock(&self.state).decided.get_or_insert(how);
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_go_on_or_none() {
        for abandoned in [false, true] {
            let gate = Gate::default();
            let passed = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| gate.pass())).collect();
                if abandoned {
                    gate.abandon(&io::Error::from_raw_os_error(nix::libc::EAGAIN));
                    gate.gather(4);
                    gate.open();
                } else {
                    gate.gather(3);
                    gate.open();
                }
                threads.into_iter().all(|thread| thread.join().unwrap())
            });
            assert_eq!(passed, !abandoned);
            let error = gate.result().err().map(|error| error.kind);
            assert_eq!(error, abandoned.then_some(ErrorKind::Network));
        }
    }
}
