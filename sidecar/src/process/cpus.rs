//! CPU lists as the kernel writes them (`0-1,3`), and binding a process to them (sched(7)).

use std::collections::BTreeSet;

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::failure::{self, Failure};

/// Reads `0`, `0-1`, `0,2` or an empty text. The error is a message.
pub fn parse(list: &str) -> Result<BTreeSet<usize>, String> {
    let mut cpus = BTreeSet::new();
    for part in list.split(',').filter(|_| !list.trim().is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => cpus.extend(first..=last),
            _ => {
                return Err(format!(
                    "{list:?} is not a list of CPUs such as 0, 0-1 or 0,2"
                ));
            }
        }
    }
    Ok(cpus)
}

fn number(text: &str) -> Option<usize> {
    let number = text.trim().parse().ok()?;
    (number < CpuSet::count()).then_some(number)
}

/// The shortest list; empty if there are no CPUs.
pub fn format(cpus: &BTreeSet<usize>) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *cpu => *last = *cpu,
            _ => ranges.push((*cpu, *cpu)),
        }
    }
    let written: Vec<_> = ranges
        .iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            _ => format!("{first}-{last}"),
        })
        .collect();
    written.join(",")
}

/// The CPUs that this process may use.
pub fn allowed() -> failure::Result<BTreeSet<usize>> {
    // The main thread's CPUs: other threads may be bound to fewer.
    let main = i32::try_from(std::process::id()).map_or(Pid::from_raw(0), Pid::from_raw);
    let set = sched_getaffinity(main).map_err(|error| {
        Failure::setup(
            format!("the CPUs of this machine cannot be read: {error}"),
            "look at the kernel's log",
        )
    })?;
    Ok((0..CpuSet::count())
        .filter(|cpu| set.is_set(*cpu).unwrap_or(false))
        .collect())
}

/// Refuses CPUs that do not exist, or that this process may not use.
pub fn check<'a>(field: &str, cpus: impl IntoIterator<Item = &'a usize>) -> failure::Result<()> {
    let allowed = allowed()?;
    let missing: BTreeSet<_> = cpus.into_iter().copied().collect();
    let missing = format(&(&missing - &allowed));
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::invalid(
        format!("{field}: CPU {missing} does not exist or is not allowed here"),
        format!("there are the CPUs {}", format(&allowed)),
    ))
}

/// Binds the calling thread, and all threads and processes that it starts afterwards. An empty list changes nothing.
pub fn bind<'a>(cpus: impl IntoIterator<Item = &'a usize>) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu)?;
    }
    if set == CpuSet::new() {
        return Ok(());
    }
    sched_setaffinity(Pid::from_raw(0), &set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written_in_their_shortest_form() {
        for (list, shortest) in [
            ("", ""),
            (" ", ""),
            ("0", "0"),
            ("1,0", "0-1"),
            ("0-2,4, 6-6", "0-2,4,6"),
            ("3,1-2,2", "1-3"),
        ] {
            assert_eq!(format(&parse(list).unwrap()), shortest, "{list:?}");
        }
    }

    #[test]
    fn a_wrong_list_is_an_error() {
        for list in ["a", "1-", "-1", "2-1", "0,,1", "0-1-2", "99999", "0;1"] {
            let error = parse(list).unwrap_err();
            assert!(error.contains(list) && error.contains("0-1"), "{error}");
        }
    }

    #[test]
    fn cpus_that_are_there_are_taken_and_others_refused() {
        assert!(check("cpus", &allowed().unwrap()).is_ok());
        assert!(check("cpus", &[]).is_ok());
        let failure = check("cpus", &[100_000]).unwrap_err();
        assert!(failure.error.contains("cpus: CPU 100000"), "{failure}");
        assert!(bind(&[100_000]).is_err());
    }

    #[test]
    fn a_bound_thread_may_use_those_only() {
        let all = allowed().unwrap();
        let first = BTreeSet::from([*all.first().unwrap()]);
        let now = std::thread::spawn(move || {
            bind(&first).unwrap();
            let set = sched_getaffinity(Pid::from_raw(0)).unwrap();
            let now: BTreeSet<_> = (0..CpuSet::count())
                .filter(|cpu| set.is_set(*cpu).unwrap())
                .collect();
            (first, now)
        });
        let (first, now) = now.join().unwrap();
        assert_eq!(now, first);
        assert_eq!(allowed().unwrap(), all, "the main thread is as it was");
    }
}
