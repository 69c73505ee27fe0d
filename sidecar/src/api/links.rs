//! The link of an instance: show, change, calibrate.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use serde::Deserialize;
use serde_json::json;

use super::answer::{Answer, answer, read};
use crate::failure::Failure;
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
pub async fn show(State(supervisor): Shared, Path(id): Path<String>) -> Answer<link::State> {
    answer(move || Ok(supervisor.instance(&id)?.link()?.state())).await
}

/// Shows the link's samples over time.
pub async fn samples(State(supervisor): Shared, Path(id): Path<String>) -> Answer<OverTime> {
    answer(move || Ok(supervisor.instance(&id)?.link()?.over_time())).await
}

pub async fn change(
    State(supervisor): Shared,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer<link::State> {
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
    answer(move || {
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
        Ok(link.state())
    })
    .await
}

/// Calibrates the link. It takes some seconds, in which no other traffic may pass. The link is restarted afterwards.
pub async fn calibrate(State(supervisor): Shared, Path(id): Path<String>) -> Answer<Calibration> {
    answer(move || calibrate::calibrate(&*supervisor.instance(&id)?.link()?, calibrate::WHOLE))
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

/// Calibrates a new, temporary link with this text, to see how exact such links are on this machine. In the answer, `link` is the state at
/// the start.
pub async fn calibrate_fresh(State(supervisor): Shared, body: Bytes) -> Answer {
    let Fresh { text, cpus, brief } = read(&body)?;
    let amount = if brief {
        calibrate::BRIEF
    } else {
        calibrate::WHOLE
    };
    answer(move || {
        let link = Link::start(spec::read(&supervisor.catalogue.root, &text)?, &cpus)?;
        let state = link.state();
        let calibration = calibrate::calibrate(&link, amount)?;
        Ok(json!({"link": state, "calibration": calibration}))
    })
    .await
}
