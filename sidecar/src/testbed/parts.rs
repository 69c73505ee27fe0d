//! The parts of a testbed that one start uses.

use std::collections::{BTreeMap, HashSet};

use super::file::{ConfigFile, Link, Namespace, Process, Requirement, Version};

/// The parts in use, in the file's order, each with its index there.
pub struct Parts<'a> {
    pub requires: Indexed<'a, Requirement>,
    pub versions: Vec<(&'a str, &'a Version)>,
    pub files: Indexed<'a, ConfigFile>,
    pub namespaces: Indexed<'a, Namespace>,
    pub links: Indexed<'a, Link>,
    pub processes: Indexed<'a, Process>,
    /// Port variables that an unused part names and on which no used part listens.
    pub idle_ports: HashSet<String>,
}

/// Values of `[[generate]]` by group, then by field.
pub type Generated = BTreeMap<String, BTreeMap<String, String>>;

pub type Indexed<'a, T> = Vec<(usize, &'a T)>;
