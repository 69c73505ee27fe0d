//! The objects of open descriptors of processes.

use std::io::ErrorKind;

/// A process, and the number of one of its descriptors.
pub type Place = (i32, i32);

/// The object that a descriptor refers to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Open {
    /// The kernel's number of its inode.
    Socket(u64, Place),
    Pipe,
    Other,
}

impl Open {
    /// `link` is its link in `/proc/PID/fd`, such as `socket:[4711]`.
    fn of(link: &str, place: Place) -> Self {
        let number = |kind: &str| {
            let number = link.strip_prefix(kind)?.strip_suffix(']')?;
            number.parse().ok()
        };
        match (number("socket:["), number("pipe:[")) {
            (Some(inode), _) => Self::Socket(inode, place),
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
        open.extend(folder.flatten().filter_map(|one| {
            let link = std::fs::read_link(one.path()).ok()?;
            let number = one.file_name().to_str()?.parse().ok()?;
            Some(Open::of(&link.to_string_lossy(), (*pid, number)))
        }));
    }
    Some(open)
}

/// The transport of an open IP socket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transport {
    Tcp,
    Udp,
}

/// The kernel tells the protocol of any open socket, also of one that its lists lack. `None` for other protocols, and once it is closed.
pub fn transport_of((pid, number): Place) -> Option<Transport> {
    let mut name = [0; 16];
    let path = format!("/proc/{pid}/fd/{number}");
    let length = rustix::fs::getxattr(path, "system.sockprotoname", &mut name).ok()?;
    match &name[..length] {
        b"TCP\0" | b"TCPv6\0" => Some(Transport::Tcp),
        b"UDP\0" | b"UDPv6\0" => Some(Transport::Udp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_tell_what_a_descriptor_refers_to() {
        for (link, open) in [
            ("socket:[4711]", Open::Socket(4711, (1, 2))),
            ("pipe:[12]", Open::Pipe),
            ("/tmp/pipe:[12]", Open::Other),
            ("anon_inode:[eventpoll]", Open::Other),
            ("/dev/null (deleted)", Open::Other),
        ] {
            assert_eq!(Open::of(link, (1, 2)), open, "{link}");
        }
    }
}
