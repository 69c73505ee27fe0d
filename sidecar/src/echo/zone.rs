//! Answers of an authoritative DNS server: one zone, in which each address follows from the name.

use hickory_proto::op::{Edns, Message, MessageType, Metadata, OpCode, ResponseCode};
use hickory_proto::rr::rdata::A;
use hickory_proto::rr::{DNSClass, RData, Record, RecordType};
use serde::Deserialize;

use super::counters::Counters;
use crate::dns::address_of;

/// The zone `windtunnel.test` ([`crate::dns`]).
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// TTL of the records, seconds.
    #[serde(default = "an_hour")]
    pub ttl_s: u32,
}

impl Default for Zone {
    fn default() -> Self {
        Self { ttl_s: an_hour() }
    }
}

fn an_hour() -> u32 {
    3_600
}

impl Zone {
    /// The answer to a query; `None` if the message is no query.
    pub fn answer(self, query: &[u8], counters: &Counters) -> Option<Vec<u8>> {
        let query = Message::from_vec(query).ok()?;
        let asked = query.metadata.message_type == MessageType::Query;
        let [question] = query.queries.as_slice() else {
            return None;
        };
        if !asked || query.metadata.op_code != OpCode::Query {
            return None;
        }
        let mut answer = Message::query();
        answer.metadata = Metadata::response_from_request(&query.metadata);
        answer.metadata.authoritative = true;
        answer.add_query(question.clone());
        answer.edns = query.edns.is_some().then(Edns::new);
        Counters::add(&counters.dns_queries, 1);
        match address_of(question.name()) {
            None => {
                Counters::add(&counters.dns_nxdomain, 1);
                answer.metadata.response_code = ResponseCode::NXDomain;
            }
            Some(address) if question.query_type() == RecordType::A => {
                let mut record =
                    Record::from_rdata(question.name().clone(), self.ttl_s, RData::A(A(address)));
                record.dns_class = DNSClass::IN;
                answer.add_answer(record);
            }
            // The name exists, but has no record of this type.
            Some(_) => {}
        }
        answer.to_vec().ok()
    }
}

/// The first message of a stream (RFC 1035, 4.2.2) and the bytes behind it; `None` if the message is incomplete.
pub fn first_message(stream: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = stream.split_first_chunk::<2>()?;
    rest.split_at_checked(u16::from_be_bytes(*length).into())
}

/// A message with the length prefix that streams use.
pub fn framed(message: &[u8]) -> Vec<u8> {
    let length = (message.len() as u16).to_be_bytes();
    [&length, message].concat()
}
