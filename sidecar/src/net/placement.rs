//! Where probe threads run: on the CPUs that were asked for, and on no others.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::failure::{Failure, Result};

/// Refuses CPUs that are not there or that this process may not use.
pub fn check(cpus: &[usize]) -> Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let allowed = allowed();
    match cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        None => Ok(()),
        Some(cpu) => Err(Failure::invalid(
            format!("cpus: CPU {cpu} does not exist or may not be used here"),
            format!("give some of {}", list(&allowed)),
        )),
    }
}

/// Pins the calling thread; threads that it starts inherit it. No CPUs: nothing is changed.
pub fn pin(cpus: &[usize]) -> Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let failed = |error: nix::Error| {
        Failure::setup(
            format!("cpus {}: {}", list(cpus), error.desc()),
            "give CPUs that this process may use",
        )
    };
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu).map_err(failed)?;
    }
    sched_setaffinity(Pid::from_raw(0), &set).map_err(failed)
}

/// CPUs that this thread may use.
fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else {
        return Vec::new();
    };
    (0..CpuSet::count())
        .filter(|cpu| set.is_set(*cpu).unwrap_or(false))
        .collect()
}

fn list(cpus: &[usize]) -> String {
    let texts: Vec<String> = cpus.iter().map(ToString::to_string).collect();
    texts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_that_are_there_are_taken_and_others_refused() {
        let some = allowed();
        assert!(check(&some).is_ok());
        assert!(check(&[]).is_ok());
        let failure = check(&[100_000]).unwrap_err();
        assert!(failure.error.contains("CPU 100000"), "{failure}");
        let first = some[0];
        std::thread::spawn(move || {
            pin(&[first]).unwrap();
            assert_eq!(allowed(), [first]);
        })
        .join()
        .unwrap();
        assert!(pin(&[100_000]).is_err());
    }
}
