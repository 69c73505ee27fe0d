//! The two ends of a link. Each is a network namespace with a TUN device that leads to the other end.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use nix::errno::Errno;
use nix::unistd::geteuid;
use serde::Serialize;
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::failure::{Failure, Result};
use crate::host::{NetworkSettings, network_settings};
use crate::process::namespace::{Namespace, not_permitted};

/// The name of the device at both ends.
pub const DEVICE: &str = "hop0";
/// The namespaces' names in requests of probes and processes.
pub const NEAR: &str = "near";
pub const FAR: &str = "far";
/// Addresses of RFC 2544, which are for benchmarks and not routed anywhere. Testbeds use 198.18.0.0/23 and 198.19.0.0/16.
pub const NEAR_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 2, 1);
pub const FAR_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 2, 2);
/// Addresses of RFC 5180, the same for IPv6.
const NEAR_ADDRESS_6: &str = "2001:2:0:2::1";
const FAR_ADDRESS_6: &str = "2001:2:0:2::2";

const TUN: &str = "/dev/net/tun";
/// Packets that the kernel keeps until the link reads the device. A sender's burst waits here.
const DEVICE_QUEUE: u32 = 10_000;
/// Folders in which Debian keeps programs for administrators.
const ADMINISTRATORS: &str = "/usr/sbin:/sbin";
/// The kernel must send nothing on the device, and must remember nothing from an earlier run.
const SETTINGS: [(&str, &str); 3] = [
    ("net/ipv6/conf/default/router_solicitations", "0"),
    ("net/ipv6/conf/default/accept_dad", "0"),
    ("net/ipv4/tcp_no_metrics_save", "1"),
];

#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Place {
    /// The namespace's name in requests.
    pub namespace: &'static str,
    pub address: IpAddr,
    /// Network settings of the new namespace.
    pub settings: NetworkSettings,
}

pub struct End {
    pub namespace: Arc<Namespace>,
    pub place: Place,
    pub device: SyncDevice,
}

/// Makes both ends, near and far.
pub fn make(mtu: u64) -> Result<[End; 2]> {
    if !Path::new(TUN).exists() {
        return Err(Failure::unsupported(
            format!("a link needs a TUN device, and this machine has no {TUN}"),
            "load the kernel's module: modprobe tun; a container gets it by --device /dev/net/tun",
        ));
    }
    Ok([
        end(NEAR, NEAR_ADDRESS, NEAR_ADDRESS_6, mtu)?,
        end(FAR, FAR_ADDRESS, FAR_ADDRESS_6, mtu)?,
    ])
}

fn end(name: &'static str, address: Ipv4Addr, address_6: &str, mtu: u64) -> Result<End> {
    let namespace = Namespace::create().map_err(|error| not_made("a network namespace", &error))?;
    let (device, settings) = namespace
        .run(|| {
            for (key, value) in SETTINGS {
                // A kernel without IPv6 has no IPv6 settings.
                let _ = std::fs::write(Path::new("/proc/sys").join(key), value);
            }
            let device = DeviceBuilder::new()
                .name(DEVICE)
                .mtu(u16::try_from(mtu).unwrap_or(u16::MAX))
                .build_sync()
                .map_err(|error| not_made("a TUN device", &error))?;
            device
                .set_nonblocking(true)
                .map_err(|error| not_made("a TUN device", &error))?;
            ip(&["link", "set", "lo", "up"])?;
            // Netlink, because a user namespace may not use the ioctl for it.
            let waiting = DEVICE_QUEUE.to_string();
            ip(&["link", "set", "dev", DEVICE, "txqueuelen", &waiting, "up"])?;
            ip(&["address", "add", &format!("{address}/24"), "dev", DEVICE])?;
            if Path::new("/proc/net/if_inet6").exists() {
                let address = format!("{address_6}/64");
                ip(&["address", "add", &address, "dev", DEVICE, "nodad"])?;
            }
            Ok((device, network_settings()))
        })
        .map_err(|error| not_made("a network namespace", &error))??;
    Ok(End {
        namespace: Arc::new(namespace),
        place: Place {
            namespace: name,
            address: address.into(),
            settings,
        },
        device,
    })
}

fn not_made(what: &str, error: &std::io::Error) -> Failure {
    let refused = error.kind() == ErrorKind::PermissionDenied
        || error.raw_os_error() == Some(Errno::EPERM as i32)
        || not_permitted(error);
    if refused {
        let mend = match geteuid().is_root() {
            true => {
                "give this root CAP_NET_ADMIN and CAP_SYS_ADMIN: a privileged container has them"
            }
            false => {
                "run it as root, or run everything in a separate user namespace: `unshare -Ur make …`"
            }
        };
        return Failure::unsupported(
            format!("a link needs {what}, which this user may not create"),
            mend,
        );
    }
    Failure::setup(
        format!("{what} of a link cannot be made: {error}"),
        "look at the machine's limits and at /dev/net/tun",
    )
}

/// Runs `ip` in the namespace of the calling thread.
fn ip(words: &[&str]) -> Result<()> {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("ip")
        .args(words)
        .env("PATH", format!("{path}:{ADMINISTRATORS}"))
        .stdin(Stdio::null())
        .output()
        .map_err(Failure::of_setup(
            "a link needs the program ip, which cannot be run",
            "apt-get install iproute2",
        ))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::setup(
        format!(
            "`ip {}` in a link's namespace: {}",
            words.join(" "),
            String::from_utf8_lossy(&output.stderr)
        ),
        "look at the machine's limits",
    ))
}

impl End {
    /// Packets that the link did not read in time, by the device's own count; `None` if the count cannot be read.
    pub fn unread(&self) -> Option<u64> {
        let table = self
            .namespace
            .run(|| std::fs::read_to_string("/proc/thread-self/net/dev"));
        dropped(&table.ok()?.ok()?)
    }

    pub fn at(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.place.address, port)
    }
}

/// Packets that the kernel dropped before the device: the fourth column after the first eight.
fn dropped(table: &str) -> Option<u64> {
    let line = table
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(DEVICE)?.strip_prefix(':'))?;
    line.split_whitespace().nth(11)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_device_dropped_is_read_from_the_kernel_s_table() {
        let table = "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes\n\
                     lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n  hop0:21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36\n";
        assert_eq!(dropped(table), Some(32));
        assert_eq!(dropped("lo: 1 2 3"), None);
    }
}
