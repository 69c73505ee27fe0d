//! The fate of each datagram. The code does no input or output.

use std::collections::BTreeMap;

use crate::probe::spec::Spec;

const NOT_SENT: u64 = 0;
const ANSWERED: u64 = u64::MAX;
const LATE: u64 = u64::MAX - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    InTime,
    /// The first answer, after the timeout: the datagram counts as lost.
    Late,
    Duplicate,
    /// Never sent.
    Unknown,
}

pub struct Record {
    /// By number: when it was sent, or one of the states above.
    moments: Vec<u64>,
    measured: usize,
    timeout_ns: u64,
    pub sent: u64,
    /// Sent, and without any answer.
    pub waiting: u64,
}

/// Numbers of datagrams after the idle time. Number `i` still belongs to association `i mod N`.
pub fn after_idle(spec: &Spec) -> u64 {
    match spec.idle {
        Some(_) => first_of(spec) + spec.connections - spec.count,
        None => 0,
    }
}

pub fn first_of(spec: &Spec) -> u64 {
    spec.count.next_multiple_of(spec.connections)
}

impl Record {
    /// For `measured` datagrams, and `more` after them that are in neither losses nor bursts.
    pub fn new(measured: u64, more: u64, timeout_ns: u64) -> Self {
        // Written once, so that no page is missing when it is measured.
        let mut moments = vec![ANSWERED; (measured + more) as usize];
        moments.fill(NOT_SENT);
        Self {
            moments,
            measured: measured as usize,
            timeout_ns,
            sent: 0,
            waiting: 0,
        }
    }

    pub fn sent(&mut self, number: usize, now_ns: u64) {
        self.moments[number] = now_ns;
        self.sent += 1;
        self.waiting += 1;
    }

    pub fn answered(&mut self, number: usize, now_ns: u64) -> Answer {
        let Some(moment) = self.moments.get_mut(number) else {
            return Answer::Unknown;
        };
        match *moment {
            NOT_SENT => Answer::Unknown,
            ANSWERED | LATE => Answer::Duplicate,
            sent_ns => {
                let late = now_ns.saturating_sub(sent_ns) >= self.timeout_ns;
                *moment = if late { LATE } else { ANSWERED };
                self.waiting -= 1;
                if late { Answer::Late } else { Answer::InTime }
            }
        }
    }

    fn lost_at(&self, number: usize) -> bool {
        !matches!(self.moments[number], NOT_SENT | ANSWERED)
    }

    /// Datagrams that were sent and not answered in time.
    pub fn lost(&self) -> u64 {
        (0..self.measured).filter(|it| self.lost_at(*it)).count() as u64
    }

    /// Number of runs of consecutive losses by length; number `i` belongs to association `i mod associations`.
    pub fn loss_bursts(&self, associations: usize) -> BTreeMap<u64, u64> {
        let mut bursts = BTreeMap::new();
        for first in 0..associations {
            let mut length = 0;
            for number in (first..self.measured).step_by(associations) {
                if self.lost_at(number) {
                    length += 1;
                } else if length > 0 {
                    *bursts.entry(length).or_default() += 1;
                    length = 0;
                }
            }
            if length > 0 {
                *bursts.entry(length).or_default() += 1;
            }
        }
        bursts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_answer_is_what_it_is() {
        let mut record = Record::new(4, 0, 100);
        (0..3).for_each(|number| record.sent(number, 10));
        assert_eq!(record.answered(0, 109), Answer::InTime);
        assert_eq!(record.answered(0, 109), Answer::Duplicate);
        assert_eq!(record.answered(1, 110), Answer::Late);
        assert_eq!(record.answered(1, 110), Answer::Duplicate);
        assert_eq!(record.answered(3, 110), Answer::Unknown);
        assert_eq!(record.answered(4, 110), Answer::Unknown);
        assert_eq!((record.sent, record.waiting, record.lost()), (3, 1, 2));
    }

    #[test]
    fn bursts_are_of_each_association() {
        // The even numbers lose 1 and 3 in a row, the odd ones 2 at the end, and their last was not sent.
        let mut record = Record::new(16, 2, 100);
        (0..15).for_each(|number| record.sent(number, 1));
        for number in [2, 4, 6, 14, 1, 3, 5, 7, 9] {
            record.answered(number, 2);
        }
        assert_eq!(record.loss_bursts(2), [(1, 1), (2, 1), (3, 1)].into());
        assert_eq!(record.lost(), 6);
    }
}
