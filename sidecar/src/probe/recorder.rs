//! Samples of one series: memory is taken before the measurement, recording is one store.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::kinds::ErrorKind;
use super::outcome::SeriesSummary;

/// An hour: no operation may take longer.
const MAX_NS: u64 = 3_600_000_000_000;
const SIGNIFICANT_DIGITS: u8 = 3;

/// A series of samples in nanoseconds.
pub struct Series {
    name: &'static str,
    raw: Vec<u64>,
    keep: usize,
    /// What `raw` has no room for.
    rest: Rest,
}

struct Rest {
    histogram: Histogram<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Rest {
    fn new() -> Self {
        Self {
            histogram: Histogram::new_with_max(MAX_NS, SIGNIFICANT_DIGITS)
                .expect("the bounds are constants that are right"),
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.count += 1;
        self.sum += u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }
}

impl Series {
    /// For `planned` samples, of which the first `keep` are kept raw.
    pub fn new(name: &'static str, planned: u64, keep: u64) -> Self {
        let keep = usize::try_from(planned.min(keep)).unwrap_or(usize::MAX);
        // Written once, so that no page is missing when it is measured.
        let mut raw = vec![u64::MAX; keep];
        raw.clear();
        Self {
            name,
            raw,
            keep,
            rest: Rest::new(),
        }
    }

    #[inline]
    pub fn record(&mut self, ns: u64) {
        if self.raw.len() < self.keep {
            self.raw.push(ns);
        } else {
            self.rest.record(ns);
        }
    }

    /// Takes another thread's samples of the same series over, up to `keep` raw ones in all.
    pub fn merge(&mut self, other: Self, keep: u64) {
        self.keep = usize::try_from(keep).unwrap_or(usize::MAX);
        for ns in other.raw {
            self.record(ns);
        }
        let rest = other.rest;
        // Both histograms have the same bounds.
        let _ = self.rest.histogram.add(&rest.histogram);
        self.rest.count += rest.count;
        self.rest.sum += rest.sum;
        self.rest.min = self.rest.min.min(rest.min);
        self.rest.max = self.rest.max.max(rest.max);
    }

    pub fn finish(self) -> SeriesSummary {
        let Self {
            name,
            mut raw,
            mut rest,
            ..
        } = self;
        raw.iter().for_each(|ns| rest.record(*ns));
        raw.shrink_to_fit();
        if rest.count == 0 {
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
            count: rest.count,
            kept: raw.len() as u64,
            min_ns: rest.min,
            max_ns: rest.max,
            mean_ns: rest.sum as f64 / rest.count as f64,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p95_ns: at(0.95),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            values: raw,
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

    #[test]
    fn percentiles_are_of_all_samples_and_kept_ones_are_the_first() {
        let mut series = Series::new("round_trip", 1_000, 100);
        (1..=1_000).for_each(|value| series.record(value * 1_000));
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
        (0..10).for_each(|value| one.record(value));
        (10..20).for_each(|value| other.record(value));
        one.merge(other, 12);
        let summary = one.finish();
        assert_eq!((summary.count, summary.kept), (20, 12));
        assert_eq!(
            (summary.min_ns, summary.max_ns, summary.mean_ns),
            (0, 19, 9.5)
        );
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
