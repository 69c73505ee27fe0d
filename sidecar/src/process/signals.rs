//! Signals as messages: blocked in all threads, read from a descriptor.

use std::io;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// The signals that ask the sidecar or a guard to end.
pub const END: [Signal; 4] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];

/// A signal that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    pub signal: Signal,
    /// The signal was typed on the terminal, so the whole foreground group got it.
    pub from_terminal: bool,
}

pub struct Signals {
    descriptor: SignalFd,
}

impl Signals {
    /// Blocks `signals` in this thread, and in every thread that it starts from now on.
    pub fn block(signals: &[Signal], flags: SfdFlags) -> io::Result<Self> {
        let set: SigSet = signals.iter().copied().collect();
        set.thread_block()?;
        let descriptor = SignalFd::with_flags(&set, flags | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { descriptor })
    }

    pub fn descriptor(&self) -> &SignalFd {
        &self.descriptor
    }

    /// The next signal; `None` if no signal has arrived and the descriptor does not block.
    pub fn next(&self) -> Option<Arrived> {
        const SENT_BY_KERNEL: i32 = 0x80;
        loop {
            match self.descriptor.read_signal() {
                Ok(Some(info)) => {
                    let Ok(signal) = Signal::try_from(info.ssi_signo as i32) else {
                        continue;
                    };
                    return Some(Arrived {
                        signal,
                        from_terminal: info.ssi_code == SENT_BY_KERNEL,
                    });
                }
                Ok(None) => return None,
                Err(nix::errno::Errno::EINTR) => {}
                Err(_) => return None,
            }
        }
    }
}
