//! The network namespaces of one start: makes them, joins them by links, and runs their set-up commands.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use nix::errno::Errno;
use nix::unistd::geteuid;

use super::errand::Errand;
use super::file::{End, Process};
use super::hop::{Place, WITHIN};
use super::parts::Parts;
use super::setting::Setting;
use crate::failure::{Cause, Failure, Result};
use crate::link::Link;
use crate::process::namespace::{Namespace, not_permitted};
use crate::process::protocol::Exit;

/// The program that makes links, and the advice if it is missing.
const IP: &str = "ip";
const IP_MEND: &str = "apt-get install iproute2";
/// Folders in which Debian keeps programs for administrators. The PATH of other users does not include them.
const ADMINISTRATORS: &str = "/usr/sbin:/sbin";
/// Exit code of a set-up command if this machine or this user lacks something: EX_UNAVAILABLE of sysexits.h.
const UNAVAILABLE: i32 = 69;
/// Messages of `ip` about a link or a rule that the kernel was built without.
const NOT_BUILT_IN: [&str; 2] = ["Operation not supported", "Unknown device type"];

impl Setting<'_> {
    /// Makes empty namespaces. Templates can use their files from now on.
    pub fn make_namespaces(&mut self, parts: &Parts<'_>) -> Result<()> {
        for (_, namespace) in &parts.namespaces {
            let created = Namespace::create().map_err(|error| self.not_made(&error))?;
            self.namespaces
                .insert(namespace.name.clone(), Arc::new(created));
        }
        Ok(())
    }

    /// Starts the requested link, or enters the requested namespace. The link's ends then are namespaces of this start.
    pub fn make_hop(&mut self, parts: &Parts<'_>) -> Result<()> {
        let what = match &self.launch.place {
            Place::Loopback => return Ok(()),
            Place::Link { .. } => "a link",
            Place::Within(_) => "another instance's namespace",
        };
        let name = &self.launch.testbed.file.name;
        for end in ["near", "far"] {
            let field = format!("hop.{end}");
            let is_there = parts.processes.iter().any(|(_, process)| {
                let names = self.templates.names(&process.namespace);
                names.is_ok_and(|names| names.contains(&field))
            });
            if !is_there {
                return Err(Failure::invalid(
                    format!(
                        "testbed {name} has no hop that {what} could be: no process runs at its {end} end"
                    ),
                    format!(
                        "give it namespace = \"{{{{ {field} }}}}\", or start it without {what}"
                    ),
                )
                .because(Cause::NoHop));
            }
        }
        if let Some((_, own)) = parts.namespaces.first() {
            return Err(Failure::invalid(
                format!(
                    "testbed {name} has its own namespaces in this start, such as {}, and they exclude {what}",
                    own.name
                ),
                format!("start it without {what}, or with other variables"),
            )
            .because(Cause::NoHop));
        }
        match &self.launch.place {
            Place::Loopback => {}
            Place::Within(namespace) => {
                self.namespaces
                    .insert(WITHIN.to_owned(), Arc::clone(namespace));
            }
            Place::Link { spec, cpus } => {
                let link = Link::start(*spec.clone(), cpus)?;
                for end in [link.near(), link.far()] {
                    let name = end.place.namespace.to_owned();
                    self.namespaces.insert(name, Arc::clone(&end.namespace));
                }
                self.link = Some(Arc::new(link));
            }
        }
        Ok(())
    }

    fn not_made(&self, error: &std::io::Error) -> Failure {
        let name = &self.launch.testbed.file.name;
        if not_permitted(error) {
            let mend = match geteuid().is_root() {
                true => "give this root CAP_SYS_ADMIN: a privileged container has it",
                false => {
                    "run it as root, or run everything in a separate user namespace: `unshare -Ur make …`"
                }
            };
            return Failure::unsupported(
                format!("testbed {name} makes network namespaces, and this user may not"),
                mend,
            );
        }
        Failure::setup(
            format!("a network namespace of testbed {name} cannot be made: {error}"),
            "look at the machine's limits",
        )
    }

    /// Joins the namespaces by their links, and runs their set-up commands.
    pub fn set_up_namespaces(&self, parts: &Parts<'_>) -> Result<()> {
        for (index, namespace) in &parts.namespaces {
            for (key, value) in &namespace.sysctl {
                let value = self.render(&format!("namespace[{index}].sysctl.{key}"), value)?;
                self.set_sysctl(&namespace.name, key, &value)?;
            }
            self.ip(&namespace.name, ["link", "set", "lo", "up"])?;
        }
        for (index, link) in &parts.links {
            self.join(*index, &link.ends)?;
        }
        for (index, namespace) in &parts.namespaces {
            for (step, command) in namespace.setup.iter().enumerate() {
                let field = format!("namespace[{index}].setup[{step}]");
                let command = self.render_all(&field, command)?;
                let mend = "fix the command in the testbed file";
                self.inside(&namespace.name, command, mend)?;
            }
        }
        Ok(())
    }

    /// The namespace of a process; `None` means this machine's own network.
    pub fn namespace_of(&self, index: usize, process: &Process) -> Result<Option<Arc<Namespace>>> {
        let name = self.render(&format!("process[{index}].namespace"), &process.namespace)?;
        if name.is_empty() {
            return Ok(None);
        }
        self.namespace(&format!("process[{index}].namespace"), &name)
            .map(Some)
    }

    fn namespace(&self, field: &str, name: &str) -> Result<Arc<Namespace>> {
        self.namespaces.get(name).cloned().ok_or_else(|| {
            Failure::invalid(
                format!(
                    "{}: {field}: this start has no namespace {name:?}",
                    self.file_name()
                ),
                "declare it under [[namespace]], or fix its `when`",
            )
        })
    }

    fn set_sysctl(&self, namespace: &str, key: &str, value: &str) -> Result<()> {
        // /proc/sys/net shows the network of the thread that opens it.
        let path = Path::new("/proc/sys").join(key.replace('.', "/"));
        self.namespace("sysctl", namespace)?
            .run(|| std::fs::write(&path, value))
            .and_then(|written| written)
            .map_err(|error| {
                let namespace = self.of_testbed(&format!("namespace {namespace}"));
                let what = format!("{namespace}: {key} = {value}: {error}");
                match error.raw_os_error().map(Errno::from_raw) {
                    Some(Errno::EROFS | Errno::EPERM | Errno::EACCES) => Failure::unsupported(
                        what,
                        "make /proc/sys writable: containers have it read-only unless privileged",
                    ),
                    _ => Failure::setup(
                        what,
                        "fix the setting in the testbed file, or use a kernel that has it",
                    ),
                }
            })
    }

    fn join(&self, index: usize, [one, other]: &[End; 2]) -> Result<()> {
        let field = |end: usize| format!("link[{index}].ends[{end}].namespace");
        self.namespace(&field(0), &one.namespace)?;
        let there = self.namespace(&field(1), &other.namespace)?.path();
        let there = there.display().to_string();
        let (device, peer) = (one.device.as_str(), other.device.as_str());
        self.ip(
            &one.namespace,
            [
                "link", "add", device, "type", "veth", "peer", "name", peer, "netns", &there,
            ],
        )?;
        for (number, end) in [one, other].into_iter().enumerate() {
            for address in &end.addresses {
                let field = format!("link[{index}].ends[{number}].addresses");
                let address = self.render(&field, address)?;
                let mut words = vec!["address", "add", &address, "dev", &end.device];
                // The network is isolated, so an address conflict is impossible.
                words.extend(address.contains(':').then_some("nodad"));
                self.ip(&end.namespace, words)?;
            }
            self.ip(&end.namespace, ["link", "set", &end.device, "up"])?;
        }
        Ok(())
    }

    fn ip<'w>(&self, namespace: &str, words: impl IntoIterator<Item = &'w str>) -> Result<()> {
        let command = std::iter::once(IP).chain(words).map(str::to_owned);
        self.inside(namespace, command.collect(), IP_MEND)
    }

    /// Runs one command in a namespace. If the program is missing, the error shows `mend`.
    fn inside(&self, namespace: &str, command: Vec<String>, mend: &str) -> Result<()> {
        let what = self.of_testbed(&format!("namespace {namespace}"));
        let env = self.administrators();
        let command_text = self.redactor.text(&command.join(" "));
        let is_ip = command[0] == IP;
        self.check_program(&what, &command[0], &env, mend)?;
        let errand = Errand {
            env: &env,
            namespace: Some(self.namespace("setup", namespace)?.path()),
            ..self.errand(&what, command)
        };
        let done = errand.run()?;
        let Some(wrong) = done.wrong(|_| true) else {
            return Ok(());
        };
        let error = format!("{what}: `{command_text}` {wrong}");
        let lacks = done.exit == Some(Exit::Status(UNAVAILABLE))
            || is_ip && NOT_BUILT_IN.iter().any(|text| done.printed.contains(text));
        Err(if lacks {
            Failure::unsupported(
                format!("{error}: this machine lacks a feature that the command needs"),
                "use a kernel and a user that have it",
            )
        } else {
            Failure::setup(error, "fix the testbed file")
        })
    }

    /// The environment of set-up commands. The iptables lock is separate: only root may use the machine's lock, and it does not apply to
    /// these networks.
    pub fn administrators(&self) -> BTreeMap<String, String> {
        let mut env = self.env.clone();
        let path = env.get("PATH").filter(|path| !path.is_empty());
        let path = path.into_iter().map(String::as_str).chain([ADMINISTRATORS]);
        let path = path.collect::<Vec<_>>().join(":");
        let lock = self.work.path().join("xtables.lock");
        env.insert("PATH".to_owned(), path);
        env.insert("XTABLES_LOCKFILE".to_owned(), lock.display().to_string());
        env
    }
}
