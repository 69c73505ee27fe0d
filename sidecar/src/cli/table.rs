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
    let mut add = |name: &str, role: Role, cpu: [f64; 2], peaks: [u64; 2], exit: &str| {
        rows.push([
            name.into(),
            role.to_string(),
            format!("{:.3}", cpu[0]),
            format!("{:.1}", cpu[1]),
            mebibytes(peaks[0]),
            mebibytes(peaks[1]),
            exit.into(),
        ]);
    };
    for process in &usage.processes {
        let cpu = [process.cpu_s, process.cpu_percent];
        let peaks = [process.peak_anon_bytes, process.peak_rss_bytes];
        let exit = process.exit.as_deref().unwrap_or_default();
        add(&process.name, process.role, cpu, peaks, exit);
    }
    let processes = usage.processes.iter();
    let total = &usage.total;
    if processes
        .filter(|process| process.role == Role::System)
        .count()
        > 1
    {
        let cpu = [total.cpu_s, total.cpu_percent];
        let peaks = [total.peak_anon_bytes, total.peak_rss_bytes];
        add("total", Role::System, cpu, peaks, "");
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..7).filter_map(width).collect();
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
