//! Answers of an authoritative DNS server: one zone, in which each address follows from the name.

use serde::Deserialize;
use simple_dns::rdata::{A, OPT, RData};
use simple_dns::{CLASS, OPCODE, Packet, PacketFlag, QTYPE, RCODE, ResourceRecord, TYPE};

use super::counters::Counters;
use crate::dns::address_of;

/// Bytes of the largest query over UDP that the server takes, as DNS Flag Day 2020 recommends.
const EDNS_BYTES: u16 = 1232;

/// The zone `windtunnel.test` ([`crate::dns`]).
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Zone {
    /// TTL of the records, seconds.
    pub ttl_s: u32,
}

impl Default for Zone {
    fn default() -> Self {
        Self { ttl_s: 3_600 }
    }
}

impl Zone {
    /// The answer to a query; `None` if the message is no query.
    pub fn answer(self, query: &[u8], counters: &Counters) -> Option<Vec<u8>> {
        let query = Packet::parse(query).ok()?;
        let asked = !query.has_flags(PacketFlag::RESPONSE);
        let [question] = query.questions.as_slice() else {
            return None;
        };
        if !asked || query.opcode() != OPCODE::StandardQuery {
            return None;
        }
        let mut answer = Packet::new_reply(query.id());
        answer.set_flags(PacketFlag::AUTHORITATIVE_ANSWER);
        if query.has_flags(PacketFlag::RECURSION_DESIRED) {
            answer.set_flags(PacketFlag::RECURSION_DESIRED);
        }
        *answer.opt_mut() = query.opt().map(|_| edns());
        answer.questions.push(question.clone());
        Counters::add(&counters.dns_queries, 1);
        match address_of(&question.qname) {
            None => {
                Counters::add(&counters.dns_nxdomain, 1);
                *answer.rcode_mut() = RCODE::NameError;
            }
            Some(address) if question.qtype == QTYPE::TYPE(TYPE::A) => {
                let name = question.qname.clone();
                let data = RData::A(A::from(address));
                let record = ResourceRecord::new(name, CLASS::IN, self.ttl_s, data);
                answer.answers.push(record);
            }
            // The name exists, but has no record of this type.
            Some(_) => {}
        }
        answer.build_bytes_vec_compressed().ok()
    }
}

/// The server's answer to EDNS (RFC 6891): the size of datagrams that it takes.
fn edns() -> OPT<'static> {
    OPT {
        opt_codes: Vec::new(),
        udp_packet_size: EDNS_BYTES,
        version: 0,
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
