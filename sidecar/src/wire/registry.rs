//! All captures of this sidecar.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Capture;
use crate::failure::{Failure, Kind, Result};

/// The most captures that run at once.
pub const MAX_RUNNING: usize = 64;

#[derive(Default)]
pub struct Captures(Mutex<Numbered>);

#[derive(Default)]
struct Numbered {
    last: u64,
    captures: BTreeMap<String, Capture>,
}

impl Captures {
    fn all(&self) -> MutexGuard<'_, Numbered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the capture's id. It is a conflict if [`MAX_RUNNING`] captures run.
    pub fn keep(&self, capture: Capture) -> Result<String> {
        let mut all = self.all();
        if all.captures.len() >= MAX_RUNNING {
            return Err(Failure::new(
                Kind::Conflict,
                format!("{MAX_RUNNING} captures run, which is the limit"),
                "end one with DELETE /captures/ID",
            ));
        }
        all.last += 1;
        let id = format!("w{}", all.last);
        all.captures.insert(id.clone(), capture);
        Ok(id)
    }

    pub fn take(&self, id: &str) -> Result<Capture> {
        self.all().captures.remove(id).ok_or_else(|| {
            Failure::not_found(
                format!("there is no capture {id:?}"),
                "POST /captures starts one",
            )
        })
    }
}
