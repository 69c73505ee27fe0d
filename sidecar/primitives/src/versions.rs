//! Versions of the measured libraries, from the lock file of this build.

use std::collections::BTreeMap;

const LOCK: &str = include_str!("../Cargo.lock");
const MEASURED: [&str; 15] = [
    "aes",
    "aes-gcm",
    "aho-corasick",
    "blake3",
    "bytes",
    "chacha20",
    "chacha20poly1305",
    "criterion",
    "fst",
    "hashbrown",
    "ip_network_table",
    "maxminddb",
    "regex-filtered",
    "ring",
    "sha2",
];

/// Versions by library.
pub fn measured() -> BTreeMap<&'static str, &'static str> {
    let field = |package: &'static str, name: &str| {
        package.lines().find_map(|line| {
            let value = line.strip_prefix(name)?.strip_prefix(" = ")?;
            Some(value.trim_matches('"'))
        })
    };
    LOCK.split("[[package]]")
        .filter_map(|package| Some((field(package, "name")?, field(package, "version")?)))
        .filter(|(name, _)| MEASURED.contains(name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_library_has_its_version() {
        let measured = measured();
        assert_eq!(measured.len(), MEASURED.len(), "{measured:?}");
        assert_eq!(measured["ring"], "0.17.14");
        for name in MEASURED {
            let packages = LOCK.matches(&format!("\nname = \"{name}\"\n")).count();
            assert_eq!(packages, 1, "{name}: which of them is measured?");
        }
    }
}
