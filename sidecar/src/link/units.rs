//! Values with their units, as people write them: `100ms`, `50mbit`, `1%`, `64kib`.

/// Why a text is not a valid value, and what to write instead.
pub type Wrong = (String, String);

pub fn wrong(what: impl Into<String>, mend: impl Into<String>) -> Wrong {
    (what.into(), mend.into())
}

/// Nanoseconds of a text such as `0.2ms`, `600ms`, `1.5s` or `200us`; up to a minute.
pub fn time_ns(text: &str) -> Result<u64, Wrong> {
    let units = [("us", 1e3), ("ms", 1e6), ("s", 1e9)];
    let ns = number(text, &units, "a time", "such as 80ms or 1.5s")?;
    within(text, ns, 0.0, 60e9, "0 to 60s")
}

/// Bits per second of a text such as `50mbit`, `1gbit` or `500kbit`; 8 kbit to 10 Gbit. The rate counts whole IP packets.
fn rate_bit_s(text: &str) -> Result<u64, Wrong> {
    let units = [("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9), ("bit", 1.0)];
    let rate = number(text, &units, "a rate", "such as 50mbit")?;
    within(text, rate, 8e3, 10e9, "8kbit to 10gbit")
}

/// The same as [`rate_bit_s`], or `none`.
pub fn rate(text: &str) -> Result<Option<u64>, Wrong> {
    match text {
        "none" => Ok(None),
        _ => rate_bit_s(text).map(Some),
    }
}

/// The share, from 0 to 1, of a text such as `1%` or `0.05%`.
pub fn share(text: &str) -> Result<f64, Wrong> {
    let per_cent = number(text, &[("%", 1.0)], "a share", "such as 1%")?;
    within(text, per_cent, 0.0, 100.0, "0% to 100%")?;
    Ok(per_cent / 100.0)
}

/// The number of packets of a text such as `8p`.
pub fn packets(text: &str) -> Result<f64, Wrong> {
    let count = number(text, &[("p", 1.0)], "a number of packets", "such as 8p")?;
    within(text, count, 1.0, 1e6, "1p to 1000000p")?;
    Ok(count)
}

/// Bytes of a text such as `64kib`, `1mib`, `64kb`, `1mb` or `1500b`; up to a GiB.
pub fn bytes(text: &str) -> Result<u64, Wrong> {
    let units = [
        ("kib", 1024.0),
        ("mib", 1_048_576.0),
        ("kb", 1e3),
        ("mb", 1e6),
        ("b", 1.0),
    ];
    let bytes = number(text, &units, "a size", "such as 64kib")?;
    within(text, bytes, 1.0, 1_073_741_824.0, "1b to 1024mib")
}

/// The multiple of rate × round-trip time of a text such as `1bdp`.
pub fn products(text: &str) -> Result<f64, Wrong> {
    let times = number(text, &[("bdp", 1.0)], "a queue", "such as 1bdp")?;
    within(text, times, 0.01, 1e3, "0.01bdp to 1000bdp")?;
    Ok(times)
}

pub fn yes(text: &str) -> Result<bool, Wrong> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(wrong(
            format!("`{text}` is neither yes nor no"),
            "write yes or no",
        )),
    }
}

/// The number before one of `units`, times the value of that unit. If one unit is the end of another, it comes after the other in `units`.
fn number(text: &str, units: &[(&str, f64)], what: &str, such: &str) -> Result<f64, Wrong> {
    let no_number = |why: &str| {
        let mend = format!("write a number and its unit, {such}");
        wrong(format!("`{text}` is not {what}{why}"), mend)
    };
    let plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    if !text.is_empty() && plain(text) {
        return Err(no_number(": it has no unit"));
    }
    let mut found = units
        .iter()
        .filter_map(|(unit, times)| Some((text.strip_suffix(unit)?, times)));
    let (digits, times) = found.next().ok_or_else(|| no_number(""))?;
    let number = digits.parse::<f64>().ok().filter(|_| plain(digits));
    Ok(number.ok_or_else(|| no_number(""))? * times)
}

fn within(text: &str, value: f64, least: f64, most: f64, bounds: &str) -> Result<u64, Wrong> {
    if (least..=most).contains(&value) {
        return Ok(value.round() as u64);
    }
    Err(out_of_bounds(text, bounds))
}

pub fn out_of_bounds(text: &str, bounds: &str) -> Wrong {
    wrong(
        format!("`{text}` is out of bounds"),
        format!("give {bounds}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_with_their_units() {
        assert_eq!(time_ns("0.2ms"), Ok(200_000));
        assert_eq!(time_ns("1.5s"), Ok(1_500_000_000));
        assert_eq!(time_ns("0ms"), Ok(0));
        assert_eq!(rate_bit_s("50mbit"), Ok(50_000_000));
        assert_eq!(rate_bit_s("9600bit"), Ok(9_600));
        assert_eq!(share("0.5%"), Ok(0.005));
        assert_eq!(bytes("64kib"), Ok(65_536));
        assert_eq!(bytes("64kb"), Ok(64_000));
        assert_eq!(bytes("1500b"), Ok(1_500));
        assert_eq!(packets("100p"), Ok(100.0));
        assert_eq!(products("1.5bdp"), Ok(1.5));
    }

    #[test]
    fn what_is_no_such_value_is_quoted_with_what_to_write() {
        for text in [
            "100", "1.5", "ms", "", "-1ms", "1e3ms", "infms", "nanms", "100 ms", "5mbit",
        ] {
            let (wrong, mend) = time_ns(text).unwrap_err();
            assert!(wrong.contains(&format!("`{text}`")), "{wrong}");
            assert!(mend.contains("80ms"), "{mend}");
        }
        assert!(time_ns("100").unwrap_err().0.ends_with("it has no unit"));
        assert!(rate_bit_s("100").unwrap_err().0.ends_with("it has no unit"));
        for out in [
            time_ns("61s"),
            rate_bit_s("11gbit"),
            rate_bit_s("1kbit"),
            bytes("0b"),
        ] {
            assert!(out.unwrap_err().0.ends_with("is out of bounds"));
        }
        assert!(share("101%").is_err());
        assert!(yes("true").is_err());
    }
}
