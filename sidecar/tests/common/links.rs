//! Whether this user can make links on this machine.

use std::process::{Command, Stdio};

use super::Root;

const TAKEN: &str = "test -c /dev/net/tun && ip tuntap add dev t0 mode tun && ip address add 2001:2::1/64 dev t0 nodad";

/// An empty root, or none and a line with the reason if this user or machine cannot make links.
pub fn may_make_links() -> Option<Root> {
    let may = Command::new("unshare")
        .args(["--net", "sh", "-c", TAKEN])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !may.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no TUN device, no iproute2, or no rights to make network namespaces");
        return None;
    }
    Some(Root::new())
}
