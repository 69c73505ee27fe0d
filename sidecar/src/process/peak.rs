//! Kinds of the system's descriptors close to the moment when it has the most of them. A reading of kinds costs much more than a sample, so
//! samples read them seldom.

use std::time::Instant;

use super::descriptors;
use super::target::Target;

/// Samples read kinds for at most 1 / TIME of the time.
const TIME: u32 = 100;

/// The readings of a window.
#[derive(Default)]
pub struct Peaks {
    /// Samples do not read before this moment.
    not_before: Option<Instant>,
}

impl Peaks {
    pub fn read(&mut self, targets: &mut [Target], closely: bool) {
        let began = Instant::now();
        if !closely && self.not_before.is_some_and(|moment| began < moment) {
            return;
        }
        let new = targets.iter_mut().filter_map(|target| {
            let pids = target.new_kinds(closely)?.to_vec();
            Some((target, pids))
        });
        let (new, pids): (Vec<_>, Vec<_>) = new.unzip();
        if new.is_empty() {
            return;
        }
        for (target, found) in new.into_iter().zip(descriptors::kinds(&pids)) {
            target.note_kinds(found);
        }
        self.not_before = Some(began + began.elapsed() * TIME);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::files;
    use super::super::role::Role;
    use super::super::tree::Births;
    use super::*;
    use crate::process::python::Python;
    use crate::process::usage::Source;

    /// Opens and closes a known number of each kind, and one more file, when a line says so.
    const HOLDER: &str = "
import socket, sys
for line in sys.stdin:
    if line == 'open\\n':
        listener = socket.create_server(('127.0.0.1', 0), backlog=100)
        ends = [socket.create_connection(listener.getsockname()) for _ in range(70)]
        ends += [listener.accept()[0] for _ in range(70)]
        for one in ends[:30]: one.close()
        datagrams = [socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) for _ in range(50)]
        for one in datagrams: one.bind(('::1', 0))
        files = [open('/dev/null') for _ in range(60)]
    elif line == 'one more\\n':
        files.append(open('/dev/null'))
    else:
        for one in [listener] + ends + datagrams + files: one.close()
    print('done', flush=True)
";

    #[test]
    fn the_kinds_at_the_peak_are_known_after_it() {
        let mut python = Python::start(HOLDER);
        let pid = python.pid();
        let source = Source::pid("holder", pid).unwrap_or_else(|error| panic!("{error}"));
        let target = |role| Target::new("holder".to_owned(), role, source.clone());
        let mut targets = [target(Role::System), target(Role::Generator)];
        let mut peaks = Peaks::default();
        let mut look = |closely| {
            for target in &mut targets {
                target.sample(&Births::default());
            }
            peaks.read(&mut targets, closely);
            let used = |target: &Target| target.usage(1.0, Instant::now());
            let [system, generator] = targets.each_ref().map(used);
            assert_eq!(generator.peak_descriptors, None);
            (system.peak_open_files, system.peak_descriptors)
        };
        python.ask("open");
        let all = files::open_of(pid).unwrap();
        let (most, at_peak) = look(false);
        let at_peak = at_peak.unwrap();
        assert_eq!((most, at_peak.all), (Some(all), all));
        let tcp: Vec<_> = at_peak
            .tcp
            .iter()
            .map(|(state, count)| (state.as_str(), *count))
            .collect();
        assert_eq!(
            tcp,
            [("close_wait", 30), ("established", 80), ("listen", 1)]
        );
        assert_eq!((at_peak.udp, at_peak.left), (50, 30));
        assert!(at_peak.pipes >= 2 && at_peak.other >= 60);
        assert_eq!(at_peak.other, all - 161 - at_peak.pipes);
        python.ask("one more");
        assert_eq!(look(false), (Some(all + 1), Some(at_peak.clone())));
        let (_, closely) = look(true);
        assert_eq!(
            closely.as_ref().map(|kinds| kinds.other),
            Some(at_peak.other + 1)
        );
        python.ask("close");
        assert_eq!(look(true), (Some(all + 1), closely));
    }

    #[test]
    fn samples_read_only_for_a_part_of_the_time() {
        let pid = std::process::id() as i32;
        let source = Source::pid("own", pid).unwrap_or_else(|error| panic!("{error}"));
        let mut targets = [Target::new("own".to_owned(), Role::System, source)];
        targets[0].sample(&Births::default());
        let later = Instant::now() + Duration::from_secs(600);
        let mut peaks = Peaks {
            not_before: Some(later),
        };
        let mut found = |closely| {
            peaks.read(&mut targets, closely);
            targets[0].usage(1.0, later).peak_descriptors.is_some()
        };
        let is_told = files::open_of(pid).is_some();
        assert_eq!([found(false), found(true)], [false, is_told]);
    }
}
