//! Network namespaces and the links between them.

use std::collections::HashSet;

use super::{Checker, SecretsAre};
use crate::failure::Result;
use crate::testbed::file::{DEVICE_NAME, PROCESS_NAME, SYSCTL_NAME};

impl Checker<'_> {
    pub(super) fn network(&self) -> Result<()> {
        let mut names = HashSet::new();
        for (index, namespace) in self.file.namespace.iter().enumerate() {
            let field = format!("namespace[{index}]");
            let name = (namespace.name.as_str(), PROCESS_NAME);
            self.own_name(&mut names, &field, name, "namespace")?;
            self.optional(&field, "when", namespace.when.as_deref())?;
            for (key, value) in &namespace.sysctl {
                let field = format!("{field}.sysctl.{key}");
                self.named(&field, key, SYSCTL_NAME)?;
                self.template(&field, value, SecretsAre::Refused)?;
            }
            for (step, command) in namespace.setup.iter().enumerate() {
                self.command(&format!("{field}.setup[{step}]"), command)?;
            }
        }
        self.links(&names)?;
        self.where_processes_run(&names)
    }

    fn links(&self, namespaces: &HashSet<&str>) -> Result<()> {
        let mut devices = HashSet::new();
        for (index, link) in self.file.link.iter().enumerate() {
            self.optional(&format!("link[{index}]"), "when", link.when.as_deref())?;
            for (number, end) in link.ends.iter().enumerate() {
                let field = format!("link[{index}].ends[{number}]");
                if !namespaces.contains(end.namespace.as_str()) {
                    return self.no_namespace(&format!("{field}.namespace"), &end.namespace);
                }
                self.named(&format!("{field}.device"), &end.device, DEVICE_NAME)?;
                if link.when.is_none() && !devices.insert((&end.namespace, &end.device)) {
                    return self.wrong(
                        &format!("{field}.device"),
                        format!("namespace {} has another {}", end.namespace, end.device),
                        "give each device of a namespace its own name",
                    );
                }
                for address in &end.addresses {
                    self.template(&format!("{field}.addresses"), address, SecretsAre::Refused)?;
                }
            }
        }
        Ok(())
    }

    /// A template's value is known only at a start.
    fn where_processes_run(&self, namespaces: &HashSet<&str>) -> Result<()> {
        for (index, process) in self.file.process.iter().enumerate() {
            let field = format!("process[{index}].namespace");
            self.template(&field, &process.namespace, SecretsAre::Refused)?;
            let name = process.namespace.as_str();
            if !name.is_empty() && !name.contains('{') && !namespaces.contains(name) {
                return self.no_namespace(&field, name);
            }
        }
        Ok(())
    }

    fn no_namespace(&self, field: &str, name: &str) -> Result<()> {
        self.wrong(
            field,
            format!("there is no namespace `{name}`"),
            "declare it under [[namespace]]",
        )
    }
}
