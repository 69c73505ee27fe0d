//! Resource usage of processes, as a table.

use crate::process::role::Role;
use crate::process::window::Usage;

/// One line per process. If there is more than one process, one line for the whole system follows.
pub fn usage(usage: &Usage) -> String {
    let mut rows: Vec<[String; 7]> = vec![[
        "process".into(),
        "role".into(),
        "CPU s".into(),
        "CPU %".into(),
        "peak own MiB".into(),
        "peak RSS MiB".into(),
        "ended".into(),
    ]];
    for process in &usage.processes {
        rows.push([
            process.name.clone(),
            process.role.to_string(),
            format!("{:.3}", process.cpu_s),
            format!("{:.1}", process.cpu_percent),
            mebibytes(process.peak_anon_bytes),
            mebibytes(process.peak_rss_bytes),
            process.exit.clone().unwrap_or_default(),
        ]);
    }
    if usage
        .processes
        .iter()
        .filter(|process| process.role == Role::System)
        .count()
        > 1
    {
        rows.push([
            "total".into(),
            Role::System.to_string(),
            format!("{:.3}", usage.total.cpu_s),
            format!("{:.1}", usage.total.cpu_percent),
            mebibytes(usage.total.peak_anon_bytes),
            mebibytes(usage.total.peak_rss_bytes),
            String::new(),
        ]);
    }
    let widths: Vec<usize> = (0..7)
        .map(|column| {
            rows.iter()
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for row in &rows {
        let line: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                if (2..6).contains(&column) {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            })
            .collect();
        text.push_str(line.join("  ").trim_end());
        text.push('\n');
    }
    text.push_str(&format!(
        "over {:.2} s; {}; CPU times are exact, but those of children that ended, which are exact to 0.01 s each\n",
        usage.duration_s,
        busy(usage.host.cpus, usage.host.busy_percent)
    ));
    text
}

/// The host's load, in words.
fn busy(cpus: Option<usize>, percent: Option<f64>) -> String {
    let cores = cpus.map_or("cores".to_owned(), |cpus| format!("{cpus} cores"));
    match percent {
        Some(percent) => format!("the host's {cores} were {percent:.1} % busy"),
        None => format!("the load of the host's {cores} is unknown"),
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / (1024.0 * 1024.0))
}
