//! Needs of a start: files that make builds, commands that must succeed, and files that variables name.

use crate::common::{Root, one_line};

const BUILT: &str = "ready = { log = '^ready$' }
[variables.engine]
type = \"choice\"
default = \"red\"
choices = [\"red\", \"blue\"]
description = \"Which.\"
[variables.extra]
type = \"boolean\"
default = false
description = \"More.\"
[variables.binary]
type = \"path\"
default = \"\"
description = \"Your own.\"
[names]
program = \"{{ vars.binary or root ~ '/bin/' ~ vars.engine }}\"
[[requires]]
make = \"bin/{{ vars.engine }}\"
when = \"{{ vars.binary == '' }}\"
[[requires]]
make = \"bin/extra\"
when = \"{{ vars.extra }}\"
[[requires]]
command = [\"sh\", \"-c\", \"test ! -e \\\"$0\\\" || { echo first; echo it is broken; exit 3; }\", \"{{ root }}/broken\"]
mend = \"mend it\"
[outputs]
PROGRAM = \"{{ names.program }}\"";

fn root() -> Root {
    let root = Root::new();
    root.python("one", "print('ready', flush=True)\ntime.sleep(600)", BUILT);
    std::fs::create_dir(root.file("bin")).unwrap();
    root
}

#[test]
fn the_targets_of_make_are_told_by_the_variables_without_a_start() {
    let root = root();
    for (arguments, targets) in [
        (&[][..], "bin/red\n"),
        (&["--var", "engine=blue"], "bin/blue\n"),
        (&["--var", "extra=true"], "bin/extra\nbin/red\n"),
        (&["--var", "binary=/bin/sh"], ""),
        (&["--any", "engine"], "bin/blue\nbin/red\n"),
        (
            &["--any", "engine", "--any", "extra"],
            "bin/blue\nbin/extra\nbin/red\n",
        ),
    ] {
        let command = [&["testbed", "needs", "one"][..], arguments].concat();
        let output = root.sidecar(&command).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            targets,
            "{arguments:?}"
        );
    }
    for (arguments, wrong) in [
        (["--any", "binary"], "no choice or boolean binary"),
        (["--var", "binary=sh"], "must be an absolute path"),
    ] {
        let command = [&["testbed", "needs", "one"][..], &arguments].concat();
        let output = root.sidecar(&command).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        one_line(&output.stderr, &[wrong]);
    }
    root.nothing_is_left();
}

#[test]
fn what_a_start_misses_is_told_with_its_mend() {
    let root = root();
    let up = |arguments: &[&str]| {
        let command = [&["testbed", "run", "one"][..], arguments, &["--", "true"]].concat();
        root.sidecar(&command).output().unwrap()
    };
    let missing = |arguments: &[&str], parts: &[&str]| {
        let output = up(arguments);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        one_line(&output.stderr, parts);
    };
    missing(
        &[],
        &["/bin/red, which does not exist", "run `make bin/red`"],
    );
    std::fs::write(root.file("bin/red"), "").unwrap();
    missing(
        &["--var", "binary=/nowhere/at/all"],
        &[
            "variable binary",
            "needs /nowhere/at/all, which does not exist",
        ],
    );
    std::fs::write(root.file("broken"), "").unwrap();
    missing(
        &[],
        &[
            "testbed one: sh failed",
            "it printed: it is broken; mend it",
        ],
    );
    std::fs::remove_file(root.file("broken")).unwrap();
    assert_eq!(up(&[]).status.code(), Some(0));
    let own = root.sidecar(&[
        "testbed",
        "run",
        "one",
        "--var",
        "binary=/bin/sh",
        "--",
        "sh",
        "-c",
        "echo $PROGRAM",
    ]);
    let told = { own }.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&told.stdout), "/bin/sh\n");
    root.nothing_is_left();
}
