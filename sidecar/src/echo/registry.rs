//! All echo servers of this sidecar.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Echo, Request};
use crate::failure::{Failure, Kind, Result};
use crate::process::namespace::Namespace;

/// The most servers that run at once.
pub const MAX_RUNNING: usize = 16;

#[derive(Default)]
pub struct Echoes(Mutex<Numbered>);

#[derive(Default)]
struct Numbered {
    last: u64,
    servers: BTreeMap<String, Server>,
}

struct Server {
    echo: Arc<Echo>,
    /// The instance whose namespace the server is in.
    instance: Option<String>,
}

impl Echoes {
    fn all(&self) -> MutexGuard<'_, Numbered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a server, in `namespace` if the request names one, and returns its id as well. It is a conflict if [`MAX_RUNNING`] servers
    /// run.
    pub fn start(
        &self,
        request: Request,
        namespace: Option<&Namespace>,
    ) -> Result<(String, Arc<Echo>)> {
        let mut all = self.all();
        if all.servers.len() >= MAX_RUNNING {
            return Err(Failure::new(
                Kind::Conflict,
                format!("{MAX_RUNNING} echo servers run, which is the limit"),
                "end one with DELETE /echoes/ID",
            ));
        }
        let instance = request.namespace.as_ref().map(|of| of.instance.clone());
        let echo = match namespace {
            None => Echo::start(request)?,
            Some(namespace) => Echo::start_inside(request, namespace)?,
        };
        let echo = Arc::new(echo);
        all.last += 1;
        let id = format!("e{}", all.last);
        let server = Server {
            echo: Arc::clone(&echo),
            instance,
        };
        all.servers.insert(id.clone(), server);
        Ok((id, echo))
    }

    pub fn get(&self, id: &str) -> Result<Arc<Echo>> {
        let all = self.all();
        let server = all.servers.get(id).ok_or_else(|| unknown(id))?;
        Ok(Arc::clone(&server.echo))
    }

    /// The server that a probe reaches at an address, on this machine's own network or in the namespaces of an instance.
    pub fn at(&self, address: SocketAddr, udp: bool, instance: Option<&str>) -> Option<Arc<Echo>> {
        let address_of = |echo: &Echo| if udp { echo.udp } else { echo.tcp };
        let all = self.all();
        let there: Vec<&Arc<Echo>> = all
            .servers
            .values()
            .filter(|server| server.instance.as_deref() == instance)
            .map(|server| &server.echo)
            .filter(|echo| address_of(echo).port() == address.port())
            .collect();
        let exact = |echo: &&&Arc<Echo>| {
            address_of(echo).ip() == address.ip() || address_of(echo).ip().is_unspecified()
        };
        // A name such as localhost stands for both loopback addresses.
        let loopback =
            |echo: &&&Arc<Echo>| address_of(echo).ip().is_loopback() && address.ip().is_loopback();
        let found = there
            .iter()
            .find(exact)
            .or_else(|| there.iter().find(loopback));
        found.map(|echo| Arc::clone(echo))
    }

    /// Stops a server, and returns it so that its last counts can be read.
    pub fn stop(&self, id: &str) -> Result<Arc<Echo>> {
        let removed = self.all().servers.remove(id);
        let Server { echo, .. } = removed.ok_or_else(|| unknown(id))?;
        echo.stop();
        Ok(echo)
    }

    /// Stops all servers in namespaces of an instance.
    pub fn stop_of(&self, instance: &str) {
        let mut all = self.all();
        let (ended, left) = std::mem::take(&mut all.servers)
            .into_iter()
            .partition(|(_, server)| server.instance.as_deref() == Some(instance));
        all.servers = left;
        drop(all);
        drop::<BTreeMap<String, Server>>(ended);
    }
}

fn unknown(id: &str) -> Failure {
    Failure::not_found(
        format!("there is no echo server {id:?}"),
        "POST /echoes starts one",
    )
}
