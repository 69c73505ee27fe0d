//! The objects of open descriptors of processes.

use std::io::ErrorKind;

/// The object that a descriptor refers to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Open {
    /// The kernel's number of its inode.
    Socket(u64),
    Pipe,
    Other,
}

impl Open {
    /// `link` is its link in `/proc/PID/fd`, such as `socket:[4711]`.
    fn of(link: &str) -> Self {
        let number = |kind: &str| {
            let number = link.strip_prefix(kind)?.strip_suffix(']')?;
            number.parse().ok()
        };
        match (number("socket:["), number("pipe:[")) {
            (Some(inode), _) => Self::Socket(inode),
            (_, Some(_)) => Self::Pipe,
            _ => Self::Other,
        }
    }
}

/// The open descriptors of processes; a process that has ended has none. `None` if the kernel does not show them: only
/// root may see the descriptors of a program with capabilities.
pub fn open_of(pids: &[i32]) -> Option<Vec<Open>> {
    let mut open = Vec::new();
    for pid in pids {
        let folder = match std::fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(folder) => folder,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
            Err(_) => continue,
        };
        // A descriptor may be closed meanwhile.
        let links = folder
            .flatten()
            .flat_map(|one| std::fs::read_link(one.path()));
        open.extend(links.map(|link| Open::of(&link.to_string_lossy())));
    }
    Some(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_tell_what_a_descriptor_refers_to() {
        for (link, open) in [
            ("socket:[4711]", Open::Socket(4711)),
            ("pipe:[12]", Open::Pipe),
            ("/tmp/pipe:[12]", Open::Other),
            ("anon_inode:[eventpoll]", Open::Other),
            ("/dev/null (deleted)", Open::Other),
        ] {
            assert_eq!(Open::of(link), open, "{link}");
        }
    }
}
