use std::process::Command;

use super::*;

fn this_process() -> (String, Role, Source) {
    ("own".to_owned(), Role::Generator, Source::Own)
}

#[test]
fn a_window_runs_until_the_last_who_resumed_it_pauses_it() {
    let windows = Windows::default();
    let id = windows.open(vec![this_process()], Manner::PAUSED).unwrap();
    let runs = || windows.with(&id, |window| window.runs()).unwrap();
    assert!(!runs());
    assert!(windows.resume(&id) && windows.resume(&id) && runs());
    windows.pause(&id);
    assert!(runs());
    windows.pause(&id);
    assert!(!runs());
    windows.pause(&id);
    assert!(windows.resume(&id) && runs());
}

#[test]
fn what_is_gone_closes_its_windows_paused_or_not() {
    let windows = Windows::default();
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let source = Source::pid("child", child.id() as i32);
    let source = source.unwrap_or_else(|error| panic!("{error}"));
    let target = ("child".to_owned(), Role::System, source);
    let ids = [true, false].map(|paused| {
        let sources = vec![target.clone(), this_process()];
        let manner = Manner {
            paused,
            ..Manner::PEAKS
        };
        windows.open(sources, manner).unwrap()
    });
    let alone = windows.open(vec![this_process()], Manner::PAUSED).unwrap();
    windows.look();
    assert!(ids.iter().all(|id| windows.is_open(id)));
    child.kill().unwrap();
    child.wait().unwrap();
    windows.look();
    assert!(ids.iter().all(|id| !windows.is_open(id)));
    assert!(windows.is_open(&alone));
}

#[test]
fn only_a_running_window_keeps_files_of_its_processes_open() {
    let windows = Windows::default();
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let pid = child.id() as i32;
    let source = Source::pid("child", pid).unwrap_or_else(|error| panic!("{error}"));
    let sources = vec![("child".to_owned(), Role::System, source)];
    let id = windows.open(sources, Manner::PEAKS).unwrap();
    let kept = || {
        let own = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let links = own.flat_map(|fd| std::fs::read_link(fd.path()));
        let of_child = links.filter(|link| link.starts_with(format!("/proc/{pid}")));
        of_child.count()
    };
    // Other tests list all processes at the same time, and open a file of each for a moment.
    let keeps = |files| {
        let soon = (0..250).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            kept() == files
        });
        assert!(soon, "{} in place of {files}", kept());
    };
    windows.sample();
    keeps(4);
    windows.pause(&id);
    keeps(0);
    windows.resume(&id);
    windows.sample();
    keeps(4);
    windows.close(&id).unwrap();
    keeps(0);
    child.kill().unwrap();
    child.wait().unwrap();
}

fn refuses<T: std::fmt::Debug>(result: Result<T>, why: &str) {
    let failure = result.unwrap_err();
    assert!(
        failure.kind == Kind::Conflict && failure.error.ends_with(why),
        "{failure}"
    );
}

fn spin(ms: u64) {
    let busy = std::time::Instant::now();
    while busy.elapsed() < Duration::from_millis(ms) {}
}

#[test]
fn a_watched_window_records_only_cpus() {
    let windows = Windows::default();
    let manner = Manner {
        by_cpu: true,
        ..Manner::PAUSED
    };
    let id = windows.open(vec![this_process()], manner).unwrap();
    let span = |usage: &Usage| usage.host.by_cpu.first().map_or(0.0, |cpu| cpu.span_s);
    assert!(windows.watch(&id));
    spin(30);
    assert!(windows.resume(&id));
    spin(30);
    windows.pause(&id);
    spin(30);
    let seen = windows.usage(&id).unwrap();
    assert!(span(&seen) > seen.duration_s + 0.05, "{seen:?}");
    windows.unwatch(&id);
    let ended = windows.usage(&id).unwrap();
    assert_eq!(ended.duration_s, seen.duration_s);
    spin(5);
    assert_eq!(span(&windows.usage(&id).unwrap()), span(&ended));
    assert_eq!(ended.processes[0].cpu_s, seen.processes[0].cpu_s);
    windows.begin_part(&id, "next".to_owned()).unwrap();
    assert!(windows.watch(&id));
    refuses(windows.drop_part(&id), "runs");
    assert!(!windows.watch("w99"));
}

#[test]
fn a_dropped_part_leaves_only_its_record() {
    let ledger = Ledger::new(Some("cpu:50%".parse().unwrap()));
    let windows = Windows {
        ledger: Arc::clone(&ledger),
        ..Windows::default()
    };
    let manner = Manner {
        by_cpu: true,
        ..Manner::PAUSED
    };
    let id = windows.open(vec![this_process()], manner).unwrap();
    let measure = |ms| {
        assert!(windows.resume(&id));
        spin(ms);
        ledger.end(1, None);
        windows.pause(&id);
    };
    let try_begin = |name: &str| windows.begin_part(&id, name.to_owned());
    let begin = |name| try_begin(name).unwrap();
    let usage = || windows.usage(&id).unwrap();
    refuses(windows.drop_part(&id), "has no part that was begun");
    begin("first");
    measure(60);
    let first = usage();
    assert_eq!(first.repeated, []);
    begin("second");
    let none = windows.part(&id).unwrap();
    assert_eq!(none.duration_s, 0.0);
    measure(120);
    assert_eq!(windows.parts_now().len(), 1);
    let part = windows.part(&id).unwrap();
    assert!(part.duration_s >= 0.12 && part.duration_s < usage().duration_s);
    assert!(part.by_cpu.iter().all(|cpu| cpu.span_s >= 0.12));
    windows.resume(&id);
    refuses(windows.drop_part(&id), "runs");
    refuses(try_begin("late"), "runs");
    windows.pause(&id);
    let dropped = windows.drop_part(&id).unwrap();
    assert!(dropped.dropped && dropped.name == "second");
    let left = usage();
    assert_eq!(left.duration_s, first.duration_s);
    assert_eq!(left.processes[0].cpu_s, first.processes[0].cpu_s);
    assert_eq!(left.host.by_cpu, first.host.by_cpu);
    assert_eq!(left.host.busy_s, first.host.busy_s);
    let throttled = |usage: &Usage| usage.limits.system.as_ref().unwrap().effects.throttled;
    assert_eq!(
        (throttled(&left).periods, throttled(&first).periods),
        (1, 1)
    );
    assert_eq!(left.repeated, [dropped]);
    begin("second");
    measure(60);
    begin("third");
    measure(60);
    let all = windows.close(&id).unwrap();
    let named = |part: &Part| (part.name.clone(), part.dropped);
    let repeated: Vec<_> = all.repeated.iter().map(named).collect();
    let second = |dropped| ("second".to_owned(), dropped);
    assert_eq!(repeated, [second(true), second(false)]);
    assert!(all.duration_s >= first.duration_s + all.repeated[1].duration_s + 0.06);
    assert!(all.processes[0].cpu_s > first.processes[0].cpu_s);
    refuses(windows.drop_part(&id), "is closed");
}

#[test]
fn without_peaks_it_only_looks_when_it_is_asked() {
    let windows = Windows::default();
    let id = windows
        .open(vec![this_process()], Manner::default())
        .unwrap();
    let cpu = || windows.with(&id, |window| window.seen_cpu_s()).unwrap();
    let begin = cpu();
    let busy = std::time::Instant::now();
    while busy.elapsed() < Duration::from_millis(50) {}
    windows.sample();
    assert_eq!(cpu(), begin);
    windows.usage(&id).unwrap();
    assert!(cpu() > begin);
}
