//! Folders whose files are named after what they describe.

use std::io;
use std::path::Path;

/// The names of a folder's TOML files without their ending, sorted.
pub fn names(folder: &Path) -> io::Result<Vec<String>> {
    let name = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.strip_suffix(".toml")?.to_owned())
    };
    let mut names: Vec<_> = std::fs::read_dir(folder)?
        .flatten()
        .filter_map(name)
        .collect();
    names.sort();
    Ok(names)
}
