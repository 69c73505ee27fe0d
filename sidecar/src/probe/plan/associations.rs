//! The fields of a probe of many associations.

use super::within;
use crate::echo::destinations;
use crate::failure::{Failure, Result};
use crate::probe::spec::{Loop, ProbeKind, Spec};

/// Datagrams that have different numbers.
const MOST_NUMBERED: u64 = 1 << 24;

pub fn check(spec: &Spec) -> Result<()> {
    if spec.kind != ProbeKind::Associations {
        return within("destinations", spec.destinations, 1, 1);
    }
    if spec.pace == Loop::Closed {
        return Err(Failure::invalid(
            "loop: associations send at a fixed rate",
            "give loop.open.rate_per_s",
        ));
    }
    within("count", spec.count, 1, MOST_NUMBERED)?;
    within("destinations", spec.destinations, 1, destinations::MOST)
}
