//! The calibration of a link, whole and brief: it measures a link of known settings, and reports one that cannot be as requested.

use crate::common::links::may_make_links;
use crate::common::{timely, undisturbed};
use serde_json::{Value, json};

/// Delay, rate, queue and loss of known size.
const ASKED: &str = "rtt:30ms,rate:20mbit,queue:100kb,loss:3%";

fn is_as_asked(found: &Value) {
    for side in ["up", "down"] {
        let side = &found[side];
        // On a busy machine, too, no packet is early, and each missing packet was counted.
        let over_ms = side["delay_ms"]["measured"].as_f64().unwrap()
            - side["delay_ms"]["asked"].as_f64().unwrap();
        assert!(over_ms >= -0.05, "{found}");
        timely(over_ms < 10.0, found.to_string());
        assert_eq!(side["loss"]["missed"], side["loss"]["counted"], "{found}");
        assert_eq!(side["loss"]["per_1000"]["ok"], true, "{found}");
        let rate = side["rate_mbit_s"]["measured"].as_f64().unwrap();
        let share = rate / 20.0;
        timely((0.9..1.01).contains(&share), found.to_string());
        // The queue's delay lacks the time that a busy machine adds to the way's delay.
        let of = |what: &str| {
            side["delay_ms"][what].as_f64().unwrap() + side["queue_ms"][what].as_f64().unwrap()
        };
        let queue = of("measured") / of("asked");
        timely((0.9..1.5).contains(&queue), found.to_string());
    }
}

/// A link in user space cannot carry 10 Gbit/s, and reports this.
fn says_it_is_the_bottleneck(found: &Value) {
    assert_eq!(found["ok"], false);
    let wrong = found["wrong"].to_string();
    assert!(
        wrong.contains("the link itself is the bottleneck"),
        "{wrong}"
    );
}

#[test]
fn a_calibration_measures_what_was_asked_and_finds_what_was_not() {
    undisturbed(|| {
        let Some(root) = may_make_links() else { return };
        let calibrate = |link: &str| -> Value {
            let done = root
                .sidecar(&["link", "calibrate", "--json", link])
                .output()
                .unwrap();
            serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"))
        };
        is_as_asked(&calibrate(ASKED));
        says_it_is_the_bottleneck(&calibrate("rate:10gbit"));
    });
}

#[test]
fn a_brief_calibration_finds_the_same() {
    undisturbed(|| {
        let Some(root) = may_make_links() else { return };
        let server = root.serve();
        let calibrate = |link: &str| -> Value {
            let body = json!({"text": link, "brief": true}).to_string();
            let (status, answer) = server.post("/links/calibrate", &body);
            assert_eq!(status, 200, "{answer}");
            answer["calibration"].clone()
        };
        // A packet that comes twice does not replace a missing one.
        is_as_asked(&calibrate(&format!("{ASKED},duplicate:3%")));
        says_it_is_the_bottleneck(&calibrate("rate:10gbit"));
    });
}
