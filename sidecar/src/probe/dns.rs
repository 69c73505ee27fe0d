//! DNS over UDP: the queries of a probe, and what each answer must be. [`super::udp`] sends and receives them.

use simple_dns::rdata::RData;
use simple_dns::{CLASS, Name, Packet, PacketFlag, QCLASS, QTYPE, Question, RCODE, TYPE};

use super::context::Context;
use super::kinds::{ErrorKind, ProbeError};
use super::outcome::Outcome;
use super::plan::Plan;
use super::udp::{self, Content};
use crate::dns::{DIGITS, ZONE, address_of, label};

/// Bytes of the header, and of the length and the letter in front of a name's digits (RFC 1035, 4.1.1 and 3.1).
const HEADER_BYTES: usize = 12;
const DIGITS_AT: usize = HEADER_BYTES + 2;
/// The longest answer to a query without EDNS, bytes.
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
    /// The names repeat after this many queries.
    names: u64,
}

impl Questions {
    fn new(plan: &Plan) -> Result<Self, simple_dns::SimpleDnsError> {
        let mut questions = Self {
            first: Vec::new(),
            run: plan.dns.run.clone(),
            names: plan.dns.names.unwrap_or(u64::MAX),
        };
        let mut query = Packet::new_query(0);
        query.set_flags(PacketFlag::RECURSION_DESIRED);
        query.questions.push(questions.question(0)?);
        questions.first = query.build_bytes_vec()?;
        Ok(questions)
    }

    fn number(&self, sequence: u32) -> u64 {
        u64::from(sequence) % self.names
    }

    fn question(&self, sequence: u32) -> Result<Question<'static>, simple_dns::SimpleDnsError> {
        let number = label(self.number(sequence));
        let name = format!("{number}.{}.{ZONE}.", self.run);
        let name = Name::new(&name)?.into_owned();
        let (kind, class) = (QTYPE::TYPE(TYPE::A), QCLASS::CLASS(CLASS::IN));
        Ok(Question::new(name, kind, class, false))
    }

    /// Why an answer is not the one to this query.
    fn wrong(&self, sequence: u32, answer: &[u8]) -> Option<ErrorKind> {
        let (Ok(question), Ok(answer)) = (self.question(sequence), Packet::parse(answer)) else {
            return Some(ErrorKind::Corrupted);
        };
        let answers_it = answer.id() == sequence as u16
            && answer.has_flags(PacketFlag::RESPONSE)
            && is_only(&question, &answer.questions);
        if !answers_it {
            return Some(ErrorKind::Corrupted);
        }
        match answer.rcode() {
            _ if answer.has_flags(PacketFlag::TRUNCATION) => return Some(ErrorKind::Truncated),
            RCODE::NoError => {}
            RCODE::NameError => return Some(ErrorKind::DnsNxdomain),
            RCODE::ServerFailure => return Some(ErrorKind::DnsServfail),
            RCODE::Refused => return Some(ErrorKind::DnsRefused),
            _ => return Some(ErrorKind::DnsOther),
        }
        let right = address_of(&question.qname);
        let is_right = match answer.answers.as_slice() {
            [record] => {
                record.name == question.qname
                    && record.class == CLASS::IN
                    && matches!(&record.rdata, RData::A(a) if Some(a.address.into()) == right)
            }
            _ => false,
        };
        (!is_right).then_some(ErrorKind::Corrupted)
    }
}

/// Whether an answer repeats one question, and no other. Names are compared without case (RFC 4343).
fn is_only(asked: &Question, repeated: &[Question]) -> bool {
    let [one] = repeated else {
        return false;
    };
    one.qname == asked.qname && one.qtype == asked.qtype && one.qclass == asked.qclass
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

    use simple_dns::ResourceRecord;
    use simple_dns::rdata::A;

    use super::*;
    use crate::probe::plan::Allowed;
    use crate::probe::spec::{DnsSpec, ProbeKind, Spec};

    type Change = fn(&mut Packet);

    fn questions(names: Option<u64>) -> Questions {
        let mut spec = Spec::new(ProbeKind::Dns, "127.0.0.1:9".into());
        spec.dns = Some(DnsSpec {
            run: "r7".into(),
            names,
        });
        Questions::new(&Plan::check(spec, &Allowed::default()).unwrap()).unwrap()
    }

    fn query(questions: &Questions, sequence: u32) -> Vec<u8> {
        let mut bytes = vec![0; questions.size()];
        questions.fill(sequence, &mut bytes);
        bytes
    }

    /// The right answer to a query, changed by `change`.
    fn answer(questions: &Questions, sequence: u32, change: impl FnOnce(&mut Packet)) -> Vec<u8> {
        let query = query(questions, sequence);
        let mut answer = Packet::parse(&query).unwrap().into_reply();
        let name = answer.questions[0].qname.clone();
        let data = RData::A(A::from(address_of(&name).unwrap()));
        let record = ResourceRecord::new(name, CLASS::IN, 60, data);
        answer.answers.push(record);
        change(&mut answer);
        answer.build_bytes_vec().unwrap()
    }

    #[test]
    fn each_query_asks_for_its_own_name_or_for_one_of_a_few() {
        for (names, sequence, name) in [
            (None, 0, "n0000000000.r7.windtunnel.test"),
            (None, 70_001, "n0000070001.r7.windtunnel.test"),
            (Some(3), 70_001, "n0000000002.r7.windtunnel.test"),
        ] {
            let query = query(&questions(names), sequence);
            let query = Packet::parse(&query).unwrap();
            assert_eq!(query.id(), sequence as u16);
            assert!(query.has_flags(PacketFlag::RECURSION_DESIRED));
            assert_eq!(query.questions.len(), 1);
            assert_eq!(query.questions[0].qname.to_string(), name);
            assert_eq!(query.questions[0].qtype, QTYPE::TYPE(TYPE::A));
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
            (|m| m.set_id(8), ErrorKind::Corrupted),
            (
                |m| m.remove_flags(PacketFlag::RESPONSE),
                ErrorKind::Corrupted,
            ),
            (|m| m.questions.clear(), ErrorKind::Corrupted),
            (|m| m.answers.clear(), ErrorKind::Corrupted),
            (
                |m| m.answers[0].rdata = RData::A(A::from(Ipv4Addr::LOCALHOST)),
                ErrorKind::Corrupted,
            ),
            (
                |m| m.set_flags(PacketFlag::TRUNCATION),
                ErrorKind::Truncated,
            ),
            (
                |m| *m.rcode_mut() = RCODE::NameError,
                ErrorKind::DnsNxdomain,
            ),
            (
                |m| *m.rcode_mut() = RCODE::ServerFailure,
                ErrorKind::DnsServfail,
            ),
            (
                |m| *m.rcode_mut() = RCODE::NotImplemented,
                ErrorKind::DnsOther,
            ),
        ];
        for (change, kind) in wrong {
            assert_eq!(check(change), Err(kind));
        }
        assert_eq!(
            questions.check(9, &answer(&questions, 10, |m| m.set_id(9))),
            Err(ErrorKind::Corrupted)
        );
        assert_eq!(questions.check(9, b"nonsense"), Err(ErrorKind::Corrupted));
    }
}
