//! The tables, as Markdown.

use super::plan::Section;
use super::report::{Report, Row, Verdict};
use super::text;

const NONE: &str = "—";
const NOT_PLAUSIBLE: &str = "not plausible";
/// The size that the reference document compares overheads at.
const OVERHEAD_BYTES: u64 = 64 << 10;
/// A short message shows what each one costs, a long one what each byte does.
const EXTENSION_BYTES: [u64; 2] = [64, OVERHEAD_BYTES];
const SCENARIOS: [(&str, u64); 5] = [
    ("TCP control", 64),
    ("HTTP request", 512),
    ("HTTP response", 1460),
    ("Video chunk", 16 << 10),
    ("Bulk data", 64 << 10),
];

/// A heading, the machine, a table for each question, and what to think of it.
pub fn markdown(report: &Report) -> String {
    let parts = [
        head(report),
        throughput(report, Section::Aead, "encrypt", "Encryption throughput"),
        throughput(report, Section::Aead, "decrypt", "Decryption throughput"),
        overhead(report),
        packets(report),
        extensions(report),
        throughput(report, Section::Hash, "hash", "Hash throughput"),
        rule_sets(report),
        buffers(report),
        memory(report),
        validity(report),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn head(report: &Report) -> Option<String> {
    let host = &report.host;
    let versions: Vec<String> = report
        .versions
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    let features = match report.cpu_features.as_slice() {
        [] => "none that the libraries use".to_owned(),
        features => features.join(", "),
    };
    Some(format!(
        "# Primitives\n\n\
         {}, {} cores, CPU {} of them; {}, kernel {}; {}. Load average {:.2} at the start, {:.2} at the end.\n\n\
         CPU extensions: {features}.\n\n\
         {}.\n\n\
         Mode {}: {} of {} ms each, {} samples; {:.0} s in all. Times are CPU times of one operation: medians of the \
         rounds, and the range of their 95 % confidence intervals. {} known answers were checked before.\n",
        host.cpu_model,
        host.cpus,
        report.cpu,
        host.os,
        host.kernel,
        report.rustc,
        report.load[0],
        report.load[1],
        versions.join(", "),
        format!("{:?}", report.mode).to_lowercase(),
        match report.parameters.rounds {
            1 => "1 round".to_owned(),
            rounds => format!("{rounds} rounds in turn"),
        },
        report.parameters.measure_ms,
        report.parameters.samples,
        report.duration_s,
        text::count(report.known_answers),
    ))
}

/// Columns of a table that are numbers are aligned to the right.
fn table(title: &str, columns: &[String], left: usize, rows: &[Vec<String>]) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<String> = (0..columns.len())
        .map(|column| if column < left { "---" } else { "---:" }.to_owned())
        .collect();
    let mut out = format!("## {title}\n\n{}{}", line(columns), line(&rule));
    for row in rows {
        out.push_str(&line(row));
    }
    Some(out)
}

fn strings<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.into_iter().map(str::to_owned).collect()
}

fn rows(report: &Report, section: Section) -> impl Iterator<Item = &Row> {
    let all = report.measurements.iter();
    all.filter(move |row| row.section == section)
}

/// What a cell shows of a row; a figure that cannot be true is not shown.
fn cell(row: Option<&Row>, show: impl Fn(&Row) -> String) -> String {
    match row {
        None => NONE.to_owned(),
        Some(row) if row.implausible.is_some() => NOT_PLAUSIBLE.to_owned(),
        Some(row) => show(row),
    }
}

fn time(row: &Row) -> String {
    text::time(row.time_ns.median)
}

fn interval(row: &Row) -> String {
    format!(
        "{}–{}",
        text::time(row.time_ns.low),
        text::time(row.time_ns.high)
    )
}

fn rate(row: &Row) -> String {
    row.bytes_per_s
        .map_or_else(|| NONE.to_owned(), text::throughput)
}

/// Each pair of subject and implementation, in the order in which they come.
fn names<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<(&'a str, &'a str)> {
    let mut names = Vec::new();
    for row in rows {
        let name = (row.key.subject.as_str(), row.key.implementation.as_str());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Payload sizes of rows, ascending.
fn sizes<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<u64> {
    let mut sizes: Vec<u64> = rows.filter_map(|row| row.key.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

fn throughput(report: &Report, section: Section, operation: &str, title: &str) -> Option<String> {
    let of_operation = || {
        rows(report, section)
            .filter(move |row| [operation, "copy"].contains(&row.key.operation.as_str()))
    };
    let sizes = sizes(of_operation());
    let mut columns = strings(["Algorithm", "Implementation"]);
    columns.extend(sizes.iter().map(|bytes| text::size(*bytes)));
    let lines: Vec<Vec<String>> = names(of_operation())
        .into_iter()
        .map(|(subject, implementation)| {
            let mut line = strings([subject, implementation]);
            line.extend(sizes.iter().map(|bytes| {
                let row = of_operation().find(|row| {
                    row.key.subject == subject
                        && row.key.implementation == implementation
                        && row.key.bytes == Some(*bytes)
                });
                cell(row, rate)
            }));
            line
        })
        .collect();
    table(title, &columns, 2, &lines)
}

fn find<'a>(
    report: &'a Report,
    operation: &str,
    subject: &str,
    implementation: &str,
    bytes: u64,
) -> Option<&'a Row> {
    rows(report, Section::Aead).find(|row| {
        row.key.operation == operation
            && row.key.subject == subject
            && row.key.implementation == implementation
            && row.key.bytes == Some(bytes)
    })
}

fn overhead(report: &Report) -> Option<String> {
    let copy = find(report, "copy", "memory", "memcpy", OVERHEAD_BYTES)?;
    let lines: Vec<Vec<String>> = rows(report, Section::Aead)
        .filter(|row| row.key.bytes == Some(OVERHEAD_BYTES))
        .map(|row| {
            let times = row.time_ns.median / copy.time_ns.median;
            let trusted = row.implausible.is_none() && copy.implausible.is_none();
            vec![
                format!("{} {}", row.key.subject, row.key.operation),
                row.key.implementation.clone(),
                cell(Some(row), time),
                cell(Some(row), interval),
                cell(Some(row), rate),
                if trusted {
                    text::digits(times)
                } else {
                    NONE.to_owned()
                },
            ]
        })
        .collect();
    let title = format!("Overhead of encryption, {}", text::size(OVERHEAD_BYTES));
    let columns = strings([
        "Operation",
        "Implementation",
        "Time",
        "95 % intervals",
        "Throughput",
        "× copy",
    ]);
    table(&title, &columns, 2, &lines)
}

fn packets(report: &Report) -> Option<String> {
    let mut lines = Vec::new();
    let of_aead = || rows(report, Section::Aead).filter(|row| row.key.operation == "encrypt");
    let mut implementations: Vec<&str> =
        names(of_aead()).into_iter().map(|(_, name)| name).collect();
    implementations.dedup();
    for implementation in implementations {
        for (scenario, bytes) in SCENARIOS {
            let shown = |subject| {
                let row = find(report, "encrypt", subject, implementation, bytes);
                cell(row, |row| format!("{} ({})", time(row), rate(row)))
            };
            lines.push(vec![
                implementation.to_owned(),
                scenario.to_owned(),
                text::size(bytes),
                shown("aes-256-gcm"),
                shown("chacha20-poly1305"),
            ]);
        }
    }
    let columns = strings([
        "Implementation",
        "Scenario",
        "Size",
        "aes-256-gcm",
        "chacha20-poly1305",
    ]);
    table("Realistic packet sizes: encryption", &columns, 2, &lines)
}

fn extensions(report: &Report) -> Option<String> {
    let lines: Vec<Vec<String>> = rows(report, Section::Aead)
        .chain(rows(report, Section::Hash))
        .filter(|row| row.key.implementation == "portable")
        .filter(|row| {
            row.key
                .bytes
                .is_some_and(|bytes| EXTENSION_BYTES.contains(&bytes))
        })
        .map(|portable| {
            let times = |implementation: &[&str]| {
                let row = rows(report, portable.section).find(|row| {
                    row.key.subject == portable.key.subject
                        && row.key.operation == portable.key.operation
                        && row.key.bytes == portable.key.bytes
                        && implementation.contains(&row.key.implementation.as_str())
                });
                cell(row, |row| {
                    let times = portable.time_ns.median / row.time_ns.median;
                    format!("{} ({}×)", rate(row), text::digits(times))
                })
            };
            vec![
                format!("{} {}", portable.key.subject, portable.key.operation),
                portable.key.bytes.map_or_else(String::new, text::size),
                cell(Some(portable), rate),
                times(&["rustcrypto", "blake3"]),
                times(&["ring"]),
            ]
        })
        .collect();
    let columns = strings([
        "Operation",
        "Size",
        "Portable",
        "Same library, accelerated",
        "ring",
    ]);
    let mut text = table("What the CPU's extensions bring", &columns, 1, &lines)?;
    if !report.cpu_features.iter().any(|feature| feature == "aes") {
        text.push_str(
            "\nThis CPU has no AES: the AES of these libraries is portable code in every column.\n",
        );
    }
    Some(text)
}

fn rule_sets(report: &Report) -> Option<String> {
    let of_rules = || {
        report
            .measurements
            .iter()
            .filter(|row| row.key.rules.is_some())
    };
    let gaps = || report.skipped.iter().map(|gap| &gap.skipped.key);
    let counts = &report.parameters.rules;
    let mut columns = strings(["Rules", "Structure"]);
    columns.extend(counts.iter().map(|count| text::count(*count)));
    columns.push("Built in (largest)".to_owned());
    let mut lines = Vec::new();
    for (subject, implementation) in names(of_rules()) {
        let mine = || {
            of_rules().filter(move |row| {
                row.key.subject == subject && row.key.implementation == implementation
            })
        };
        let mut line = strings([
            match subject {
                "ipv4" if implementation == "maxminddb" => "GeoIP country",
                other => other,
            },
            implementation,
        ]);
        line.extend(counts.iter().map(|count| {
            let skipped = gaps().any(|key| {
                key.subject == subject
                    && key.implementation == implementation
                    && key.rules == Some(*count)
            });
            let row = mine().find(|row| row.key.rules == Some(*count));
            cell(row, time) + if skipped { " ¹" } else { "" }
        }));
        let built = mine()
            .max_by_key(|row| row.key.rules)
            .and_then(|row| row.build_s);
        line.push(built.map_or_else(|| NONE.to_owned(), |seconds| text::time(seconds * 1e9)));
        lines.push(line);
    }
    let mut text = table("Rule sets: time of a look-up", &columns, 2, &lines)?;
    for gap in &report.skipped {
        let key = &gap.skipped.key;
        text.push_str(&format!(
            "\n- ¹ {} by {}, {} rules: not measured; {}.",
            key.subject,
            key.implementation,
            text::count(key.rules.unwrap_or_default()),
            gap.skipped.reason
        ));
    }
    text.push_str(
        "\n- At least half of the 4,096 queries are in the rules. They are asked in turn, so that what they touch stays in \
         the CPU's caches: a look-up that has to go to memory takes longer, the more so in large sets.\n",
    );
    Some(text)
}

fn buffers(report: &Report) -> Option<String> {
    let lines: Vec<Vec<String>> = rows(report, Section::Buffers)
        .map(|row| {
            vec![
                format!("{} {}", row.key.operation, row.key.subject),
                row.key.implementation.clone(),
                row.key.bytes.map_or_else(|| NONE.to_owned(), text::size),
                cell(Some(row), time),
                cell(Some(row), interval),
            ]
        })
        .collect();
    let columns = strings(["Operation", "How", "Size", "Time", "95 % intervals"]);
    table("Buffers", &columns, 2, &lines)
}

fn memory(report: &Report) -> Option<String> {
    let lines: Vec<Vec<String>> = rows(report, Section::Memory)
        .map(|row| {
            vec![
                row.key.operation.clone(),
                row.key.bytes.map_or_else(|| NONE.to_owned(), text::size),
                cell(Some(row), rate),
            ]
        })
        .collect();
    let columns = strings(["Operation", "Block", "Throughput"]);
    let mut text = table(
        "The physical limit: one core and the memory",
        &columns,
        1,
        &lines,
    )?;
    text.push_str(
        "\nA copy reads and writes each byte, so it moves twice what its throughput says.\n",
    );
    Some(text)
}

fn validity(report: &Report) -> Option<String> {
    let mut text = String::from("## Can it be trusted?\n\n");
    for check in &report.validity {
        let mark = match check.ok {
            Some(true) => "ok",
            Some(false) => "NOT OK",
            None => "not told",
        };
        text.push_str(&format!("- {} ({mark}): {}\n", check.check, check.detail));
    }
    for row in &report.measurements {
        if let Some(reason) = &row.implausible {
            let key = &row.key;
            text.push_str(&format!(
                "- not plausible: {} {} of {}{}: {reason}\n",
                key.subject,
                key.operation,
                key.implementation,
                key.bytes
                    .map_or_else(String::new, |bytes| format!(", {}", text::size(bytes))),
            ));
        }
    }
    let verdict = match report.verdict {
        Verdict::Pass => "pass",
        Verdict::Inconclusive => "inconclusive",
    };
    text.push_str(&format!("\nverdict: {verdict}\n"));
    Some(text)
}
