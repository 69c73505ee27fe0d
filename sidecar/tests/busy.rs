//! `common::busy`: processes of others do not include the test's own load. Only a busy machine excuses a time. Waits grow on a slow
//! machine.

mod common;

use std::cell::Cell;
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::busy::{Busy, Patience, Watch, cpus, judged, slowness, timely, tried};

#[test]
fn a_second_in_ten_of_all_cpus_is_busy_and_so_is_a_burst() {
    let of = |used: &[f64]| {
        let parts: Vec<_> = used.iter().map(|others| (1.0, *others)).collect();
        let found = judged(&parts, 2);
        (found.percent, found.most, found.busy)
    };
    assert_eq!(of(&[0.25, 0.0, 0.0, 0.0]), (3.125, 12.5, false));
    assert_eq!(of(&[0.25, 0.25]), (12.5, 12.5, true));
    assert_eq!(
        of(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        (6.25, 50.0, true)
    );
    // Ticks are coarse: a negative share counts as 0, and a part of a second is no burst.
    assert!(!judged(&[(10.0, -0.2), (0.02, 0.04)], 2).busy);
    assert_eq!(judged(&[], 2).percent, 0.0);
}

/// A process that is killed and waited for at the end.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(program: &str, argument: &str) -> Ends {
    let (command, first) = match program {
        "sh" => ("sh", Some("-c")),
        other => (other, None),
    };
    let child = Command::new(command).args(first).arg(argument).spawn();
    Ends(child.unwrap())
}

/// CPU time of a process, s.
fn used_s(pid: i32) -> f64 {
    let stat = procfs::process::Process::new(pid).unwrap().stat().unwrap();
    (stat.utime + stat.stime) as f64 / procfs::ticks_per_second() as f64
}

/// CPU time that processes used after 2.5 s. A busy machine leaves them little, and ticks are coarse.
fn burnt_s(pids: &[i32]) -> f64 {
    std::thread::sleep(Duration::from_millis(2_500));
    let all = || pids.iter().map(|pid| used_s(*pid)).sum::<f64>();
    common::eventually("they burn", || all() > 0.5);
    all()
}

/// Asserts that an idle process counts the test's CPU time as time of others, and the test counts it as
/// its own.
fn all_but(others: Busy, own: Busy, began: Instant, burnt_s: f64) {
    let all_s = began.elapsed().as_secs_f64() * cpus() as f64;
    let between_s = (others.percent - own.percent) / 100.0 * all_s;
    assert!(
        between_s > 0.8 * burnt_s,
        "{between_s} s of {burnt_s} s: {own:?}, for an idle process {others:?}"
    );
}

#[test]
fn what_a_test_burns_is_no_excuse_and_what_others_burn_is() {
    let idle = start("sleep", "60");
    let began = Instant::now();
    let (own, of_idle) = (Watch::others(), Watch::of(common::pid(&idle.0)));
    let burners: Vec<_> = (0..cpus())
        .map(|_| start("sh", "while :; do :; done"))
        .collect();
    let pids: Vec<_> = burners.iter().map(|one| common::pid(&one.0)).collect();
    let burnt = burnt_s(&pids);
    // For the idle process, all CPU time of this test is time of others.
    let (others, own) = (of_idle.end(), own.end());
    drop(burners);
    assert!(others.busy && others.most >= 40.0, "{others:?}");
    all_but(others, own, began, burnt);
}

/// A process that is killed at the end. Its parent has ended, so the test cannot wait for it.
struct Orphan(i32);

impl Drop for Orphan {
    fn drop(&mut self) {
        common::signal(self.0, nix::sys::signal::Signal::SIGKILL);
    }
}

#[test]
fn a_process_that_loses_its_parent_stays_ones_own() {
    let idle = start("sleep", "60");
    let began = Instant::now();
    let (own, of_idle) = (Watch::others(), Watch::of(common::pid(&idle.0)));
    // The shell in between lives until a sample has seen the one that burns.
    let mut parent = Command::new("sh")
        .args(["-c", "sh -c 'while :; do :; done' & echo $!; sleep 1.2"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let orphan = Orphan(line.trim().parse().unwrap());
    assert!(parent.wait().unwrap().success());
    let burnt = burnt_s(&[orphan.0]);
    let (others, own) = (of_idle.end(), own.end());
    all_but(others, own, began, burnt);
}

/// Tries, the message of a failure, and why the test is skipped.
fn tries(
    holds: impl Fn(usize) -> bool,
    used: impl Fn(usize) -> f64,
) -> (usize, Option<String>, Option<String>) {
    let count = Cell::new(0);
    let body = || {
        count.set(count.get() + 1);
        timely(holds(count.get()), format!("late {}", count.get()));
    };
    let end = |()| Busy {
        percent: used(count.get()),
        most: used(count.get()),
        busy: used(count.get()) > 10.0,
    };
    match catch_unwind(AssertUnwindSafe(|| tried(body, || (), end))) {
        Ok(skipped) => (count.get(), None, skipped),
        Err(cause) => (count.get(), cause.downcast_ref::<String>().cloned(), None),
    }
}

#[test]
fn only_a_busy_machine_excuses_a_time() {
    assert_eq!(tries(|_| true, |_| 0.0), (1, None, None));
    assert_eq!(tries(|count| count == 3, |_| 90.0), (3, None, None));
    let late = Some("not in time: late 5".to_owned());
    assert_eq!(tries(|_| false, |_| 0.0), (5, late.clone(), None));
    let once_quiet = |count: usize| if count == 4 { 1.0 } else { 90.0 };
    assert_eq!(tries(|_| false, once_quiet), (5, late, None));
    let why = "the machine was busy (37 % used by others, at most 37 %): late 5";
    assert_eq!(tries(|_| false, |_| 37.0), (5, None, Some(why.to_owned())));
}

#[test]
fn what_is_no_time_is_asked_once() {
    let count = Cell::new(0);
    let busy = |()| Busy {
        percent: 90.0,
        most: 90.0,
        busy: true,
    };
    let run = || {
        let wrong = || {
            count.set(count.get() + 1);
            assert!(count.get() > 1, "counted wrong");
        };
        tried(wrong, || (), busy)
    };
    let caught = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(caught.downcast_ref::<&str>(), Some(&"counted wrong"));
    assert_eq!(count.get(), 1);
}

#[test]
fn a_wait_grows_as_the_machine_becomes_slower() {
    let slow = Cell::new(1.0);
    let wait = || Patience::measured(Duration::from_secs(1), 1.0, || slow.get());
    slow.set(3.0);
    assert!(!wait().waits_after(Duration::from_secs(25)));
    slow.set(9.0);
    let mut waits = wait();
    assert!(waits.waits_after(Duration::from_secs(8)));
    assert!(!waits.waits_after(Duration::from_millis(9_001)));
    let now = slowness();
    assert!((1.0..=10.0).contains(&now), "{now}");
}
