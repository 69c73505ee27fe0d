//! The hop between a pair's client and its server: loopback, or a link between two namespaces.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::parts::Parts;
use super::setting::Setting;
use crate::failure::{Cause, Failure, Result};
use crate::link::spec::Spec;
use crate::link::{DEVICE, FAR, FAR_ADDRESS, Link, NEAR};

/// What a start asks for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// A name of `links/`, items, or both, such as `far,loss:2%`.
    pub text: String,
    /// CPUs of the link's thread; none: any.
    #[serde(default)]
    pub cpus: Vec<usize>,
}

/// The same, read.
pub struct Ordered {
    pub spec: Spec,
    pub cpus: Vec<usize>,
}

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
    pub fn new(over_link: bool) -> Self {
        match over_link {
            false => Self {
                server: "127.0.0.1".to_owned(),
                near: "",
                far: "",
                device: "lo",
            },
            true => Self {
                server: FAR_ADDRESS.to_string(),
                near: NEAR,
                far: FAR,
                device: DEVICE,
            },
        }
    }
}

impl Setting<'_> {
    /// Starts the link that was asked for; both ends are namespaces of this start from then on.
    pub fn make_link(&mut self, parts: &Parts<'_>) -> Result<()> {
        let Some(Ordered { spec, cpus }) = self.launch.link else {
            return Ok(());
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
                        "testbed {name} has no hop that a link could be: no process runs at its {end} end"
                    ),
                    format!(
                        "give it namespace = \"{{{{ {field} }}}}\", or start it without a link"
                    ),
                )
                .because(Cause::NoHop));
            }
        }
        if let Some((_, own)) = parts.namespaces.first() {
            return Err(Failure::invalid(
                format!(
                    "testbed {name} has namespaces of its own in this start, such as {}, and no link goes between them",
                    own.name
                ),
                "start it without a link, or with other variables",
            )
            .because(Cause::NoHop));
        }
        let link = Link::start(spec.clone(), cpus)?;
        for end in [link.near(), link.far()] {
            let name = end.place.namespace.to_owned();
            self.namespaces.insert(name, Arc::clone(&end.namespace));
        }
        self.link = Some(Arc::new(link));
        Ok(())
    }
}
