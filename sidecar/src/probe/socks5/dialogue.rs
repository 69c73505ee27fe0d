//! A client's messages in a SOCKS5 handshake, and the meaning of a proxy's answers. The code does no input or output.

use std::net::SocketAddr;

use super::codec::{self, Address, Bad, Command, MAX_REPLY_BYTES, Method, Reply};
use crate::probe::kinds::{ErrorKind, ProbeError};
use crate::probe::plan::{Plan, Proxy};
use crate::probe::spec::ProbeKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Greeting,
    Login,
    Request,
}

impl Stage {
    /// The most bytes of an answer.
    pub fn most(self) -> usize {
        match self {
            Self::Greeting | Self::Login => 2,
            Self::Request => MAX_REPLY_BYTES,
        }
    }
}

pub enum Answer {
    /// More bytes must come.
    Cut,
    Next(Stage),
    /// With the bound address.
    Granted(Address),
}

pub struct Dialogue<'a> {
    pub proxy: &'a Proxy,
    /// The tunnel's far end; none for a UDP association.
    pub target: Option<&'a Address>,
}

impl<'a> Dialogue<'a> {
    /// The probe's request to its proxy; `None` without a proxy.
    pub fn of(plan: &'a Plan) -> Option<Self> {
        let associates = plan.spec.kind == ProbeKind::Associations;
        Some(Self {
            proxy: plan.proxy.as_ref()?,
            target: (!associates).then_some(&plan.target),
        })
    }

    pub fn name(&self, stage: Stage) -> &'static str {
        match stage {
            Stage::Greeting => "SOCKS greeting",
            Stage::Login => "SOCKS login",
            Stage::Request if self.target.is_none() => "SOCKS UDP associate",
            Stage::Request => "SOCKS connect",
        }
    }

    pub fn message(&self, stage: Stage) -> Vec<u8> {
        match (stage, &self.proxy.login, self.target) {
            (Stage::Login, Some((username, password)), _) => codec::login(username, password),
            (Stage::Request, _, Some(target)) => codec::request(Command::Connect, target),
            (Stage::Request, _, None) => {
                // The client's own address is unknown (RFC 1928, 7).
                let client = match self.proxy.at.address {
                    SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
                    SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
                };
                codec::request(Command::UdpAssociate, &Address::Ip(client))
            }
            (_, login, _) => codec::greeting(login.is_some()).to_vec(),
        }
    }

    /// Reads what has come of the answer to a message.
    pub fn read(&self, stage: Stage, bytes: &[u8]) -> Result<Answer, ProbeError> {
        let failed = |kind, why: &str| {
            let message = format!("{}: {why}", self.name(stage));
            Err(ProbeError::new(kind, message))
        };
        let garbage = |what: &str, bad: Bad| {
            let why = format!("the {what} is not SOCKS5: {bad}");
            failed(ErrorKind::SocksGarbage, &why)
        };
        let (answer, login) = (bytes.first_chunk::<2>(), &self.proxy.login);
        match (stage, answer) {
            (Stage::Request, _) => match codec::reply(bytes) {
                Ok(Reply::Granted(bound, used)) if used == bytes.len() => {
                    Ok(Answer::Granted(bound))
                }
                Ok(Reply::Granted(..)) => {
                    let why = "the proxy sent more than its reply";
                    failed(ErrorKind::SocksGarbage, why)
                }
                Ok(Reply::Refused(code)) => {
                    let kind = ErrorKind::of_reply(code);
                    let why = format!("the proxy refused it with reply {code} ({kind})");
                    failed(kind, &why)
                }
                Err(Bad::Short) => Ok(Answer::Cut),
                Err(bad) => garbage("reply", bad),
            },
            (_, None) => Ok(Answer::Cut),
            (Stage::Login, Some(answer)) => match codec::login_answer(*answer) {
                Ok(true) => Ok(Answer::Next(Stage::Request)),
                Ok(false) => {
                    let why = "the proxy refused user name or password";
                    failed(ErrorKind::SocksAuthFailed, why)
                }
                Err(bad) => garbage("answer", bad),
            },
            (Stage::Greeting, Some(answer)) => {
                let why = match (codec::method(*answer, login.is_some()), login) {
                    (Ok(Method::None), _) => return Ok(Answer::Next(Stage::Request)),
                    (Ok(Method::Password), Some(_)) => return Ok(Answer::Next(Stage::Login)),
                    (Err(bad), _) => return garbage("answer", bad),
                    (_, Some(_)) => "the proxy takes neither no login nor user name and password",
                    (_, None) => "the proxy asks for a login and none was given",
                };
                failed(ErrorKind::SocksNoMethod, why)
            }
        }
    }
}
