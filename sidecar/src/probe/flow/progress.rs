//! Received bytes over time, for each tenth of a second.

/// Length of one bucket, ns.
pub const BUCKET_NS: u64 = 100_000_000;

/// Bytes that came by a moment, since the previous moment. Both moments are after the start, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Came {
    /// The earliest moment at which the bytes may have come.
    pub since_ns: u64,
    pub by_ns: u64,
    pub bytes: u64,
}

/// Bytes that came over several tunnels, for each bucket of [`BUCKET_NS`]. If the moment of bytes is not known, they are spread over the
/// time in which they came, at most over the length of one bucket: after a silence, bytes came at its end.
pub fn merged<'a>(lines: impl Iterator<Item = &'a [Came]>, whole_ns: u64) -> Vec<u64> {
    let mut buckets = vec![0.0; whole_ns.div_ceil(BUCKET_NS) as usize];
    for came in lines.flatten() {
        let from = came.since_ns.max(came.by_ns.saturating_sub(BUCKET_NS));
        let length = came.by_ns.saturating_sub(from);
        for bucket in from / BUCKET_NS..=came.by_ns / BUCKET_NS {
            let (begins, ends) = (bucket * BUCKET_NS, (bucket + 1) * BUCKET_NS);
            let within = came.by_ns.min(ends).saturating_sub(from.max(begins));
            let share = if length == 0 {
                1.0
            } else {
                within as f64 / length as f64
            };
            if let Some(bytes) = buckets.get_mut(bucket as usize) {
                *bytes += came.bytes as f64 * share;
            }
        }
    }
    buckets
        .into_iter()
        .map(|bytes| bytes.round() as u64)
        .collect()
}

/// Bytes that came between two moments, in the buckets that begin there.
pub fn between(buckets: &[u64], from_ns: u64, to_ns: u64) -> u64 {
    let range = |ns: u64| (ns.div_ceil(BUCKET_NS) as usize).min(buckets.len());
    buckets[range(from_ns)..range(to_ns)].iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn came(since_ms: u64, by_ms: u64, bytes: u64) -> Came {
        Came {
            since_ns: since_ms * MS,
            by_ns: by_ms * MS,
            bytes,
        }
    }

    #[test]
    fn bytes_are_in_the_bucket_of_their_moment() {
        let lines = [
            vec![came(50, 50, 10), came(150, 150, 20)],
            vec![came(199, 199, 5), came(2_000, 2_000, 99)],
        ];
        let buckets = merged(lines.iter().map(Vec::as_slice), 300 * MS);
        assert_eq!(buckets, [10, 25, 0]);
        assert_eq!(between(&buckets, 100 * MS, 300 * MS), 25);
        assert_eq!(between(&buckets, 0, 10_000 * MS), 35);
    }

    #[test]
    fn a_report_is_spread_over_its_time_and_not_over_a_silence() {
        let lines = [vec![came(50, 150, 100), came(150, 1_050, 60)]];
        let buckets = merged(lines.iter().map(Vec::as_slice), 1_100 * MS);
        assert_eq!((buckets[0], buckets[1]), (50, 50));
        assert_eq!(buckets[2..9], [0; 7]);
        assert_eq!((buckets[9], buckets[10]), (30, 30));
    }
}
