//! The hop between a pair's client and its server: loopback, this machine's own or another instance's, or a link between two namespaces.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::parts::Parts;
use super::setting::Setting;
use crate::failure::{Cause, Failure, Result};
use crate::link::spec::Spec;
use crate::link::{DEVICE, FAR, FAR_ADDRESS, Link, NEAR};
use crate::process::namespace::{Namespace, NamespaceOf};

/// What a start asks for.
#[derive(Debug, Clone, Default)]
pub enum Over {
    #[default]
    Loopback,
    Link(Wanted),
    /// Loopback of another instance's namespace, such as an end of its link: what stands there is at home in it.
    Within(NamespaceOf),
}

impl From<Option<Wanted>> for Over {
    fn from(link: Option<Wanted>) -> Self {
        link.map_or(Self::Loopback, Self::Link)
    }
}

/// A link between both ends.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// A name of `links/`, items, or both, such as `far,loss:2%`.
    pub text: String,
    /// CPUs of the link's thread; none: any.
    #[serde(default)]
    pub cpus: Vec<usize>,
}

/// What was asked for, read and found.
pub enum Place {
    Loopback,
    Link { spec: Box<Spec>, cpus: Vec<usize> },
    Within(Arc<Namespace>),
}

/// What another instance's namespace is called in the one that is at home in it.
const WITHIN: &str = "within";

/// What templates know of the hop, as `hop`.
#[derive(Debug, Clone, Serialize)]
pub struct Hop {
    /// Where the server listens and the client connects to.
    server: String,
    /// The namespaces of the client's and the server's end; empty without a link: this machine's own network.
    near: &'static str,
    far: &'static str,
    /// The device that the hop goes over.
    device: &'static str,
}

impl Hop {
    pub fn new(place: &Place) -> Self {
        let loopback = |end| Self {
            server: "127.0.0.1".to_owned(),
            near: end,
            far: end,
            device: "lo",
        };
        match place {
            Place::Loopback => loopback(""),
            Place::Within(_) => loopback(WITHIN),
            Place::Link { .. } => Self {
                server: FAR_ADDRESS.to_string(),
                near: NEAR,
                far: FAR,
                device: DEVICE,
            },
        }
    }
}

impl Setting<'_> {
    /// Starts the link that was asked for, or moves into the namespace; its ends are namespaces of this start from then on.
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
                    "testbed {name} has namespaces of its own in this start, such as {}, and {what} goes with none of them",
                    own.name
                ),
                format!("start it without {what}, or with other variables"),
            )
            .because(Cause::NoHop));
        }
        let (spec, cpus) = match &self.launch.place {
            Place::Loopback => return Ok(()),
            Place::Within(namespace) => {
                self.namespaces
                    .insert(WITHIN.to_owned(), Arc::clone(namespace));
                return Ok(());
            }
            Place::Link { spec, cpus } => (spec.clone(), cpus),
        };
        let link = Link::start(*spec, cpus)?;
        for end in [link.near(), link.far()] {
            let name = end.place.namespace.to_owned();
            self.namespaces.insert(name, Arc::clone(&end.namespace));
        }
        self.link = Some(Arc::new(link));
        Ok(())
    }
}
