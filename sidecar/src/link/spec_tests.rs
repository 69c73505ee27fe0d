use super::*;

/// A repository with one link, `one`, whose file has these lines.
fn root(lines: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join(FOLDER)).unwrap();
    let text = format!("schema = \"{SCHEMA}\"\ntitle = \"One\"\n{lines}\n");
    std::fs::write(root.path().join(FOLDER).join("one.toml"), text).unwrap();
    root
}

fn wrong(lines: &str, text: &str) -> String {
    let failure = read(root(lines).path(), text).unwrap_err();
    assert_eq!(failure.exit_code(), 2);
    assert!(!failure.mend.is_empty());
    failure.to_string()
}

#[test]
fn a_text_is_items_and_may_begin_with_a_name() {
    let root = root("rtt = \"80ms\"\nrate = \"1gbit\"\nloss = \"1%\"\n[up]\nrate = \"10mbit\"");
    let spec = read(root.path(), "one, loss:2%, seed:7, mtu:1400b").unwrap();
    assert_eq!(
        (spec.title.as_str(), spec.seed, spec.mtu),
        ("One", 7, 1_400)
    );
    assert_eq!(spec.settings.rtt_ns(), 80_000_000);
    assert_eq!(spec.settings.up.rate_bit_s, Some(10_000_000));
    assert_eq!(spec.settings.down.rate_bit_s, Some(1_000_000_000));
    assert_eq!(spec.settings.up.loss, 0.02);
    let alone = read(root.path(), "rtt:100ms,rate:50mbit,loss:1%,queue:1bdp").unwrap();
    assert_eq!(alone.settings.up.room(alone.settings.rtt_ns()).0, 625_000);
}

#[test]
fn changes_are_of_the_file_and_of_the_text_by_their_time() {
    let root = root(
        "rate = \"10mbit\"\n[[change]]\nat = \"7s\"\ndead = \"no\"\n[[change]]\nat = \"5s\"\ndead = \"yes\"\n[change.down]\nrate = \"1mbit\"",
    );
    let spec = read(root.path(), "one,@1.5s/rate:5mbit").unwrap();
    let times: Vec<u64> = spec
        .changes
        .iter()
        .map(|change| change.at_ns / 1_000_000)
        .collect();
    assert_eq!(times, [1_500, 5_000, 7_000]);
    let item = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(
        spec.changes[1].items,
        [item("dead", "yes"), item("down.rate", "1mbit")]
    );
}

#[test]
fn what_is_wrong_is_named_in_one_line() {
    for (lines, text, expected) in [
        ("", "on", "there is no link \"on\"; there are one"),
        ("", "../one", "there is no link"),
        ("", "", "`` is not KEY:VALUE"),
        ("", "rtt:100ms,one", "`one` is not KEY:VALUE"),
        (
            "",
            "rtt:100",
            "LINK: rtt:100: `100` is not a time: it has no unit; write a number and its unit",
        ),
        ("", "lag:1ms", "a link has no `lag`"),
        ("", "seed:x", "`x` is not a seed"),
        ("", "mtu:9000b", "out of bounds; give 1280b to 1500b"),
        ("", "jitter:5ms", "LINK: up: jitter is more than delay"),
        ("", "@5s/lag:1ms", "LINK: @5s: a link has no `lag`"),
        ("", "@5/rate:1mbit", "it has no unit"),
        (
            "rate = 50",
            "one",
            "links/one.toml: rate: `50` is not a text; write rate = \"VALUE\"",
        ),
        (
            "rate = \"50\"",
            "one",
            "links/one.toml: rate: `50` is not a rate: it has no unit",
        ),
        ("[up]\nlag = \"1ms\"", "one", "up.lag: a link has no `lag`"),
        (
            "[[change]]\nrate = \"1mbit\"",
            "one",
            "change[0].at: is missing",
        ),
        ("rate = [", "one", "links/one.toml:"),
    ] {
        let failure = wrong(lines, text);
        assert!(failure.contains(expected), "{text:?} {lines:?}: {failure}");
        assert_eq!(failure.lines().count(), 1);
    }
}

#[test]
fn every_link_of_the_repository_can_be_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let names = names(root);
    assert!(names.len() >= 10, "{names:?}");
    for name in names {
        let spec = read(root, &name).unwrap();
        assert!(!spec.title.is_empty(), "{name}");
    }
}

#[test]
fn a_timetable_has_a_time_for_each_item() {
    let changes = timetable("@4s/dead:no,@2s/dead:yes,@2s/up.rate:1mbit").unwrap();
    assert_eq!(changes.len(), 2);
    assert_eq!(
        (changes[0].at_ns, changes[0].items.len()),
        (2_000_000_000, 2)
    );
    assert!(check(&Settings::default(), &changes).is_ok());
    assert!(timetable("dead:yes").is_err());
    assert!(timetable("@x/dead:yes").is_err());
    let wrong = timetable("@1s/rate:fast").unwrap();
    assert!(check(&Settings::default(), &wrong).is_err());
}
