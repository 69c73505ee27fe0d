//! Samples of one series. Memory is allocated before the measurement, so that recording is one store.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::kinds::ErrorKind;
use super::outcome::SeriesSummary;
use crate::net::clock::to_unix_us;

/// One hour, ns: the longest operation.
const MAX_NS: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// A series of samples in nanoseconds.
pub struct Series {
    name: &'static str,
    raw: Vec<u64>,
    /// When each of `raw` ended, on the clock of [`now_ns`](crate::net::clock::now_ns).
    ends: Vec<u64>,
    keep: usize,
    /// Samples that did not fit into `raw`.
    rest: Rest,
}

struct Rest {
    histogram: Histogram<u64>,
    sum: u128,
    min: u64,
    max: u64,
}

impl Rest {
    fn new() -> Self {
        Self {
            histogram: Histogram::new_with_max(MAX_NS, SIGNIFICANT_DIGITS)
                .expect("the bounds are constants that are right"),
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.sum += u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }
}

impl Series {
    /// For `planned` samples; the first `keep` are kept raw.
    pub fn new(name: &'static str, planned: u64, keep: u64) -> Self {
        let keep = usize::try_from(planned.min(keep)).unwrap_or(usize::MAX);
        // Written once, so that no page is missing when it is measured.
        let room = || {
            let mut written = vec![u64::MAX; keep];
            written.clear();
            written
        };
        Self {
            name,
            raw: room(),
            ends: room(),
            keep,
            rest: Rest::new(),
        }
    }

    #[inline]
    pub fn record(&mut self, ended_ns: u64, ns: u64) {
        if self.raw.len() < self.keep {
            self.raw.push(ns);
            self.ends.push(ended_ns);
        } else {
            self.rest.record(ns);
        }
    }

    /// Adds another thread's samples of the same series, up to `keep` raw ones in all.
    pub fn merge(&mut self, other: Self, keep: u64) {
        self.keep = usize::try_from(keep).unwrap_or(usize::MAX);
        for (ns, ended_ns) in other.raw.into_iter().zip(other.ends) {
            self.record(ended_ns, ns);
        }
        let rest = other.rest;
        // Both histograms have the same bounds.
        let _ = self.rest.histogram.add(&rest.histogram);
        self.rest.sum += rest.sum;
        self.rest.min = self.rest.min.min(rest.min);
        self.rest.max = self.rest.max.max(rest.max);
    }

    pub fn finish(self) -> SeriesSummary {
        let Self {
            name,
            mut raw,
            ends,
            mut rest,
            ..
        } = self;
        raw.iter().for_each(|ns| rest.record(*ns));
        raw.shrink_to_fit();
        let count = rest.histogram.len();
        if count == 0 {
            return SeriesSummary {
                name,
                ..SeriesSummary::default()
            };
        }
        let at = |quantile| {
            rest.histogram
                .value_at_quantile(quantile)
                .clamp(rest.min, rest.max)
        };
        SeriesSummary {
            name,
            count,
            kept: raw.len() as u64,
            min_ns: rest.min,
            max_ns: rest.max,
            mean_ns: rest.sum as f64 / count as f64,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p95_ns: at(0.95),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            values: raw,
            ends_unix_us: ends.into_iter().map(to_unix_us()).collect(),
        }
    }
}

/// Failed operations by kind.
#[derive(Debug, Clone, Default)]
pub struct Errors(BTreeMap<ErrorKind, u64>);

impl Errors {
    pub fn add(&mut self, kind: ErrorKind, count: u64) {
        if count > 0 {
            *self.0.entry(kind).or_default() += count;
        }
    }

    pub fn merge(&mut self, other: Self) {
        for (kind, count) in other.0 {
            self.add(kind, count);
        }
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub fn into_map(self) -> BTreeMap<ErrorKind, u64> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::clock::now_ns;

    #[test]
    fn percentiles_are_of_all_samples_and_kept_ones_are_the_first() {
        let mut series = Series::new("round_trip", 1_000, 100);
        (1..=1_000).for_each(|value| series.record(value, value * 1_000));
        let summary = series.finish();
        assert_eq!((summary.count, summary.kept), (1_000, 100));
        assert_eq!((summary.min_ns, summary.max_ns), (1_000, 1_000_000));
        assert_eq!(summary.mean_ns, 500_500.0);
        assert_eq!(
            summary.values,
            (1..=100).map(|v| v * 1_000).collect::<Vec<u64>>()
        );
        let near = |value: u64, truth: u64| {
            assert!(
                value.abs_diff(truth) * 1_000 <= truth,
                "{value} is not {truth}"
            );
        };
        near(summary.p50_ns, 500_000);
        near(summary.p99_ns, 990_000);
        near(summary.p99_9_ns, 999_000);
    }

    #[test]
    fn merged_series_are_as_one() {
        let mut one = Series::new("total", 10, 10);
        let mut other = Series::new("total", 10, 5);
        (0..10).for_each(|value| one.record(value, value));
        (10..20).for_each(|value| other.record(value, value));
        one.merge(other, 12);
        let ends = one.ends.clone();
        let summary = one.finish();
        assert_eq!((summary.count, summary.kept), (20, 12));
        assert_eq!(ends, (0..12).collect::<Vec<u64>>());
        assert_eq!(
            (summary.min_ns, summary.max_ns, summary.mean_ns),
            (0, 19, 9.5)
        );
    }

    #[test]
    fn a_sample_has_its_own_time() {
        let mut series = Series::new("round_trip", 2, 2);
        let now = now_ns();
        series.record(now - 1_500_000_000, 1);
        series.record(now, 1);
        let ends = series.finish().ends_unix_us;
        let wall = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_micros() as u64;
        assert_eq!(ends[1] - ends[0], 1_500_000);
        assert!(wall - ends[1] < 10_000_000, "{ends:?} at {wall}");
    }

    #[test]
    fn an_empty_series_is_all_zero() {
        let summary = Series::new("round_trip", 10, 10).finish();
        assert_eq!(
            (summary.count, summary.p99_ns, summary.mean_ns),
            (0, 0, 0.0)
        );
    }
}
