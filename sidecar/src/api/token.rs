//! Access control: a caller needs the token that `serve` printed, or that was given to `serve`.

use std::hint::black_box;

use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::failure::{Failure, Kind, Result};
use crate::testbed::secrets::random_hex;

/// The environment variable that sets the token. Without it, the sidecar makes one.
pub const VARIABLE: &str = "SIDECAR_TOKEN";
const RANDOM_BYTES: usize = 32;

/// The type has neither Debug nor Display, so that no log shows the token by accident.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    pub fn from_environment() -> Result<Self> {
        match std::env::var(VARIABLE) {
            Err(std::env::VarError::NotPresent) => Self::random(),
            Ok(text) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Ok(Self(text))
            }
            _ => Err(Failure::invalid(
                format!("{VARIABLE} is empty or not of visible ASCII characters"),
                "give another one, or unset it",
            )),
        }
    }

    fn random() -> Result<Self> {
        random_hex(RANDOM_BYTES).map(Self)
    }

    /// The token as text, for the first line of `serve` only.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in constant time.
    fn is(&self, given: &str) -> bool {
        let (right, given) = (self.0.as_bytes(), given.as_bytes());
        let mut difference = u8::from(right.len() != given.len());
        for (index, byte) in given.iter().enumerate() {
            difference |= black_box(byte ^ right[index % right.len()]);
        }
        black_box(difference) == 0
    }
}

/// Refuses requests without the right token. Only the health check needs no token.
pub async fn only_with_token(State(token): State<Token>, request: Request, next: Next) -> Response {
    let given = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim());
    if request.uri().path() == "/health" || given.is_some_and(|given| token.is(given)) {
        return next.run(request).await;
    }
    let error = match given {
        Some(_) => "the bearer token is wrong",
        None => "there is no bearer token",
    };
    Failure::new(
        Kind::Unauthorized,
        error,
        "send Authorization: Bearer TOKEN with the token that `sidecar serve` printed",
    )
    .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_right() {
        let token = Token("abcdef".to_owned());
        assert!(token.is("abcdef"));
        for wrong in [
            "",
            "a",
            "abcde",
            "abcdeg",
            "Abcdef",
            "abcdefa",
            "abcdefabcdef",
        ] {
            assert!(!token.is(wrong), "{wrong}");
        }
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.reveal().len(), 64);
        assert_ne!(one.reveal(), other.reveal());
    }
}
