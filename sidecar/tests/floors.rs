//! The folders of `src` are floors: each uses only lower ones.

use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up.
const FLOORS: [&str; 20] = [
    "lock",
    "failure",
    "toml_files",
    "schema_form",
    "host",
    "running",
    "dns",
    "net",
    "limits",
    "process",
    "link",
    "echo",
    "tap",
    "wire",
    "probe",
    "testbed",
    "primitives",
    "api",
    "schema",
    "cli",
];

fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap();
    entries
        .flat_map(|entry| files(&entry.unwrap().path()))
        .collect()
}

/// Names after `crate::` in code, not in comments.
fn used(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| {
            rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .next()
                .unwrap_or_default()
        })
}

#[test]
fn no_floor_uses_one_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut seen = 0;
    for (floor, name) in FLOORS.iter().enumerate() {
        let folder = source.join(name);
        let own = if folder.is_dir() {
            folder
        } else {
            source.join(format!("{name}.rs"))
        };
        for file in files(&own) {
            let text = fs::read_to_string(&file).unwrap();
            // Unit tests alone use it: tests/common/busy.rs.
            for other in used(&text).filter(|other| *other != "busy") {
                let Some(below) = FLOORS.iter().position(|one| *one == other) else {
                    panic!("{}: {other} is on no floor", file.display());
                };
                assert!(below <= floor, "{}: {name} uses {other}", file.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}
