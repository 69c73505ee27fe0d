//! Future actions, the soonest first. Actions for one moment keep the order in which they were added.

use std::collections::BTreeMap;

pub struct Timers<T> {
    /// By the moment and the number.
    all: BTreeMap<(u64, u64), T>,
    added: u64,
}

impl<T> Timers<T> {
    pub const fn new() -> Self {
        Self {
            all: BTreeMap::new(),
            added: 0,
        }
    }

    pub fn add(&mut self, due_ns: u64, what: T) {
        self.added += 1;
        self.all.insert((due_ns, self.added), what);
    }

    pub fn next_ns(&self) -> Option<u64> {
        self.all.first_key_value().map(|((due_ns, _), _)| *due_ns)
    }

    /// The next one, if it is due, and when it was.
    pub fn due(&mut self, now_ns: u64) -> Option<(u64, T)> {
        let next = self.all.first_entry()?;
        let (due_ns, _) = *next.key();
        (due_ns <= now_ns).then(|| (due_ns, next.remove()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soonest_comes_first_and_equals_keep_their_order() {
        let mut timers = Timers::new();
        for (due, what) in [(30, 'd'), (10, 'a'), (20, 'b'), (20, 'c')] {
            timers.add(due, what);
        }
        assert_eq!(timers.next_ns(), Some(10));
        assert_eq!(timers.due(9), None);
        let order: Vec<char> = std::iter::from_fn(|| timers.due(20))
            .map(|(_, what)| what)
            .collect();
        assert_eq!(order, ['a', 'b', 'c']);
        assert_eq!(timers.due(30), Some((30, 'd')));
        assert_eq!(timers.next_ns(), None);
    }
}
