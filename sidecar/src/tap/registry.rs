//! All taps of this sidecar.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Tap;
use crate::failure::{Failure, Kind, Result};

/// The most taps that run at once.
pub const MAX_RUNNING: usize = 64;

#[derive(Default)]
pub struct Taps(Mutex<Numbered>);

#[derive(Default)]
struct Numbered {
    last: u64,
    taps: BTreeMap<String, Arc<Tap>>,
}

impl Taps {
    fn all(&self) -> MutexGuard<'_, Numbered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tap's id. It is a conflict if [`MAX_RUNNING`] taps run.
    pub fn keep(&self, tap: Tap) -> Result<String> {
        let mut all = self.all();
        if all.taps.len() >= MAX_RUNNING {
            return Err(Failure::new(
                Kind::Conflict,
                format!("{MAX_RUNNING} taps run, which is the limit"),
                "end one with DELETE /taps/ID",
            ));
        }
        all.last += 1;
        let id = format!("t{}", all.last);
        all.taps.insert(id.clone(), Arc::new(tap));
        Ok(id)
    }

    pub fn get(&self, id: &str) -> Result<Arc<Tap>> {
        self.all().taps.get(id).cloned().ok_or_else(|| unknown(id))
    }

    /// Stops a tap, and returns it so that its findings can be read.
    pub fn stop(&self, id: &str) -> Result<Arc<Tap>> {
        self.all().taps.remove(id).ok_or_else(|| unknown(id))
    }
}

fn unknown(id: &str) -> Failure {
    Failure::not_found(format!("there is no tap {id:?}"), "POST /taps starts one")
}
