//! DNS over UDP: the queries of a probe, and what each answer must be. [`super::udp`] sends and receives them.

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, RData, RecordType};

use super::context::Context;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::Outcome;
use super::plan::Plan;
use super::udp::{self, Content};
use crate::dns::{DIGITS, ZONE, address_of, label};

/// Bytes of the header, and of the length and the letter in front of a name's digits (RFC 1035, 4.1.1 and 3.1).
const HEADER_BYTES: usize = 12;
const DIGITS_AT: usize = HEADER_BYTES + 2;
/// What is asked for without EDNS is no longer.
const ANSWER_BYTES: usize = 512;

pub fn run(plan: &Plan, context: &Context) -> Result<Outcome, ProbeError> {
    let questions = Questions::new(plan)
        .map_err(|error| ProbeError::new(ErrorKind::Network, format!("DNS: {error}")))?;
    udp::run_with(plan, context, questions)
}

/// Queries of one length, for the A records of `n0000000000.RUN.windtunnel.test` and so on.
struct Questions {
    /// The query for the first name, id 0.
    first: Vec<u8>,
    run: String,
    /// After so many it begins anew.
    names: u64,
}

impl Questions {
    fn new(plan: &Plan) -> Result<Self, hickory_proto::ProtoError> {
        let mut questions = Self {
            first: Vec::new(),
            run: plan.dns.run.clone(),
            names: plan.dns.names.unwrap_or(u64::MAX),
        };
        let mut message = Message::new(0, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(questions.question(0)?);
        questions.first = message.to_vec()?;
        Ok(questions)
    }

    fn number(&self, sequence: u32) -> u64 {
        u64::from(sequence) % self.names
    }

    fn question(&self, sequence: u32) -> Result<Query, hickory_proto::ProtoError> {
        let number = label(self.number(sequence));
        let name = Name::from_ascii(format!("{number}.{}.{ZONE}.", self.run))?;
        Ok(Query::query(name, RecordType::A))
    }

    /// Why an answer is not the one to this query.
    fn wrong(&self, sequence: u32, answer: &[u8]) -> Option<ErrorKind> {
        let (Ok(question), Ok(answer)) = (self.question(sequence), Message::from_vec(answer))
        else {
            return Some(ErrorKind::Corrupted);
        };
        let meta = &answer.metadata;
        let answers_it = meta.id == sequence as u16
            && meta.message_type == MessageType::Response
            && answer.queries.as_slice() == std::slice::from_ref(&question);
        if !answers_it {
            return Some(ErrorKind::Corrupted);
        }
        match meta.response_code {
            _ if meta.truncation => return Some(ErrorKind::Truncated),
            ResponseCode::NoError => {}
            ResponseCode::NXDomain => return Some(ErrorKind::DnsNxdomain),
            ResponseCode::ServFail => return Some(ErrorKind::DnsServfail),
            ResponseCode::Refused => return Some(ErrorKind::DnsRefused),
            _ => return Some(ErrorKind::DnsOther),
        }
        let right = address_of(question.name());
        let is_right = match answer.answers.as_slice() {
            [record] => {
                record.name == *question.name()
                    && record.dns_class == DNSClass::IN
                    && matches!(&record.data, RData::A(a) if Some(a.0) == right)
            }
            _ => false,
        };
        (!is_right).then_some(ErrorKind::Corrupted)
    }
}

impl Content for Questions {
    const ORDERED: bool = false;

    fn size(&self) -> usize {
        self.first.len()
    }

    fn answer_bytes(&self) -> usize {
        ANSWER_BYTES
    }

    fn fill(&self, sequence: u32, into: &mut [u8]) {
        into.copy_from_slice(&self.first);
        into[..2].copy_from_slice(&(sequence as u16).to_be_bytes());
        let digits = format!("{:0DIGITS$}", self.number(sequence));
        into[DIGITS_AT..DIGITS_AT + DIGITS].copy_from_slice(digits.as_bytes());
    }

    /// The last query of its id, which has 16 bits only.
    fn sequence(&self, answer: &[u8], next: usize) -> Option<u32> {
        let id = u16::from_be_bytes(*answer.first_chunk()?);
        let last = u32::try_from(next).ok()?.checked_sub(1)?;
        last.checked_sub(u32::from((last as u16).wrapping_sub(id)))
    }

    fn check(&self, sequence: u32, answer: &[u8]) -> Result<(), ErrorKind> {
        self.wrong(sequence, answer).map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use hickory_proto::rr::Record;
    use hickory_proto::rr::rdata::A;

    use super::*;
    use crate::probe::plan::Allowed;
    use crate::probe::spec::{DnsSpec, ProbeKind, Spec};

    type Change = fn(&mut Message);

    fn questions(names: Option<u64>) -> Questions {
        let mut spec = Spec::new(ProbeKind::Dns, "127.0.0.1:9".into());
        spec.dns = Some(DnsSpec {
            run: "r7".into(),
            names,
        });
        Questions::new(&Plan::check(spec, &Allowed::default()).unwrap()).unwrap()
    }

    fn query(questions: &Questions, sequence: u32) -> Message {
        let mut bytes = vec![0; questions.size()];
        questions.fill(sequence, &mut bytes);
        Message::from_vec(&bytes).unwrap()
    }

    /// The right answer to a query, changed by `change`.
    fn answer(questions: &Questions, sequence: u32, change: impl FnOnce(&mut Message)) -> Vec<u8> {
        let mut message = query(questions, sequence).into_response();
        let name = message.queries[0].name().clone();
        let address = address_of(&name).unwrap();
        message.add_answer(Record::from_rdata(name, 60, RData::A(A(address))));
        change(&mut message);
        message.to_vec().unwrap()
    }

    #[test]
    fn each_query_asks_for_its_own_name_or_for_one_of_a_few() {
        for (names, sequence, name) in [
            (None, 0, "n0000000000.r7.windtunnel.test."),
            (None, 70_001, "n0000070001.r7.windtunnel.test."),
            (Some(3), 70_001, "n0000000002.r7.windtunnel.test."),
        ] {
            let query = query(&questions(names), sequence);
            assert_eq!(query.metadata.id, sequence as u16);
            assert!(query.metadata.recursion_desired);
            assert_eq!(query.queries.len(), 1);
            assert_eq!(query.queries[0].name().to_ascii(), name);
            assert_eq!(query.queries[0].query_type(), RecordType::A);
        }
    }

    #[test]
    fn an_answer_is_to_the_last_query_of_its_id() {
        let questions = questions(None);
        let of = |id: u16, next| questions.sequence(&id.to_be_bytes(), next);
        assert_eq!(of(5, 6), Some(5));
        assert_eq!(of(5, 65_542), Some(65_541));
        assert_eq!(of(65_535, 65_540), Some(65_535));
        // Not asked yet.
        assert_eq!(of(6, 6), None);
        assert_eq!(of(0, 0), None);
        assert_eq!(questions.sequence(&[1], 6), None);
    }

    #[test]
    fn only_the_right_answer_is_right() {
        let questions = questions(None);
        let check = |change: Change| questions.check(9, &answer(&questions, 9, change));
        assert_eq!(check(|_| {}), Ok(()));
        let wrong: [(Change, ErrorKind); 9] = [
            (|m| m.metadata.id = 8, ErrorKind::Corrupted),
            (
                |m| m.metadata.message_type = MessageType::Query,
                ErrorKind::Corrupted,
            ),
            (|m| m.queries.clear(), ErrorKind::Corrupted),
            (|m| m.answers.clear(), ErrorKind::Corrupted),
            (
                |m| m.answers[0].data = RData::A(A(Ipv4Addr::LOCALHOST)),
                ErrorKind::Corrupted,
            ),
            (|m| m.metadata.truncation = true, ErrorKind::Truncated),
            (
                |m| m.metadata.response_code = ResponseCode::NXDomain,
                ErrorKind::DnsNxdomain,
            ),
            (
                |m| m.metadata.response_code = ResponseCode::ServFail,
                ErrorKind::DnsServfail,
            ),
            (
                |m| m.metadata.response_code = ResponseCode::NotImp,
                ErrorKind::DnsOther,
            ),
        ];
        for (change, kind) in wrong {
            assert_eq!(check(change), Err(kind));
        }
        assert_eq!(
            questions.check(9, &answer(&questions, 10, |m| m.metadata.id = 9)),
            Err(ErrorKind::Corrupted)
        );
        assert_eq!(questions.check(9, b"nonsense"), Err(ErrorKind::Corrupted));
    }
}
