//! Secret values: random at each start, or from the environment.

use std::collections::BTreeMap;

use super::file::Secret;
use crate::failure::{Failure, Result};

/// One value for each declared secret.
pub fn make(declared: &BTreeMap<String, Secret>) -> Result<BTreeMap<String, String>> {
    let mut values = BTreeMap::new();
    for (name, secret) in declared {
        let given = match &secret.env {
            Some(env) => from_environment(env)?,
            None => None,
        };
        let value = match given {
            Some(value) => value,
            None => random_hex(secret.bytes)?,
        };
        values.insert(name.clone(), value);
    }
    Ok(values)
}

fn from_environment(env: &str) -> Result<Option<String>> {
    let Some(value) = std::env::var_os(env).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    match value.into_string() {
        Ok(value) if !value.chars().any(char::is_control) => Ok(Some(value)),
        _ => Err(Failure::invalid(
            format!("environment variable {env}: its value is not one line of text"),
            format!("mend or unset {env}"),
        )),
    }
}

/// `bytes` random bytes as hexadecimal digits.
pub fn random_hex(bytes: usize) -> Result<String> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random).map_err(|error| {
        Failure::setup(
            format!("no random bytes: {error}"),
            "look at the kernel's log",
        )
    })?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_hexadecimal_and_new_each_time() {
        let declared = BTreeMap::from([(
            "key".to_owned(),
            Secret {
                bytes: 20,
                env: None,
            },
        )]);
        let (one, two) = (make(&declared).unwrap(), make(&declared).unwrap());
        assert_eq!(one["key"].len(), 40);
        assert!(one["key"].bytes().all(|digit| digit.is_ascii_hexdigit()));
        assert_ne!(one, two);
    }

    #[test]
    fn the_environment_wins() {
        let env = Some("PATH".to_owned());
        let declared = BTreeMap::from([("key".to_owned(), Secret { bytes: 20, env })]);
        assert_eq!(
            make(&declared).unwrap()["key"],
            std::env::var("PATH").unwrap()
        );
    }
}
