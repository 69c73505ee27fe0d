//! The description of a link: the text of a request, and the files in `links/`.

use std::path::Path;

use serde::Serialize;

use super::settings::{PACKET_BYTES, Settings};
use super::units::{self, Wrong, wrong};
use crate::failure::{Failure, Result, refuse};
use crate::toml_files;

const SCHEMA: &str = "windtunnel.link/1";
/// The folder of link files, under the repository's root.
pub const FOLDER: &str = "links";
/// The default seed.
const SEED: u64 = 1;
/// The least MTU that IPv6 allows, bytes.
const LEAST_MTU: u64 = 1_280;

/// An item that is set at a time after the link's start.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    pub at_ns: u64,
    pub items: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spec {
    /// The text of the request.
    pub text: String,
    /// The title of the link's file, if it has one.
    pub title: String,
    pub settings: Settings,
    /// Seed of all random draws, such as lost packets.
    pub seed: u64,
    /// The largest packet, bytes.
    pub mtu: u64,
    /// Changes, sorted by their time.
    pub changes: Vec<Change>,
}

/// Reads `NAME`, `KEY:VALUE,…` or both, such as `far,loss:2%,@5s/rate:1mbit`. `root` is the folder that has `links`.
pub fn read(root: &Path, text: &str) -> Result<Spec> {
    let mut spec = Spec {
        text: text.trim().to_owned(),
        title: String::new(),
        settings: Settings::default(),
        seed: SEED,
        mtu: PACKET_BYTES,
        changes: Vec::new(),
    };
    for (number, item) in text.split(',').map(str::trim).enumerate() {
        match item.split_once(':') {
            Some((key, value)) => spec
                .item(key.trim(), value.trim())
                .map_err(|wrong| failure(&format!("LINK: {item}"), wrong))?,
            None if number == 0 && !item.is_empty() => spec.file(root, item)?,
            None => {
                let mend = "write such as rtt:100ms,rate:50mbit,loss:1%, or a name first";
                let wrong = wrong(format!("`{item}` is not KEY:VALUE"), mend);
                return Err(failure("LINK", wrong));
            }
        }
    }
    spec.changes.sort_by_key(|change| change.at_ns);
    spec.check().map_err(|wrong| failure("LINK", wrong))?;
    Ok(spec)
}

/// Reads items that are set while a link runs, such as `rate:10mbit,down.loss:1%`.
pub fn items(text: &str) -> Result<Vec<(String, String)>> {
    let item = |item: &str| match item.split_once(':') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err(Failure::invalid(
            format!("link: `{item}` is not KEY:VALUE"),
            "write such as rate:10mbit,loss:1%",
        )),
    };
    text.split(',').map(item).collect()
}

/// Reads a timetable, such as `@2s/dead:yes,@4s/dead:no`.
pub fn timetable(text: &str) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for (key, value) in items(text)? {
        let Some((at, key)) = key.strip_prefix('@').and_then(|key| key.split_once('/')) else {
            return Err(Failure::invalid(
                format!("link: `{key}:{value}` has no time"),
                "write such as @2s/dead:yes",
            ));
        };
        let at_ns = units::time_ns(at).map_err(|wrong| failure("link", wrong))?;
        add(&mut changes, at_ns, key, &value);
    }
    changes.sort_by_key(|change| change.at_ns);
    Ok(changes)
}

/// Checks that the settings agree after each change.
pub fn check(settings: &Settings, changes: &[Change]) -> Result<()> {
    checked(settings, changes).map_err(|wrong| failure("link", wrong))
}

fn checked(settings: &Settings, changes: &[Change]) -> std::result::Result<(), Wrong> {
    let mut settings = settings.clone();
    for change in changes {
        let at = |(wrong, mend): Wrong| {
            let seconds = change.at_ns as f64 / 1e9;
            (format!("@{seconds}s: {wrong}"), mend)
        };
        for (key, value) in &change.items {
            settings.set(key, value).map_err(at)?;
        }
        settings.check().map_err(at)?;
    }
    Ok(())
}

fn add(changes: &mut Vec<Change>, at_ns: u64, key: &str, value: &str) {
    let item = (key.to_owned(), value.to_owned());
    match changes.iter_mut().find(|change| change.at_ns == at_ns) {
        Some(change) => change.items.push(item),
        None => changes.push(Change {
            at_ns,
            items: vec![item],
        }),
    }
}

/// The names of the files in `links/`, sorted.
pub fn names(root: &Path) -> Vec<String> {
    toml_files::names(&root.join(FOLDER)).unwrap_or_default()
}

fn failure(what: &str, (wrong, mend): Wrong) -> Failure {
    Failure::invalid(format!("{what}: {wrong}"), mend)
}

impl Spec {
    /// Reads one item: `rate`, `up.rate`, `seed`, or `@5s/rate` for a later change.
    fn item(&mut self, key: &str, value: &str) -> std::result::Result<(), Wrong> {
        if let Some((at, key)) = key.strip_prefix('@').and_then(|key| key.split_once('/')) {
            let at_ns = units::time_ns(at)?;
            add(&mut self.changes, at_ns, key, value);
            return Ok(());
        }
        match key {
            "seed" => {
                self.seed = value.parse().map_err(|_| {
                    let mend = "write a whole number from 0, such as 7";
                    wrong(format!("`{value}` is not a seed"), mend)
                })?;
            }
            "mtu" => {
                self.mtu = units::bytes(value)?;
                if !(LEAST_MTU..=PACKET_BYTES).contains(&self.mtu) {
                    let bounds = format!("{LEAST_MTU}b to {PACKET_BYTES}b");
                    return Err(units::out_of_bounds(value, &bounds));
                }
            }
            _ => return self.settings.set(key, value),
        }
        Ok(())
    }

    /// Checks that the settings agree at the start and after each change.
    fn check(&self) -> std::result::Result<(), Wrong> {
        self.settings.check()?;
        checked(&self.settings, &self.changes)
    }

    fn file(&mut self, root: &Path, name: &str) -> Result<()> {
        let label = format!("{FOLDER}/{name}.toml");
        let names = names(root);
        refuse(
            !names.iter().any(|one| one == name),
            &format!("LINK: there is no link {name:?}"),
            &format!(
                "there are {}; or write rtt:100ms,rate:50mbit",
                names.join(", ")
            ),
        )?;
        let text = std::fs::read_to_string(root.join(&label)).map_err(Failure::of_invalid(
            format!("{label}: cannot be read"),
            "make it readable",
        ))?;
        let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            Failure::invalid(format!("{label}: {}", error.message()), "fix the file")
        })?;
        let mut word = |key: &str| match table.remove(key) {
            Some(toml::Value::String(text)) => text,
            _ => String::new(),
        };
        refuse(
            word("schema") != SCHEMA,
            &format!("{label}: schema is not known"),
            &format!("write schema = \"{SCHEMA}\""),
        )?;
        self.title = word("title");
        let untitled = self.title.is_empty();
        refuse(
            untitled,
            &format!("{label}: there is no title"),
            "write title = \"…\", one line",
        )?;
        self.table(table).map_err(|wrong| failure(&label, wrong))
    }

    /// Reads all items of a file. Items for both directions come first.
    fn table(&mut self, mut table: toml::Table) -> std::result::Result<(), Wrong> {
        let changes = table.remove("change");
        for (key, value) in flat(table)? {
            self.item(&key, &value)
                .map_err(|(wrong, mend)| (format!("{key}: {wrong}"), mend))?;
        }
        let changes: Option<Vec<toml::Table>> = changes
            .map(toml::Value::try_into)
            .transpose()
            .map_err(|_| wrong("change is not a list of tables", "write [[change]]"))?;
        for (number, mut change) in changes.into_iter().flatten().enumerate() {
            let at = |(wrong, mend): Wrong| (format!("change[{number}].{wrong}"), mend);
            let Some(toml::Value::String(when)) = change.remove("at") else {
                return Err(at(wrong("at: is missing", "write at = \"5s\"")));
            };
            let at_ns = units::time_ns(&when)
                .map_err(|(wrong, mend)| at((format!("at: {wrong}"), mend)))?;
            for (key, value) in flat(change).map_err(at)? {
                add(&mut self.changes, at_ns, &key, &value);
            }
        }
        Ok(())
    }
}

/// Keys and texts of a table. The entries of its tables `up` and `down` come last.
fn flat(table: toml::Table) -> std::result::Result<Vec<(String, String)>, Wrong> {
    let (mut items, mut sides) = (Vec::new(), Vec::new());
    for (key, value) in table {
        match value {
            toml::Value::Table(side) if ["up", "down"].contains(&key.as_str()) => {
                for (name, value) in flat(side)? {
                    sides.push((format!("{key}.{name}"), value));
                }
            }
            toml::Value::String(text) => items.push((key, text)),
            toml::Value::Integer(seed) if key == "seed" => items.push((key, seed.to_string())),
            other => {
                let mend = format!("write {key} = \"VALUE\", with its unit");
                return Err((format!("{key}: `{other}` is not a text"), mend));
            }
        }
    }
    items.append(&mut sides);
    Ok(items)
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
