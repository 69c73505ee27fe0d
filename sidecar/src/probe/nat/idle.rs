//! How long a mapping lives without datagrams (RFC 5780, 4.6), and which datagrams keep it.

use std::time::Duration;

use super::report::{Idle, Life};
use super::shared::Nat;
use crate::net::clock::{now_ns, seconds};
use crate::probe::socks5::codec::Address;

struct Tried {
    idle_s: f64,
    inbound: bool,
    outbound: bool,
}

/// The life by what was kept after each idle time; none if nothing was tried.
fn life(tried: &[Tried], kept: impl Fn(&Tried) -> bool) -> Option<Life> {
    let forgotten = tried.iter().filter(|one| !kept(one)).map(|one| one.idle_s);
    let forgotten_s = forgotten.reduce(f64::min);
    let before = |idle_s: &f64| forgotten_s.is_none_or(|forgotten| *idle_s < forgotten);
    let kept_s = tried.iter().map(|one| one.idle_s).filter(before);
    (!tried.is_empty()).then_some(Life {
        kept_s: kept_s.reduce(f64::max),
        forgotten_s,
    })
}

impl Nat<'_> {
    pub fn idle(&self, own: bool) -> Idle {
        let times = &self.plan.nat.idle_s;
        let (Some(shortest), Some(longest)) = (
            times.iter().copied().reduce(f64::min),
            times.iter().copied().reduce(f64::max),
        ) else {
            return Idle::default();
        };
        std::thread::scope(|scope| {
            let tries = times
                .iter()
                .map(|time| scope.spawn(move || self.after(own, *time)));
            let tries: Vec<_> = tries.collect();
            let refreshed = [true, false]
                .map(|out| scope.spawn(move || self.refreshed(own, out, shortest / 2.0, longest)));
            let tried: Vec<Tried> = tries
                .into_iter()
                .filter_map(|one| one.join().ok().flatten())
                .collect();
            let [by_outbound, by_inbound] = refreshed.map(|one| one.join().ok().flatten());
            let inbound = life(&tried, |one| one.inbound);
            let outbound = life(&tried, |one| one.outbound);
            // A mapping that lives shows a refresh only if an idle mapping dies.
            let shows = |life: &Option<Life>| {
                life.is_some_and(|life| life.kept_s.is_some() && life.forgotten_s.is_some())
            };
            let shows = shows(&inbound) || shows(&outbound);
            Idle {
                inbound,
                outbound,
                refreshed_by_outbound: by_outbound.filter(|_| shows),
                refreshed_by_inbound: by_inbound.filter(|_| shows),
            }
        })
    }

    fn after(&self, own: bool, idle_s: f64) -> Option<Tried> {
        let line = self.line(own)?;
        let far = self.first_far().ok()?;
        let mapped = line.begin(&far)?;
        let began = now_ns();
        self.pause(Duration::from_secs_f64(idle_s));
        let idle_s = seconds(now_ns() - began);
        let inbound = line.down(&far, mapped);
        let outbound = line.up(&far) == Some(mapped);
        Some(Tried {
            idle_s,
            inbound,
            outbound,
        })
    }

    /// Whether a mapping lives for a time in which one side alone sends, at an interval.
    fn refreshed(&self, own: bool, outbound: bool, every_s: f64, seconds: f64) -> Option<bool> {
        let line = self.line(own)?;
        let far = self.first_far().ok()?;
        let mapped = line.begin(&far)?;
        let to = Address::Ip(far.local_addr().ok()?);
        let end = now_ns() + (seconds * 1e9) as u64;
        while now_ns() < end && !self.stops() {
            self.pause(Duration::from_secs_f64(every_s));
            if outbound {
                line.send(&to, 0, &self.payload());
            } else {
                let _ = far.send_to(&self.payload(), mapped);
            }
        }
        Some(line.down(&far, mapped) && line.up(&far) == Some(mapped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_lies_between_what_was_kept_and_what_was_forgotten() {
        let tried = |lives: f64| {
            [3.0, 1.0, 2.0].map(|idle_s| Tried {
                idle_s,
                inbound: idle_s < lives,
                outbound: true,
            })
        };
        for (lives, kept_s, forgotten_s) in [
            (0.5, None, Some(1.0)),
            (1.5, Some(1.0), Some(2.0)),
            (9.0, Some(3.0), None),
        ] {
            let found = Some(Life {
                kept_s,
                forgotten_s,
            });
            assert_eq!(life(&tried(lives), |one| one.inbound), found, "{lives}");
        }
        assert_eq!(life(&[], |one| one.inbound), None);
    }
}
