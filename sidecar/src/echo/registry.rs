//! All echo servers of this sidecar.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Echo, Request};
use crate::failure::{Failure, Kind, Result};

/// More do not run at once.
pub const MAX_RUNNING: usize = 16;

#[derive(Default)]
pub struct Echoes(Mutex<Numbered>);

#[derive(Default)]
struct Numbered {
    last: u64,
    servers: BTreeMap<String, Arc<Echo>>,
}

impl Echoes {
    fn all(&self) -> MutexGuard<'_, Numbered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a server and returns its id too. A conflict where [`MAX_RUNNING`] run.
    pub fn start(&self, request: Request) -> Result<(String, Arc<Echo>)> {
        let mut all = self.all();
        if all.servers.len() >= MAX_RUNNING {
            return Err(Failure::new(
                Kind::Conflict,
                format!("{MAX_RUNNING} echo servers run, and more are not started"),
                "end one with DELETE /echoes/ID",
            ));
        }
        let echo = Arc::new(Echo::start(request)?);
        all.last += 1;
        let id = format!("e{}", all.last);
        all.servers.insert(id.clone(), Arc::clone(&echo));
        Ok((id, echo))
    }

    pub fn get(&self, id: &str) -> Result<Arc<Echo>> {
        let echo = self.all().servers.get(id).cloned();
        echo.ok_or_else(|| unknown(id))
    }

    /// Ends one, and returns it for its last counts.
    pub fn stop(&self, id: &str) -> Result<Arc<Echo>> {
        let echo = self.all().servers.remove(id).ok_or_else(|| unknown(id))?;
        echo.stop();
        Ok(echo)
    }
}

fn unknown(id: &str) -> Failure {
    Failure::not_found(
        format!("there is no echo server {id:?}"),
        "POST /echoes starts one",
    )
}
