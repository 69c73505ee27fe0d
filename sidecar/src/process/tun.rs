//! The TUN devices of a network namespace, as the kernel has them.

use std::io;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::namespace::Namespace;

/// A TUN device.
#[derive(Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Device {
    pub name: String,
    /// The longest packet, bytes.
    pub mtu: u32,
    /// Whether packets have a header that lets the kernel and the program exchange segments larger than the MTU (IFF_VNET_HDR).
    pub gso: bool,
}

/// A device as `ip` prints it.
#[derive(Deserialize)]
struct Shown {
    ifname: String,
    mtu: u32,
    linkinfo: LinkInfo,
}

#[derive(Deserialize)]
struct LinkInfo {
    info_data: InfoData,
}

#[derive(Deserialize)]
struct InfoData {
    vnet_hdr: bool,
}

/// The devices of a namespace. Fails without `ip` (iproute2).
pub fn of(namespace: &Namespace) -> io::Result<Vec<Device>> {
    let mut ip = Command::new("ip");
    ip.args(["-details", "-json", "link", "show", "type", "tun"]);
    let output = namespace.run(|| ip.output())??;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(said.trim().to_owned()));
    }
    devices(&output.stdout)
}

fn devices(printed: &[u8]) -> io::Result<Vec<Device>> {
    // Without any device, some versions print nothing.
    if printed.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let all: Vec<Shown> = serde_json::from_slice(printed)?;
    let device = |one: Shown| Device {
        name: one.ifname,
        mtu: one.mtu,
        gso: one.linkinfo.info_data.vnet_hdr,
    };
    Ok(all.into_iter().map(device).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = r#"[{"ifindex":2,"ifname":"tun7","flags":["NOARP"],"mtu":1500,"link_type":"none",
        "linkinfo":{"info_kind":"tun","info_data":{"type":"tun","pi":false,"vnet_hdr":true,"persist":true}}}]"#;

    #[test]
    fn a_device_has_its_mtu_and_its_header() {
        let found = devices(PRINTED.as_bytes()).expect("ip's output");
        let (name, mtu) = ("tun7".to_owned(), 1500);
        assert_eq!(
            found,
            [Device {
                name,
                mtu,
                gso: true
            }]
        );
        let without = PRINTED.replace("\"vnet_hdr\":true", "\"vnet_hdr\":false");
        assert!(!devices(without.as_bytes()).expect("ip's output")[0].gso);
    }

    #[test]
    fn no_device_is_no_error_and_an_unknown_header_is() {
        assert_eq!(devices(b"\n").expect("nothing"), []);
        assert_eq!(devices(b"[]").expect("none"), []);
        let unknown = PRINTED.replace("\"vnet_hdr\":true,", "");
        devices(unknown.as_bytes()).expect_err("an unknown value");
    }
}
