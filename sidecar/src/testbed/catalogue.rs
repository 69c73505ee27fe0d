//! Finds and reads testbed files.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::choices::{self, Choices};
use super::file::{TestbedFile, read};
use super::validate::{is_name, validate};
use crate::failure::{Failure, Result, refuse};
use crate::toml_files;

/// The repository's root, with its testbeds.
#[derive(Debug, Clone)]
pub struct Catalogue {
    pub root: PathBuf,
}

/// A testbed file that was read and checked.
#[derive(Debug, Clone)]
pub struct Testbed {
    pub file: TestbedFile,
    /// The contents of files that are choices of the testbed's variables.
    pub choices: Choices,
    /// The folder of the testbed's templates. It need not exist.
    pub dir: PathBuf,
}

/// When the newest file of a testbed changed, and the number of the files and folders.
type Newest = (Option<SystemTime>, usize);

/// Changes with the testbed's file, and with the templates and choices of its folder.
pub type Changed = (Newest, Newest);

fn newest(path: &Path) -> Newest {
    let own = path.metadata().and_then(|found| found.modified()).ok();
    let within = std::fs::read_dir(path).into_iter().flatten().flatten();
    within
        .map(|entry| newest(&entry.path()))
        .fold((own, 1), |(last, count), (time, more)| {
            (last.max(time), count + more)
        })
}

impl Catalogue {
    /// Uses `given`, or else WINDTUNNEL_ROOT, or else the nearest parent folder that has `testbeds/`.
    pub fn find(given: Option<PathBuf>) -> Result<Self> {
        let named = given.map(|path| (path, "--root")).or_else(|| {
            std::env::var_os("WINDTUNNEL_ROOT")
                .filter(|path| !path.is_empty())
                .map(|path| (PathBuf::from(path), "WINDTUNNEL_ROOT"))
        });
        if let Some((path, how)) = named {
            let shown = path.display();
            refuse(
                !path.join("testbeds").is_dir(),
                &format!("{how} {shown}: there is no folder testbeds in it"),
                &format!("let {how} name the repository's root"),
            )?;
            return Self::at(&path);
        }
        let current = std::env::current_dir()
            .map_err(Failure::of_setup("current folder", "change to another"))?;
        match current
            .ancestors()
            .find(|folder| folder.join("testbeds").is_dir())
        {
            Some(folder) => Self::at(folder),
            None => Err(Failure::invalid(
                "no folder testbeds here or above",
                "run it inside the repository, or give --root or WINDTUNNEL_ROOT",
            )),
        }
    }

    fn at(folder: &Path) -> Result<Self> {
        let root = folder.canonicalize().map_err(Failure::of_invalid(
            format!("root {}", folder.display()),
            "give another",
        ))?;
        Ok(Self { root })
    }

    /// The names of all testbed files, sorted.
    pub fn names(&self) -> Vec<String> {
        toml_files::names(&self.root.join("testbeds")).unwrap_or_default()
    }

    /// When a testbed's files changed. A missing file has no time.
    pub fn changed(&self, name: &str) -> Changed {
        let folder = self.root.join("testbeds");
        let file = folder.join(format!("{name}.toml"));
        (newest(&file), newest(&folder.join(name)))
    }

    /// Reads and checks one testbed file.
    pub fn load(&self, name: &str) -> Result<Testbed> {
        let path = self.root.join("testbeds").join(format!("{name}.toml"));
        if !is_name(name) || !path.is_file() {
            let known = self.names();
            let known = if known.is_empty() {
                "there are none".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            return Err(Failure::not_found(
                format!("unknown testbed {name:?}"),
                known,
            ));
        }
        let label = format!("testbeds/{name}.toml");
        let mut file = read(&path, &label)?;
        let dir = self.root.join("testbeds").join(name);
        let choices = choices::read_into(&mut file, &dir)?;
        validate(&file, &choices, name, &label, &dir)?;
        Ok(Testbed { file, choices, dir })
    }
}
