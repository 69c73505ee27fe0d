//! The link of an instance: show, change, calibrate.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use serde::{Deserialize, Serialize};

use super::answer::{blocking, read};
use crate::failure::{Failure, Result};
use crate::link::calibrate::{self, Calibration};
use crate::link::{self, Link, OverTime, spec};
use crate::testbed::supervisor::Supervisor;

type Shared = State<Arc<Supervisor>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    /// Items to set now, such as `rate:10mbit,down.loss:1%`.
    set: Option<String>,
    /// Resets settings, draws, timetable and counts to the start.
    #[serde(default)]
    restart: bool,
    /// A new timetable, such as `@2s/dead:yes,@4s/dead:no`. Times count from the start or the last restart.
    later: Option<String>,
}

/// Shows the link's settings, and the counts of each direction.
pub async fn show(State(supervisor): Shared, Path(id): Path<String>) -> Result<Json<link::State>> {
    blocking(move || Ok(Json(supervisor.instance(&id)?.link()?.state()))).await
}

/// Shows the link's samples over time.
pub async fn samples(State(supervisor): Shared, Path(id): Path<String>) -> Result<Json<OverTime>> {
    blocking(move || Ok(Json(supervisor.instance(&id)?.link()?.over_time()))).await
}

pub async fn change(
    State(supervisor): Shared,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<Json<link::State>> {
    let Change {
        set,
        restart,
        later,
    } = read(&body)?;
    if set.is_none() && later.is_none() && !restart {
        return Err(Failure::bad_request(
            "request: there is nothing to do",
            "send {\"set\": \"rate:10mbit\"} or {\"restart\": true}",
        ));
    }
    blocking(move || {
        let link = supervisor.instance(&id)?.link()?;
        if restart {
            link.restart()?;
        }
        if let Some(text) = set {
            link.change(&spec::items(&text)?)?;
        }
        if let Some(text) = later {
            link.later(spec::timetable(&text)?)?;
        }
        Ok(Json(link.state()))
    })
    .await
}

/// Calibrates the link. It takes some seconds, in which no other traffic may pass. The link is restarted afterwards.
pub async fn calibrate(
    State(supervisor): Shared,
    Path(id): Path<String>,
) -> Result<Json<Calibration>> {
    blocking(move || {
        let link = supervisor.instance(&id)?.link()?;
        calibrate::calibrate(&link, calibrate::WHOLE).map(Json)
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fresh {
    /// A name of a file in `links/`, items, or both, such as `far,loss:2%`.
    text: String,
    /// CPUs of the link's thread; an empty list means any.
    #[serde(default)]
    cpus: Vec<usize>,
    /// Calibrates in half the time, with fewer packets.
    #[serde(default)]
    brief: bool,
}

#[derive(Serialize)]
pub struct Calibrated {
    link: link::State,
    calibration: Calibration,
}

/// Calibrates a new, temporary link with this text, to see how exact such links are on this machine. In the answer, `link` is the state at
/// the start.
pub async fn calibrate_fresh(State(supervisor): Shared, body: Bytes) -> Result<Json<Calibrated>> {
    let Fresh { text, cpus, brief } = read(&body)?;
    let amount = if brief {
        calibrate::BRIEF
    } else {
        calibrate::WHOLE
    };
    blocking(move || {
        let link = Link::start(spec::read(&supervisor.catalogue.root, &text)?, &cpus)?;
        let state = link.state();
        let calibration = calibrate::calibrate(&link, amount)?;
        Ok(Json(Calibrated {
            link: state,
            calibration,
        }))
    })
    .await
}
