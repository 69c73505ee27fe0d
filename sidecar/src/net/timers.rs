//! Future actions, the soonest first. Actions for one moment keep the order in which they were added.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

pub struct Timers<T> {
    heap: BinaryHeap<Entry<T>>,
    added: u64,
}

struct Entry<T> {
    due_ns: u64,
    number: u64,
    what: T,
}

impl<T> Timers<T> {
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            added: 0,
        }
    }

    pub fn add(&mut self, due_ns: u64, what: T) {
        self.added += 1;
        self.heap.push(Entry {
            due_ns,
            number: self.added,
            what,
        });
    }

    /// When the next one is due.
    pub fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|entry| entry.due_ns)
    }

    /// The next one, if it is due, and when it was.
    pub fn due(&mut self, now_ns: u64) -> Option<(u64, T)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.heap.pop().map(|entry| (entry.due_ns, entry.what))
    }
}

impl<T> Entry<T> {
    fn key(&self) -> (u64, u64) {
        (self.due_ns, self.number)
    }
}

impl<T> Ord for Entry<T> {
    /// The heap's greatest is the soonest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

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
