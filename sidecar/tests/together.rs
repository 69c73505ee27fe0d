//! The integration tests in one program: it is compiled and linked once, and the waits of all files overlap. Three files are
//! separate programs, because other tests in their process would change what they watch: `busy`, `namespaces` and `usage`.

mod command_line;
mod common;
mod dns;
mod echoes;
mod far_end;
mod fetch;
mod floors;
mod generate;
mod inner_tls;
mod interface;
mod limits;
mod link_calibration;
mod links;
mod many_tunnels;
mod needs;
mod orphans;
mod outages;
mod pinning;
mod primitives;
mod probe_command_line;
mod probe_errors;
mod probe_interface;
mod probes;
mod taps;
mod users;
mod versions;
mod web;
mod when;

#[test]
fn each_file_is_in_a_program() {
    let (here, apart) = (include_str!("together.rs"), include_str!("../Cargo.toml"));
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap();
    for path in files.map(|file| file.unwrap().path()) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(
            here.contains(&format!("mod {name};")) || apart.contains(&format!("name = \"{name}\"")),
            "tests/{name}.rs is in no program"
        );
    }
}
