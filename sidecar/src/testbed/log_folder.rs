//! The folder of an instance's logs, with a unique name within the sidecar's log folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result, refuse};

const MOST_CHARS: usize = 120;
/// The most folders with the same name.
const MOST_FOLDERS: usize = 1_000;

/// Makes the folder `name`, such as `vless-tls/candidate-turn-1`, in `all`. If it exists, makes `name-2`, and so on.
pub fn make(all: &Path, name: &str) -> Result<PathBuf> {
    let plain = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    refuse(
        name.len() > MOST_CHARS || !name.split('/').all(plain),
        &format!("log_name: {name:?} is no folder within the logs'"),
        "give letters, digits, '.', '_' and '-', in parts with '/' between them",
    )?;
    let failed = |path: &Path, error: &std::io::Error| {
        Failure::setup(
            format!("log folder {}: {error}", path.display()),
            "give another --log-dir",
        )
    };
    let first = all.join(name);
    if let Some(parent) = first.parent() {
        std::fs::create_dir_all(parent).map_err(|error| failed(parent, &error))?;
    }
    let mut path = first.clone();
    for number in 2..=MOST_FOLDERS {
        match std::fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                path = all.join(format!("{name}-{number}"));
            }
            Err(error) => return Err(failed(&path, &error)),
        }
    }
    Err(failed(&first, &ErrorKind::AlreadyExists.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_folder_of_its_own() {
        let all = tempfile::tempdir().unwrap();
        for expected in ["vless/candidate", "vless/candidate-2", "vless/candidate-3"] {
            let folder = make(all.path(), "vless/candidate").unwrap();
            assert_eq!(folder, all.path().join(expected));
            assert!(folder.is_dir());
        }
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let all = tempfile::tempdir().unwrap();
        for name in [
            "",
            "/tmp",
            "..",
            "a/../b",
            "a//b",
            ".hidden",
            "a b",
            &"a".repeat(200),
        ] {
            let failure = make(all.path(), name).unwrap_err();
            assert!(failure.error.starts_with("log_name: "), "{name}: {failure}");
        }
    }
}
