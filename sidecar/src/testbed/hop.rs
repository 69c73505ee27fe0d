//! The hop between a pair's client and its server: loopback of this machine or of another instance, or a link between two namespaces.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::link::spec::Spec;
use crate::link::{DEVICE, FAR, FAR_ADDRESS, NEAR};
use crate::process::namespace::{Namespace, NamespaceOf};

/// The requested hop.
#[derive(Debug, Clone, Default)]
pub enum Over {
    #[default]
    Loopback,
    Link(Wanted),
    /// Loopback of another instance's namespace, such as one end of its link. All processes of this instance run in that namespace.
    Within(NamespaceOf),
}

/// A link between both ends.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// A name of a file in `links/`, items, or both, such as `far,loss:2%`.
    pub text: String,
    /// CPUs of the link's thread; an empty list means any.
    #[serde(default)]
    pub cpus: Vec<usize>,
}

/// The requested hop, with its link or namespace found.
pub enum Place {
    Loopback,
    Link { spec: Box<Spec>, cpus: Vec<usize> },
    Within(Arc<Namespace>),
}

/// The name of another instance's namespace within an instance that runs in it.
pub const WITHIN: &str = "within";

/// Values of `hop` in templates.
#[derive(Debug, Clone, Serialize)]
pub struct Hop {
    /// The address on which the server listens and to which the client connects.
    server: String,
    /// The namespaces of the client's and the server's end. Without a link they are empty, which means this machine's own network.
    near: &'static str,
    far: &'static str,
    /// The network device of the hop.
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
