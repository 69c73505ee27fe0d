//! Records datagrams on their way, and classifies each answer. The code does no input or output.

const NOT_SENT: u64 = 0;
const ANSWERED: u64 = u64::MAX;
const LOST: u64 = u64::MAX - 1;

/// The class of an answer with a certain sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The first answer, in time. `out_of_order`: an answer with a higher number came before it.
    InTime { sent_ns: u64, out_of_order: bool },
    /// Answered already.
    Duplicate,
    /// Counted as lost already.
    Late,
    /// Never sent.
    Unknown,
}

pub struct Ledger {
    /// By sequence number: when it was sent, or one of the states above.
    moments: Vec<u64>,
    next: usize,
    /// All datagrams below this number have ended.
    oldest: usize,
    /// Numbers below this one belong to earlier parts.
    first: usize,
    highest: Option<usize>,
    pub in_flight: u64,
}

impl Ledger {
    /// For `all` datagrams in total.
    pub fn new(all: u64) -> Self {
        // Written once, so that no page is missing when it is measured.
        let mut moments = vec![ANSWERED; all as usize];
        moments.fill(NOT_SENT);
        Self {
            moments,
            next: 0,
            oldest: 0,
            first: 0,
            highest: None,
            in_flight: 0,
        }
    }

    pub fn add(&mut self) {
        self.moments.push(NOT_SENT);
    }

    /// A new part begins: all datagrams of the previous one have ended.
    pub fn begin_part(&mut self) {
        self.first = self.next;
        self.oldest = self.next;
        self.highest = None;
        self.in_flight = 0;
    }

    pub fn first(&self) -> usize {
        self.first
    }

    #[inline]
    pub fn next(&self) -> usize {
        self.next
    }

    #[inline]
    pub fn sent(&mut self, count: usize, now_ns: u64) {
        self.moments[self.next..self.next + count].fill(now_ns);
        self.next += count;
        self.in_flight += count as u64;
    }

    #[inline]
    pub fn answered(&mut self, sequence: u32) -> Answer {
        let sequence = sequence as usize;
        if sequence < self.first || sequence >= self.next {
            return Answer::Unknown;
        }
        match std::mem::replace(&mut self.moments[sequence], ANSWERED) {
            ANSWERED => Answer::Duplicate,
            LOST => Answer::Late,
            sent_ns => {
                self.in_flight -= 1;
                let out_of_order = self.highest.is_some_and(|highest| sequence < highest);
                self.highest = self.highest.max(Some(sequence));
                Answer::InTime {
                    sent_ns,
                    out_of_order,
                }
            }
        }
    }

    /// Gives up the datagrams that were sent at `before_ns` or earlier, and returns how many.
    #[inline]
    pub fn expire(&mut self, before_ns: u64) -> u64 {
        let mut lost = 0;
        while self.oldest < self.next {
            let moment = &mut self.moments[self.oldest];
            if *moment < LOST {
                if *moment > before_ns {
                    break;
                }
                *moment = LOST;
                lost += 1;
            }
            self.oldest += 1;
        }
        self.in_flight -= lost;
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_time(sent_ns: u64, out_of_order: bool) -> Answer {
        Answer::InTime {
            sent_ns,
            out_of_order,
        }
    }

    #[test]
    fn each_answer_is_what_it_is() {
        let mut ledger = Ledger::new(10);
        ledger.sent(4, 100);
        assert_eq!((ledger.in_flight, ledger.next()), (4, 4));
        assert_eq!(ledger.answered(1), in_time(100, false));
        assert_eq!(ledger.answered(0), in_time(100, true));
        assert_eq!(ledger.answered(1), Answer::Duplicate);
        assert_eq!(ledger.answered(4), Answer::Unknown);
        assert_eq!(ledger.answered(u32::MAX), Answer::Unknown);
        ledger.sent(1, 200);
        assert_eq!(ledger.expire(99), 0);
        assert_eq!(ledger.expire(100), 2);
        assert_eq!(ledger.in_flight, 1);
        assert_eq!(ledger.answered(2), Answer::Late);
        assert_eq!(ledger.answered(2), Answer::Duplicate);
        assert_eq!(ledger.answered(4), in_time(200, false));
        assert_eq!((ledger.in_flight, ledger.expire(300)), (0, 0));
    }

    #[test]
    fn answers_of_the_part_before_count_no_more() {
        let mut ledger = Ledger::new(4);
        ledger.sent(2, 100);
        ledger.begin_part();
        ledger.sent(2, 200);
        assert_eq!(ledger.answered(1), Answer::Unknown);
        assert_eq!(ledger.answered(2), in_time(200, false));
        assert_eq!(ledger.expire(200), 1);
    }
}
