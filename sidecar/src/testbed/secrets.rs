//! Secret values: random at each start, or from the environment.

use std::collections::BTreeMap;

use super::file::Secret;
use crate::failure::{Failure, Result};

/// One value for each declared secret.
pub fn make(declared: &BTreeMap<String, Secret>) -> Result<BTreeMap<String, String>> {
    let mut values = BTreeMap::new();
    for (name, secret) in declared {
        let given = match &secret.env {
            Some(env) => from_environment(env, secret.min_length)?,
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

fn from_environment(env: &str, min_length: usize) -> Result<Option<String>> {
    let Some(value) = std::env::var_os(env).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    match value.into_string() {
        Ok(value) if value.chars().count() < min_length => Err(Failure::invalid(
            format!(
                "environment variable {env}: the system accepts no value of fewer than {min_length} characters"
            ),
            format!("give {env} a longer one, or unset it: then a random one is made"),
        )),
        Ok(value) if !value.chars().any(char::is_control) => Ok(Some(value)),
        _ => Err(Failure::invalid(
            format!("environment variable {env}: its value is not one line of text"),
            format!("fix or unset {env}"),
        )),
    }
}

/// `bytes` random bytes as hexadecimal digits.
pub fn random_hex(bytes: usize) -> Result<String> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random).map_err(Failure::of_setup(
        "no random bytes",
        "look at the kernel's log",
    ))?;
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
                min_length: 100,
            },
        )]);
        let (one, two) = (make(&declared).unwrap(), make(&declared).unwrap());
        assert_eq!(one["key"].len(), 40);
        assert!(one["key"].bytes().all(|digit| digit.is_ascii_hexdigit()));
        assert_ne!(one, two);
    }

    #[test]
    fn the_environment_wins() {
        assert_eq!(
            make(&from_path(1)).unwrap()["key"],
            std::env::var("PATH").unwrap()
        );
    }

    #[test]
    fn a_value_that_is_too_short_is_refused_without_showing_it() {
        let failure = make(&from_path(100_000)).unwrap_err();
        assert_eq!(
            failure.error,
            "environment variable PATH: the system accepts no value of fewer than 100000 characters"
        );
        assert!(!failure.mend.contains(&std::env::var("PATH").unwrap()));
    }

    fn from_path(min_length: usize) -> BTreeMap<String, Secret> {
        let secret = Secret {
            bytes: 20,
            env: Some("PATH".to_owned()),
            min_length,
        };
        BTreeMap::from([("key".to_owned(), secret)])
    }
}
