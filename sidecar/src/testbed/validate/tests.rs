use super::*;
use crate::testbed::file::parse;

const GOOD: &str = r#"
schema = "windtunnel.testbed/1"
name = "good"
system = "test"
title = "Good"
[variables.port]
type = "port"
default = 0
description = "Where it listens."
[secrets.key]
[[process]]
name = "one"
command = ["sleep", "{{ vars.port }}"]
cpus = "{{ vars.port }}"
[process.env]
KEY = "{{ secrets.key }}"
PUBLIC = "{{ generated.keys.public }}"
[process.ready]
tcp = "127.0.0.1:{{ vars.port }}"
[[generate]]
name = "keys"
command = ["keys", "{{ vars.port }}"]
fields = { public = "public: (.+)" }
[outputs]
URL = "http://127.0.0.1:{{ vars.port }}"
KEY = "{{ secrets.key }}"
"#;

const SLEEP: &str = "process[0].command:";

fn check(text: &str) -> std::result::Result<(), String> {
    let file: TestbedFile = parse(text, "good.toml").map_err(|error| error.to_string())?;
    validate(
        &file,
        &Choices::new(),
        "good",
        "good.toml",
        Path::new("/nowhere"),
    )
    .map_err(|error| error.to_string())
}

#[test]
fn a_good_file_passes() {
    assert_eq!(check(GOOD), Ok(()));
}

#[test]
fn each_mistake_is_named_by_its_field() {
    for (from, to, field) in [
        ("name = \"good\"", "name = \"other\"", "name:"),
        ("testbed/1", "testbed/2", "schema:"),
        ("title = \"Good\"", "title = \" \"", "title:"),
        (
            "[outputs]",
            "[sweep]\nvariable = \"prt\"\nvalues = [1]\n[outputs]",
            "sweep: `prt` is not declared",
        ),
        (
            "[outputs]",
            "[sweep]\nvariable = \"port\"\nvalues = [1]\nonly = { port = \"x\" }\n[outputs]",
            "sweep.only:",
        ),
        (
            "[outputs]",
            "[names]\nat = \"{{ vars.port }}\"\n[outputs]",
            "names.at: the template uses the port `vars.port`",
        ),
        (
            "[outputs]",
            "[names]\nat = \"{{ work }}\"\n[outputs]",
            "names.at: the template uses `work`, which is not known yet",
        ),
        (
            "[outputs]",
            "[names]\nat = \"{{ secrets.key }}\"\n[outputs]",
            "names.at: a secret would be visible here",
        ),
        (
            "sleep\", \"{{ vars.port",
            "sleep\", \"{{ names.at",
            "process[0].command: the template uses `names.at`, which is not declared",
        ),
        (
            "[outputs]",
            "[[requires]]\nmake = \"bin/x\"\nmend = \"m\"\n[outputs]",
            "requires[0].mend: follows from `make`",
        ),
        (
            "[outputs]",
            "[[requires]]\ncommand = [\"x\"]\n[outputs]",
            "requires[0].mend: is missing",
        ),
        (
            "[outputs]",
            "[[requires]]\nmake = \"x\"\npath = \"y\"\nmend = \"m\"\n[outputs]",
            "requires[0]: needs exactly one of",
        ),
        ("default = 0", "default = 70000", "variables.port.default:"),
        ("default = 0", "default = \"a\"", "variables.port.default:"),
        (
            "[secrets.key]",
            "[secrets.key]\nbytes = 8",
            "secrets.key.bytes:",
        ),
        ("sleep\", \"{{ vars.port", "sleep\", \"{{ vars.prt", SLEEP),
        (
            "sleep\", \"{{ vars.port",
            "sleep\", \"{{ secrets.key",
            SLEEP,
        ),
        (
            "sleep\", \"{{ vars.port",
            "sleep\", \"{{ generated.keys.public",
            SLEEP,
        ),
        ("sleep\", \"{{ vars.port", "sleep\", \"{{ home", SLEEP),
        (
            "sleep\", \"{{ vars.port }}",
            "sleep\", \"{{ vars.port",
            SLEEP,
        ),
        (
            "cpus = \"{{ vars",
            "cpus = \"{{ secrets",
            "process[0].cpus:",
        ),
        (
            "keys\", \"{{ vars.port",
            "keys\", \"{{ secrets.key",
            "generate[0].command:",
        ),
        (
            "command = [\"keys\", \"{{ vars.port }}\"]",
            "command = []",
            "generate[0].command:",
        ),
        ("{ public = ", "{ Public = ", "generate[0].fields.Public:"),
        (": (.+)", ": .+", "generate[0].fields.public:"),
        (": (.+)", ": (.+", "generate[0].fields.public:"),
        ("{ public = \"public: (.+)\" }", "{}", "generate[0].fields:"),
        ("name = \"keys\"", "name = \"a-b\"", "generate[0].name:"),
        (
            "[[process]]",
            "[[generate]]\nname = \"keys\"\ncommand = [\"keys\"]\nfields = { a = \"(a)\" }\n[[process]]",
            "generate[1].name:",
        ),
        (
            "generated.keys.public",
            "generated.keys.private",
            "process[0].env.PUBLIC:",
        ),
        (
            "generated.keys.public",
            "generated.pair.public",
            "process[0].env.PUBLIC:",
        ),
        (
            "command = [\"sleep",
            "when = \"{{ vars.prt }}\"\ncommand = [\"sleep",
            "process[0].when:",
        ),
        (
            "command = [\"sleep",
            "when = \"{{ secrets.key }}\"\ncommand = [\"sleep",
            "process[0].when:",
        ),
        (
            "[outputs]",
            "[[requires]]\npath = \"/\"\nmend = \"m\"\nwhen = \"{{ vars.prt }}\"\n[outputs]",
            "requires[0].when:",
        ),
        (
            "[outputs]",
            "[[file]]\ntemplate = \"x\"\npath = \"x\"\nwhen = \"{{ vars.prt }}\"\n[outputs]",
            "file[0].when:",
        ),
        (
            "[outputs]",
            "[versions]\none = { command = [\"one\"], when = \"{{ vars.prt }}\" }\n[outputs]",
            "versions.one.when:",
        ),
        (
            "[outputs]",
            "[versions]\none = { command = [] }\n[outputs]",
            "versions.one:",
        ),
        ("tcp = ", "log = \"(\"\n# ", "process[0].ready.log:"),
        ("tcp = ", "log = \"x\"\ntcp = ", "process[0].ready:"),
        ("tcp = ", "listens = \"1\"\ntcp = ", "process[0].ready:"),
        (
            "tcp = ",
            "listens = \"{{ vars.prt }}\"\n# ",
            "process[0].ready.listens:",
        ),
        (
            "tcp = ",
            "timeout_s = 0\ntcp = ",
            "process[0].ready.timeout_s:",
        ),
        (
            "command = ",
            "stop_timeout_s = 61\ncommand = ",
            "process[0].stop_timeout_s:",
        ),
        (
            "command = ",
            "role = \"generator\"\ncommand = ",
            "process[0].role:",
        ),
        ("URL = ", "url = ", "outputs.url:"),
        (
            "[outputs]",
            "[[file]]\ntemplate = \"../x\"\npath = \"x\"\n[outputs]",
            "file[0].template:",
        ),
        (
            "[outputs]",
            "[[file]]\ntemplate = \"x\"\npath = \"/x\"\n[outputs]",
            "file[0].path:",
        ),
    ] {
        let error = check(&GOOD.replacen(from, to, 1)).unwrap_err();
        assert!(
            error.starts_with(&format!("good.toml: {field}")),
            "{from} -> {to}: {error}"
        );
        assert!(error.contains("; "), "no mend: {error}");
    }
}

const NETWORK: &str = r#"
[[namespace]]
name = "one"
sysctl = { "net.ipv4.ip_forward" = "{{ vars.port }}" }
setup = [["ip", "{{ namespaces.one }}"]]
[[namespace]]
name = "two"
[[link]]
ends = [
  { namespace = "one", device = "a", addresses = ["198.18.0.{{ vars.port }}/24"] },
  { namespace = "two", device = "a" },
]
[[requires]]
program = "ip"
mend = "install it"
[outputs]
TWO = "{{ namespaces.two }}"
"#;

#[test]
fn each_mistake_in_a_network_is_named_by_its_field() {
    let good = GOOD.replace("[outputs]", NETWORK);
    let good = good.replace("cpus =", "namespace = \"one\"\ncpus =");
    assert_eq!(check(&good), Ok(()));
    for (from, to, field) in [
        ("name = \"two\"", "name = \"one\"", "namespace[1].name:"),
        ("name = \"two\"", "name = \"Two\"", "namespace[1].name:"),
        ("\"net.ipv4", "\"kernel.ipv4", "namespace[0].sysctl.kernel"),
        ("\"net.ipv4", "\"net./ipv4", "namespace[0].sysctl.net./ipv4"),
        ("[[\"ip\", ", "[[], [\"ip\", ", "namespace[0].setup[0]:"),
        (
            "{{ namespaces.one",
            "{{ namespaces.tow",
            "namespace[0].setup[0]:",
        ),
        (
            "{{ namespaces.one",
            "{{ secrets.key",
            "namespace[0].setup[0]:",
        ),
        ("{{ namespaces.two", "{{ namespaces.none", "outputs.TWO:"),
        (
            "namespace = \"two\"",
            "namespace = \"tow\"",
            "link[0].ends[1].namespace:",
        ),
        (
            "namespace = \"two\"",
            "namespace = \"one\"",
            "link[0].ends[1].device:",
        ),
        (
            "device = \"a\" }",
            "device = \"A\" }",
            "link[0].ends[1].device:",
        ),
        (
            "0.{{ vars.port",
            "0.{{ vars.prt",
            "link[0].ends[0].addresses:",
        ),
        (
            "namespace = \"one\"\ncpus",
            "namespace = \"noe\"\ncpus",
            "process[0].namespace:",
        ),
        (
            "program = \"ip\"",
            "program = \"/ip\"",
            "requires[0].program:",
        ),
        (
            "program = \"ip\"",
            "path = \"/\"\nprogram = \"ip\"",
            "requires[0]:",
        ),
    ] {
        let error = check(&good.replacen(from, to, 1)).unwrap_err();
        assert!(
            error.starts_with(&format!("good.toml: {field}")),
            "{from} -> {to}: {error}"
        );
    }
}

#[test]
fn names_cannot_leave_the_folder() {
    assert!(is_name("pulsar-relay"));
    for name in ["../x", "a/b", "", "A", "-a", ".."] {
        assert!(!is_name(name), "{name}");
    }
}
