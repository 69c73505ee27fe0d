//! The fields of users, and the keys that follow from them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::failure::{Failure, Result, refuse};
use crate::probe::reach::{Reached, host_of};
use crate::probe::spec::{Loop, ProbeKind, Spec};
use crate::probe::tls::Tls;
use crate::probe::users::crypto;
use crate::probe::users::spec::{Credential, Method, Protocol, UserSpec, UsersSpec};

const MOST_USERS: u64 = 100_000;
const MOST_BYTES: u64 = 16 << 30;
/// With its packet, a datagram fits into what a probe reads at once.
const MOST_DATAGRAM_BYTES: u64 = 16_000;
/// A steady request is one chunk of Shadowsocks, and fits into what an idle connection holds.
const MOST_STEADY_BYTES: u64 = 16 << 10;

#[derive(Clone)]
pub struct Users {
    /// The proxy's inbound.
    pub at: Reached,
    pub tls: Option<Tls>,
    /// One for each entry of the list.
    pub credentials: Vec<Credential>,
}

fn invalid(field: &str, what: &str, mend: &str) -> Failure {
    Failure::invalid(format!("users.{field}: {what}"), mend)
}

/// Checks the users of the proxy `at`, and sets `count` to the number of operations. Messages have no keys.
pub fn check(spec: &mut Spec, at: Option<Reached>) -> Result<Option<Users>> {
    let Some((users, at)) = spec.users.as_ref().zip(at) else {
        let ours = matches!(spec.kind, ProbeKind::Users | ProbeKind::Steady);
        let what = format!("users: a {} probe needs them", spec.kind);
        return refuse(ours, &what, "give users").map(|()| None);
    };
    refuse(
        spec.proxy.is_some(),
        "proxy: users have the proxy's address",
        "give users.address",
    )?;
    let number = users.list.len() as u64;
    refuse(
        !(1..=MOST_USERS).contains(&number),
        &format!("users.list: it has {number} entries"),
        &format!("give 1 to {MOST_USERS}"),
    )?;
    let steady = spec.kind == ProbeKind::Steady;
    let mut bytes = users.list.iter().filter_map(|user| user.bytes);
    refuse(
        bytes.any(|bytes| steady || !(1..=MOST_BYTES).contains(&bytes)),
        "users.list.bytes: it is out of bounds",
        &format!("give 1 to {MOST_BYTES}, and none for steady"),
    )?;
    let every = users.until.map(|until| until.every_ms);
    refuse(
        every.is_some_and(|every_ms| steady || !(1.0..=10_000.0).contains(&every_ms)),
        "users.until: only users has it, with every_ms of 1 to 10000",
        "correct it or leave it out",
    )?;
    refuse(
        users.udp && (steady || users.until.is_some()),
        "users.udp: only users without until has it",
        "leave it out",
    )?;
    refuse(
        users.tls.is_some() && users.protocol == Protocol::Shadowsocks,
        "users.tls: shadowsocks has none",
        "leave it out",
    )?;
    let tls = users.tls.as_ref();
    let checked = Users {
        at,
        tls: tls
            .map(|tls| Tls::new(tls, host_of(&users.address)))
            .transpose()?,
        credentials: credentials(users)?,
    };
    let most = match (steady, users.udp) {
        (true, _) => MOST_STEADY_BYTES,
        (_, true) => MOST_DATAGRAM_BYTES,
        _ => u64::MAX,
    };
    refuse(
        spec.payload_bytes > most,
        "payload_bytes: it is too much for steady or for users.udp",
        &format!("give at most {most}"),
    )?;
    spec.count = match (spec.pace, users.seconds) {
        (Loop::Closed, None) if steady => spec.count,
        (Loop::Closed, None) => number,
        (Loop::Open { rate_per_s }, Some(seconds)) if steady => {
            refuse(
                !(0.1..=3_600.0).contains(&seconds),
                "users.seconds: it is out of bounds",
                "give 0.1 to 3600",
            )?;
            (rate_per_s * seconds).ceil() as u64
        }
        _ => {
            let what = "only steady with loop.open.rate_per_s has seconds";
            return Err(invalid("seconds", what, "give both or leave both out"));
        }
    };
    Ok(Some(checked))
}

fn credentials(users: &UsersSpec) -> Result<Vec<Credential>> {
    let of_shadowsocks = users.protocol == Protocol::Shadowsocks;
    refuse(
        of_shadowsocks != users.method.is_some(),
        "users.method: only shadowsocks has one, and needs it",
        "give method with shadowsocks",
    )?;
    let length = users.method.map_or(0, Method::key_bytes);
    let decode = |field: &str, text: &str| {
        let bytes = STANDARD.decode(text).ok();
        bytes.filter(|key| key.len() == length).ok_or_else(|| {
            let what = format!("it is no base64 of {length} bytes");
            invalid(field, &what, "give a key of the method's length")
        })
    };
    let server = match (&users.server_key, users.method) {
        (None, _) => None,
        (Some(key), Some(method)) if method.is_2022() => Some(decode("server_key", key)?),
        _ => {
            return Err(invalid(
                "server_key",
                "only 2022 methods have one",
                "leave it out",
            ));
        }
    };
    let one = |user: &UserSpec| match (users.protocol, users.method) {
        (_, Some(method)) => Ok(Credential::Shadowsocks {
            method,
            key: if method.is_2022() {
                decode("list.key", &user.key)?
            } else {
                crypto::password_key(&user.key, length)
            },
            server: server.clone(),
        }),
        (Protocol::Vless, _) => uuid(&user.key).map(Credential::Vless).ok_or_else(|| {
            invalid(
                "list.key",
                "it is no UUID",
                "give 32 hexadecimal digits, with or without hyphens",
            )
        }),
        _ => Ok(Credential::Trojan(crypto::trojan_key(&user.key))),
    };
    users.list.iter().map(one).collect()
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let digits: String = text.chars().filter(|letter| *letter != '-').collect();
    if digits.len() != 32 {
        return None;
    }
    let number = u128::from_str_radix(&digits, 16).ok()?;
    (!digits.starts_with('+')).then_some(number.to_be_bytes())
}
