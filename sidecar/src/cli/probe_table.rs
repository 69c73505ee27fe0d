//! Results of a probe, as a table.

use crate::probe::outcome::Outcome;

/// One line of counts, one line per kind of error, and one line per series.
pub fn outcome(outcome: &Outcome) -> String {
    let a_second = |count: u64| match outcome.duration_s {
        seconds if seconds > 0.0 => count as f64 / seconds,
        _ => 0.0,
    };
    let mut text = format!(
        "{} of {} succeeded in {:.3} s: {:.1}/s, {:.2} Mbit/s of payload, {:.1} µs of probe CPU each\n",
        outcome.succeeded,
        outcome.attempted,
        outcome.duration_s,
        a_second(outcome.succeeded),
        a_second(outcome.bytes) * 8.0 / 1e6,
        outcome.probe_cpu_s * 1e6 / outcome.attempted.max(1) as f64,
    );
    for (kind, count) in &outcome.errors {
        text.push_str(&format!("failed: {count} {kind}\n"));
    }
    let anomalies = outcome.anomalies;
    for (count, name) in [
        (anomalies.duplicated, "duplicated"),
        (anomalies.out_of_order, "out of order"),
        (anomalies.late, "late"),
        (anomalies.unexpected, "unexpected"),
        (anomalies.other_source, "from another source"),
    ] {
        if count > 0 {
            text.push_str(&format!("datagrams {name}: {count}\n"));
        }
    }
    if let Some(stopped) = outcome.stopped {
        text.push_str(&format!("stopped before its end: {stopped}\n"));
    }
    if let Some(tunnels) = &outcome.tunnels {
        text.push_str(&format!(
            "tunnels: {} of {} open in {:.3} s\n",
            tunnels.open, tunnels.asked, tunnels.open_all_s
        ));
    }
    if let Some(flow) = &outcome.flow {
        for tunnel in flow.tunnels.iter() {
            if let Some(died) = &tunnel.died {
                text.push_str(&format!(
                    "a tunnel died after {:.1} s: {}; {} of {} bytes had arrived\n",
                    died.at_s, died.kind, tunnel.received, tunnel.sent
                ));
            }
        }
    }
    if let Some(nat) = &outcome.nat {
        let found = serde_json::to_value(nat).unwrap_or_default();
        for (name, value) in found.as_object().into_iter().flatten() {
            text.push_str(&format!("{name}: {value}\n"));
        }
        return text;
    }
    text.push_str(&format!(
        "{:12}{:>9}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}\n",
        "µs", "count", "min", "mean", "p50", "p95", "p99", "p99.9", "max"
    ));
    for series in &outcome.series {
        let figures = [
            series.min_ns as f64,
            series.mean_ns,
            series.p50_ns as f64,
            series.p95_ns as f64,
            series.p99_ns as f64,
            series.p99_9_ns as f64,
            series.max_ns as f64,
        ];
        let us = figures.map(|ns| format!("{:>11.1}", ns / 1e3)).concat();
        text.push_str(&format!("{:12}{:>9}{us}\n", series.name, series.count));
    }
    text
}
