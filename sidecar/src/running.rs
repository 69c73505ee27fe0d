//! All of one kind that runs in this sidecar, by id.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::failure::{Failure, Kind, Result};
use crate::lock::lock;

pub struct Running<T> {
    /// Its name in failures, and the path of its HTTP interface.
    what: &'static str,
    path: &'static str,
    letter_of_ids: char,
    most: usize,
    last: AtomicU64,
    all: Mutex<BTreeMap<String, T>>,
}

impl<T> Running<T> {
    pub const fn new(
        what: &'static str,
        path: &'static str,
        letter_of_ids: char,
        most: usize,
    ) -> Self {
        Self {
            what,
            path,
            letter_of_ids,
            most,
            last: AtomicU64::new(0),
            all: Mutex::new(BTreeMap::new()),
        }
    }

    pub fn all(&self) -> MutexGuard<'_, BTreeMap<String, T>> {
        lock(&self.all)
    }

    /// Starts another one, and returns its id. It is a conflict if the most run.
    pub fn start(&self, start: impl FnOnce() -> Result<T>) -> Result<String> {
        let mut all = self.all();
        if all.len() >= self.most {
            return Err(Failure::new(
                Kind::Conflict,
                format!("{} {}s run, which is the limit", self.most, self.what),
                format!("end one with DELETE {}/ID", self.path),
            ));
        }
        let started = start()?;
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let id = format!("{}{number}", self.letter_of_ids);
        all.insert(id.clone(), started);
        Ok(id)
    }

    pub fn get(&self, id: &str) -> Result<T>
    where
        T: Clone,
    {
        let found = self.all().get(id).cloned();
        found.ok_or_else(|| self.unknown(id))
    }

    /// Removes one, so that its last findings can be read.
    pub fn take(&self, id: &str) -> Result<T> {
        let removed = self.all().remove(id);
        removed.ok_or_else(|| self.unknown(id))
    }

    fn unknown(&self, id: &str) -> Failure {
        Failure::not_found(
            format!("there is no {} {id:?}", self.what),
            format!("POST {} starts one", self.path),
        )
    }
}
