//! Output of a process: a bounded file, the last lines, and a line to wait for.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use anstream::adapter::strip_str;
use regex::Regex;

use super::complaints::{Complaint, Complaints};
use super::redact::Redactor;
use crate::lock::{lock, wait};

/// The largest size of a log file.
pub const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
const TAIL_LINES: usize = 5;
const TAIL_LINE_CHARS: usize = 300;
const MAX_LINE_BYTES: usize = 64 * 1024;
const MAX_KEPT_BYTES: usize = 64 * 1024;

pub struct Log {
    redactor: Redactor,
    limit: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    file: Option<File>,
    /// The output as printed, including secrets.
    all: Option<Vec<u8>>,
    written: u64,
    tail: VecDeque<String>,
    complaints: Complaints,
    awaited: Option<Regex>,
    matched: bool,
    ended: bool,
}

impl Log {
    /// Creates the file. For `awaited`, see [`Log::matched`].
    pub fn create(
        path: &Path,
        redactor: Redactor,
        awaited: Option<Regex>,
    ) -> std::io::Result<Self> {
        Self::limited(path, redactor, awaited, MAX_FILE_BYTES)
    }

    fn limited(
        path: &Path,
        redactor: Redactor,
        awaited: Option<Regex>,
        limit: u64,
    ) -> std::io::Result<Self> {
        let state = State {
            file: Some(File::create(path)?),
            awaited,
            ..State::default()
        };
        Ok(Self::of(redactor, limit, state))
    }

    /// A log without a file that keeps the beginning of the output as printed, including secrets: see [`Log::all`].
    pub fn keeping_all(redactor: Redactor) -> Self {
        let state = State {
            all: Some(Vec::new()),
            ..State::default()
        };
        Self::of(redactor, 0, state)
    }

    fn of(redactor: Redactor, limit: u64, state: State) -> Self {
        Self {
            redactor,
            limit,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Reads `source` until its end. It never stops reading, so the process never blocks on a full pipe.
    pub fn follow(&self, mut source: impl Read) {
        let mut chunk = vec![0; 64 * 1024];
        let mut pending = Vec::new();
        loop {
            match source.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => self.take(&mut pending, &chunk[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        if !pending.is_empty() {
            self.lines(&pending);
        }
        lock(&self.state).ended = true;
        self.changed.notify_all();
    }

    fn take(&self, pending: &mut Vec<u8>, chunk: &[u8]) {
        pending.extend_from_slice(chunk);
        if let Some(end) = pending.iter().rposition(|byte| *byte == b'\n') {
            let rest = pending.split_off(end + 1);
            self.lines(&std::mem::replace(pending, rest));
        }
        if pending.len() > MAX_LINE_BYTES + self.redactor.longest() {
            // A secret may cross the cut: its possible beginning waits for the rest.
            let wanted = pending.len() - self.redactor.longest();
            let cut = self.redactor.cut(pending, wanted);
            let rest = pending.split_off(cut);
            self.write(&self.redactor.bytes(pending));
            *pending = rest;
            if cut == 0 {
                // All bytes belong to one value without an end, and so will the next bytes.
                *pending = b"token=".to_vec();
            }
        }
    }

    fn lines(&self, text: &[u8]) {
        let clean = self.redactor.bytes(text);
        self.write(&clean);
        let mut state = lock(&self.state);
        if let Some(all) = &mut state.all {
            let room = MAX_KEPT_BYTES.saturating_sub(all.len());
            all.extend_from_slice(&text[..room.min(text.len())]);
        }
        for line in clean
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            // Colours are for terminals: messages and patterns must not contain them.
            let line = strip_str(&String::from_utf8_lossy(line)).to_string();
            if !state.matched
                && state
                    .awaited
                    .as_ref()
                    .is_some_and(|awaited| awaited.is_match(&line))
            {
                state.matched = true;
            }
            let line: String = line.trim_end().chars().take(TAIL_LINE_CHARS).collect();
            state.complaints.take(&line);
            if state.tail.len() == TAIL_LINES {
                state.tail.pop_front();
            }
            state.tail.push_back(line);
        }
        drop(state);
        self.changed.notify_all();
    }

    fn write(&self, text: &[u8]) {
        let mut state = lock(&self.state);
        if state.written >= self.limit {
            return;
        }
        let room = usize::try_from(self.limit - state.written)
            .unwrap_or(usize::MAX)
            .min(text.len());
        state.written += text.len() as u64;
        let full = state.written >= self.limit;
        let Some(file) = &mut state.file else { return };
        // A full disk must not stop the system under test.
        let _ = file.write_all(&text[..room]);
        if full {
            let _ = writeln!(
                file,
                "\n[windtunnel: the log is cut off here, after {} bytes]",
                self.limit
            );
            state.file = None;
        }
    }

    /// Adds a line of the sidecar.
    pub fn note(&self, line: &str) {
        self.lines(format!("[windtunnel: {line}]\n").as_bytes());
    }

    /// Whether a line has matched the awaited pattern.
    pub fn matched(&self) -> bool {
        lock(&self.state).matched
    }

    /// The last lines, after waiting at most `patience` for the end of the output.
    pub fn tail(&self, patience: Duration) -> Vec<String> {
        let state = wait(&self.changed, lock(&self.state), patience, |state| {
            !state.ended
        });
        state.tail.iter().cloned().collect()
    }

    /// The most frequent complaint so far, if any.
    pub fn complaint(&self) -> Option<Complaint> {
        lock(&self.state).complaints.most_frequent()
    }

    /// The text of all lines, up to 64 KiB, including secrets; empty unless the log keeps all output.
    pub fn all(&self) -> String {
        let state = lock(&self.state);
        String::from_utf8_lossy(state.all.as_deref().unwrap_or_default()).into_owned()
    }

    /// Waits at most `patience` for the end of the output.
    pub fn wait_end(&self, patience: Duration) {
        drop(self.tail(patience));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(
        limit: u64,
        secret: &str,
        awaited: Option<&str>,
    ) -> (tempfile::TempDir, std::path::PathBuf, Log) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let awaited = awaited.map(|pattern| Regex::new(pattern).unwrap());
        let log = Log::limited(&path, Redactor::new([secret]), awaited, limit).unwrap();
        (folder, path, log)
    }

    #[test]
    fn secrets_never_reach_the_file_or_the_last_lines() {
        let (_folder, path, log) = log(1000, "s3cret", None);
        log.follow(&b"one\nkey=s3cret\nlast s3cret"[..]);
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            "one\nkey=[secret]\nlast [secret]"
        );
        assert_eq!(
            log.tail(Duration::ZERO),
            ["one", "key=[secret]", "last [secret]"]
        );
    }

    #[test]
    fn a_secret_across_the_cut_of_a_long_line_is_found() {
        let (_folder, path, log) = log(100_000_000, "s3cret", None);
        let secrets = ["s3cret", "eyJhead.eyJbody.sign", "token=opaque"];
        // A reader fills the whole buffer, so the first cut is here.
        let cut = 2 * MAX_LINE_BYTES - log.redactor.longest();
        for secret in secrets {
            for before in 0..24 {
                let mut text = vec![b' '; cut - before];
                text.extend_from_slice(secret.as_bytes());
                text.extend_from_slice(&vec![b' '; 3 * MAX_LINE_BYTES]);
                log.follow(&text[..]);
            }
        }
        let written = std::fs::read_to_string(path).unwrap();
        for part in ["s3cret", "eyJ", "body", "sign", "opaque"] {
            assert!(!written.contains(part), "{part}");
        }
        assert_eq!(written.matches("[secret]").count(), 3 * 24);
    }

    #[test]
    fn a_token_without_an_end_does_not_grow_and_never_shows() {
        let (_folder, path, log) = log(10_000_000, "s3cret", None);
        let mut text = b"a token=".to_vec();
        text.extend_from_slice(&vec![b'q'; 10 * MAX_LINE_BYTES]);
        text.extend_from_slice(b" end\n");
        log.follow(&text[..]);
        let written = std::fs::read_to_string(path).unwrap();
        assert!(!written.contains('q'));
        assert!(written.starts_with("a token=[secret]") && written.ends_with(" end\n"));
    }

    #[test]
    fn the_file_is_bounded_and_says_so() {
        let (_folder, path, log) = log(10, "none", None);
        log.follow(&b"0123456789abcdef\nmore\n"[..]);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(
            text.starts_with("0123456789\n[windtunnel: the log is cut off here, after 10 bytes]"),
            "{text}"
        );
        assert_eq!(log.tail(Duration::ZERO).last().unwrap(), "more");
    }

    #[test]
    fn the_awaited_line_is_seen() {
        let (_folder, _path, log) = log(1000, "none", Some("listening on [0-9]+"));
        assert!(!log.matched());
        log.follow(&b"starting\nlistening on 80\n"[..]);
        assert!(log.matched());
    }

    #[test]
    fn colours_are_in_the_file_alone() {
        let (_folder, path, log) = log(1000, "s3cret", Some("^ERROR port 80$"));
        log.follow(&b"\x1b[1;31mERROR\x1b[0m port \x1b[38;5;9m80\x1b[m\n"[..]);
        assert!(log.matched());
        assert_eq!(log.tail(Duration::ZERO), ["ERROR port 80"]);
        assert!(
            std::fs::read_to_string(path)
                .unwrap()
                .contains("\x1b[1;31m")
        );
    }

    #[test]
    fn only_the_last_five_lines_are_kept() {
        let (_folder, _path, log) = log(1000, "none", None);
        log.follow(&b"1\n2\n3\n4\n5\n6\n7\n"[..]);
        assert_eq!(log.tail(Duration::ZERO), ["3", "4", "5", "6", "7"]);
    }
}
