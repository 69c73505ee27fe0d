//! Facts about this machine.

use procfs::{Current, Meminfo};
use serde::Serialize;

/// The fields of `run.host` in a result.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Host {
    pub os: String,
    pub kernel: String,
    pub cpu_model: String,
    /// Null if unknown. The memory is null in that case, too.
    pub cpus: Option<usize>,
    pub memory_bytes: Option<u64>,
    pub settings: Settings,
}

/// Kernel settings that affect results. Unknown settings are null.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Settings {
    #[serde(flatten)]
    pub network: NetworkSettings,
    /// Governor of the first CPU, such as performance; null on most virtual machines.
    pub cpu_governor: Option<String>,
}

/// Settings that may differ between network namespaces: tcp(7), socket(7), listen(2). If a kernel has a setting for the whole machine only,
/// it shows that setting in the first namespace only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct NetworkSettings {
    /// Default of new connections, such as cubic.
    pub tcp_congestion_control: Option<String>,
    /// The largest receive and send buffers that a socket may request.
    pub rmem_max_bytes: Option<u64>,
    pub wmem_max_bytes: Option<u64>,
    /// The most connections that may wait to be accepted.
    pub somaxconn: Option<u64>,
}

/// Placeholder for an unknown value. It equals no other value: two machines with it are never in the same class.
const UNKNOWN: &str = "unknown";

/// The CPU model from the text of /proc/cpuinfo, in the same form as in k6/internal/machine: the model's name. On ARM, it is the
/// implementer and the part of each kind of core.
fn cpu_model(cpuinfo: &str) -> String {
    let mut found: Vec<String> = Vec::new();
    let mut implementer = "";
    for (name, value) in cpuinfo.lines().filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        let model = match name.trim() {
            "processor" => {
                implementer = "";
                continue;
            }
            "CPU implementer" => {
                implementer = value;
                continue;
            }
            "CPU part" if !implementer.is_empty() && !value.is_empty() => {
                format!("implementer {implementer} part {value}")
            }
            "model name" => value.to_owned(),
            _ => continue,
        };
        if !model.is_empty() && !found.contains(&model) {
            found.push(model);
        }
    }
    if found.is_empty() {
        return UNKNOWN.to_owned();
    }
    found.join(", ")
}

pub fn host() -> Host {
    Host {
        os: os().unwrap_or_else(|| UNKNOWN.to_owned()),
        kernel: nix::sys::utsname::uname().map_or_else(
            |_| UNKNOWN.to_owned(),
            |names| names.release().to_string_lossy().into_owned(),
        ),
        cpu_model: cpu_model(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
        cpus: cpus(),
        memory_bytes: Meminfo::current().ok().map(|memory| memory.mem_total),
        settings: settings(),
    }
}

fn settings() -> Settings {
    Settings {
        network: network_settings(),
        cpu_governor: word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    }
}

/// Settings of the calling thread's network namespace.
pub fn network_settings() -> NetworkSettings {
    let number = |path: &str| word(path)?.parse().ok();
    NetworkSettings {
        tcp_congestion_control: word("/proc/sys/net/ipv4/tcp_congestion_control"),
        rmem_max_bytes: number("/proc/sys/net/core/rmem_max"),
        wmem_max_bytes: number("/proc/sys/net/core/wmem_max"),
        somaxconn: number("/proc/sys/net/core/somaxconn"),
    }
}

/// Content of a file; `None` if the file is empty or unreadable.
fn word(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|word| !word.is_empty())
}

/// Number of online cores; `None` if the kernel does not report it.
pub fn cpus() -> Option<usize> {
    online(nix::unistd::sysconf(
        nix::unistd::SysconfVar::_NPROCESSORS_ONLN,
    ))
}

fn online(answer: nix::Result<Option<nix::libc::c_long>>) -> Option<usize> {
    let cpus = usize::try_from(answer.ok()??).ok()?;
    (cpus > 0).then_some(cpus)
}

fn os() -> Option<String> {
    let text = std::fs::read_to_string("/etc/os-release").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Case {
        case: String,
        cpuinfo: String,
        model: String,
    }

    #[test]
    fn an_unknown_number_of_cpus_is_no_number() {
        for answer in [
            Err(nix::errno::Errno::EINVAL),
            Ok(None),
            Ok(Some(-1)),
            Ok(Some(0)),
        ] {
            assert_eq!(online(answer), None, "{answer:?}");
        }
        assert_eq!(online(Ok(Some(4))), Some(4));
    }

    #[test]
    fn machines_are_distinguished_as_in_k6() {
        let cases: Vec<Case> =
            serde_json::from_str(include_str!("../../tests/fixtures/cpu-models.json")).unwrap();
        for Case {
            case,
            cpuinfo,
            model,
        } in cases
        {
            assert_eq!(cpu_model(&cpuinfo), model, "{case}");
        }
    }
}
