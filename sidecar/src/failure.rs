//! The one error type: what is wrong, on one line, and how to fix it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// The exit codes by name, which `k6 x bench` reads too.
static CODES: LazyLock<BTreeMap<String, Code>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../k6/lists/exit-codes.json")).expect("a constant")
});

#[derive(Deserialize)]
struct Code {
    code: u8,
}

/// The exit code with a name.
pub fn exit_code(name: &str) -> u8 {
    CODES[name].code
}

/// Determines the HTTP status of an answer and the exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The request cannot be parsed.
    BadRequest,
    /// The request is too large.
    TooLarge,
    /// The request has no valid token.
    Unauthorized,
    /// The caller may not make this request.
    Forbidden,
    /// The requested object does not exist.
    NotFound,
    /// The object exists, but its present state does not allow the request.
    Conflict,
    /// The caller interrupted the request, or no longer waits for it.
    GivenUp,
    /// A file, a variable or an argument is wrong.
    Invalid,
    /// The request is correct, but the system could not be set up.
    Setup,
    /// The system could not be set up because this machine or this user lacks something.
    Unsupported,
}

/// One line says what is wrong, and one line says how to fix it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct Failure {
    #[serde(skip)]
    pub kind: Kind,
    pub error: String,
    pub mend: String,
    /// Details for programs. The two lines are for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<Cause>>,
}

/// Why a start failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Cause {
    /// A file that the testbed needs does not exist.
    MissingFile { path: String },
    /// A program is not installed. `process` is null if no process of the testbed runs it.
    MissingProgram {
        program: String,
        process: Option<String>,
    },
    /// A process ended before it was ready. `status` and `signal` are null if unknown; `said` holds its last lines.
    Ended {
        process: String,
        status: Option<i32>,
        signal: Option<i32>,
        said: Vec<String>,
    },
    /// The kernel killed processes of the system for memory: they need more than their limit.
    KilledForMemory { times: u64 },
    /// A process was not ready in time.
    NotReady { process: String },
    /// Another program answers at the port of a process.
    PortTaken { process: String, port: u16 },
    /// A link was requested, but the system has no hop for it.
    NoHop,
}

pub type Result<T> = std::result::Result<T, Failure>;

/// Fails as [`Kind::Invalid`] if something is wrong.
pub fn refuse(wrong: bool, what: &str, mend: &str) -> Result<()> {
    if wrong {
        return Err(Failure::invalid(what, mend));
    }
    Ok(())
}

impl Failure {
    pub fn new(kind: Kind, error: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            kind,
            error: one_line(&error.into()),
            mend: one_line(&mend.into()),
            cause: None,
        }
    }

    pub fn because(self, cause: Cause) -> Self {
        Self {
            cause: Some(Box::new(cause)),
            ..self
        }
    }

    /// For `map_err`: the error is the reason why something could not be set up.
    pub fn of_setup<E: fmt::Display>(what: impl fmt::Display, mend: &str) -> impl Fn(E) -> Self {
        move |error| Self::setup(format!("{what}: {error}"), mend)
    }

    /// The same for something that is wrong.
    pub fn of_invalid<E: fmt::Display>(what: impl fmt::Display, mend: &str) -> impl Fn(E) -> Self {
        move |error| Self::invalid(format!("{what}: {error}"), mend)
    }

    /// The same for what the kernel refuses.
    pub fn of_limits<E: fmt::Display>(what: impl fmt::Display) -> impl Fn(E) -> Self {
        Self::of_setup(what, "look at the machine's limits")
    }

    pub fn bad_request(error: impl Into<String>, mend: impl Into<String>) -> Self {
        Self::new(Kind::BadRequest, error, mend)
    }

    pub fn forbidden(error: impl Into<String>, mend: impl Into<String>) -> Self {
        Self::new(Kind::Forbidden, error, mend)
    }

    pub fn not_found(error: impl Into<String>, mend: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, error, mend)
    }

    pub fn invalid(error: impl Into<String>, mend: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, error, mend)
    }

    pub fn setup(error: impl Into<String>, mend: impl Into<String>) -> Self {
        Self::new(Kind::Setup, error, mend)
    }

    pub fn unsupported(error: impl Into<String>, mend: impl Into<String>) -> Self {
        Self::new(Kind::Unsupported, error, mend)
    }

    /// Setting up `what` was interrupted.
    pub fn given_up(what: impl fmt::Display) -> Self {
        Self::new(
            Kind::GivenUp,
            format!("{what}: the start was given up"),
            "start it again",
        )
    }

    pub fn exit_code(&self) -> u8 {
        exit_code(match self.kind {
            Kind::Setup | Kind::Unsupported | Kind::Conflict => "setup",
            Kind::GivenUp => "interrupted",
            Kind::BadRequest
            | Kind::TooLarge
            | Kind::Unauthorized
            | Kind::Forbidden
            | Kind::NotFound
            | Kind::Invalid => "usage",
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.error)?;
        if !self.mend.is_empty() {
            write!(out, "; {}", self.mend)?;
        }
        Ok(())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_one_line_whatever_it_was_made_of() {
        let failure = Failure::invalid("first\n  second", "do\nthis");
        assert_eq!(failure.to_string(), "first second; do this");
    }

    #[test]
    fn exit_codes_distinguish_the_caller_from_the_machine() {
        assert_eq!(Failure::invalid("a", "b").exit_code(), 2);
        assert_eq!(Failure::not_found("a", "b").exit_code(), 2);
        assert_eq!(Failure::setup("a", "b").exit_code(), 4);
        assert_eq!(Failure::given_up("a").exit_code(), 130);
    }
}
