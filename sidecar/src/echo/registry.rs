//! All echo servers of this sidecar.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use super::{Echo, Request};
use crate::failure::Result;
use crate::process::namespace::Namespace;
use crate::running::Running;

pub struct Echoes(Running<Server>);

#[derive(Clone)]
struct Server {
    echo: Arc<Echo>,
    /// The instance whose namespace the server is in.
    instance: Option<String>,
}

impl Default for Echoes {
    fn default() -> Self {
        Self(Running::new("echo server", "/echoes", 'e', 16))
    }
}

impl Echoes {
    /// Starts a server, in `namespace` if the request names one, and returns its id as well.
    pub fn start(
        &self,
        request: Request,
        namespace: Option<&Namespace>,
    ) -> Result<(String, Arc<Echo>)> {
        let instance = request.namespace.as_ref().map(|of| of.instance.clone());
        let id = self.0.start(|| {
            let echo = Arc::new(match namespace {
                None => Echo::start(request)?,
                Some(namespace) => Echo::start_inside(request, namespace)?,
            });
            Ok(Server { echo, instance })
        })?;
        let echo = self.get(&id)?;
        Ok((id, echo))
    }

    pub fn get(&self, id: &str) -> Result<Arc<Echo>> {
        Ok(self.0.get(id)?.echo)
    }

    /// The server that a probe reaches at an address, on this machine's own network or in the namespaces of an instance.
    pub fn at(&self, address: SocketAddr, udp: bool, instance: Option<&str>) -> Option<Arc<Echo>> {
        let address_of = |echo: &Echo| if udp { echo.udp } else { echo.tcp };
        // A name such as localhost stands for both loopback addresses.
        let rank = |echo: &Echo| match address_of(echo).ip() {
            ip if ip == address.ip() || ip.is_unspecified() => Some(0),
            ip if ip.is_loopback() && address.ip().is_loopback() => Some(1),
            _ => None,
        };
        let all = self.0.all();
        let there = all
            .values()
            .filter(|server| server.instance.as_deref() == instance)
            .filter(|server| address_of(&server.echo).port() == address.port());
        let ranked = there.filter_map(|server| Some((rank(&server.echo)?, &server.echo)));
        let best = ranked.min_by_key(|(rank, _)| *rank);
        best.map(|(_, echo)| Arc::clone(echo))
    }

    /// Stops a server, and returns it so that its last counts can be read.
    pub fn stop(&self, id: &str) -> Result<Arc<Echo>> {
        let echo = self.0.take(id)?.echo;
        echo.stop();
        Ok(echo)
    }

    /// Stops all servers in namespaces of an instance.
    pub fn stop_of(&self, instance: &str) {
        let mut all = self.0.all();
        let (ended, left) = std::mem::take(&mut *all)
            .into_iter()
            .partition(|(_, server)| server.instance.as_deref() == Some(instance));
        *all = left;
        drop(all);
        drop::<BTreeMap<String, Server>>(ended);
    }
}
