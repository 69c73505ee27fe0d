//! Checks of the fields that only one or two kinds of probes have.

use super::{has_none, out_of_bounds, within};
use crate::echo::flow::{MOST_BLOCKS, NAME_BYTES};
use crate::echo::transfer::Direction;
use crate::failure::{Failure, Result};
use crate::probe::spec::{FlowDirection, ProbeKind, Spec};

pub fn check_inner_tls(spec: &Spec) -> Result<()> {
    let refused =
        |what: &str, mend: &str| Err(Failure::invalid(format!("inner_tls: {what}"), mend));
    if !spec.inner_tls {
        return Ok(());
    }
    if !matches!(spec.kind, ProbeKind::Throughput | ProbeKind::Handshake) {
        return refused(
            &format!("a {} probe has none", spec.kind),
            "leave inner_tls out",
        );
    }
    if spec.proxy.as_ref().is_some_and(|proxy| proxy.tls.is_some()) {
        return refused(
            "the proxy itself is in TLS",
            "leave proxy.tls or inner_tls out",
        );
    }
    // The far end's session has one thread.
    if spec
        .transfer
        .is_some_and(|transfer| transfer.direction == Direction::Both)
    {
        return refused(
            "a transfer goes one way",
            "give transfer.direction up or down",
        );
    }
    Ok(())
}

pub fn check_flow(spec: &Spec) -> Result<()> {
    let Some(flow) = &spec.flow else {
        return Ok(());
    };
    if spec.kind != ProbeKind::Flow {
        return Err(has_none("flow", spec.kind));
    }
    let between = |field: &str, value: f64, least: f64, most: f64| {
        if value >= least && value <= most {
            return Ok(());
        }
        Err(out_of_bounds(
            &format!("flow.{field}"),
            value,
            &format!("{least} to {most}"),
        ))
    };
    between("seconds", flow.seconds, 0.1, 600.0)?;
    between("warmup_s", flow.warmup_s, 0.0, 60.0)?;
    if flow.requests_per_s != 0.0 {
        between("requests_per_s", flow.requests_per_s, 0.1, 1_000.0)?;
    }
    within("flow.blocks", flow.blocks, 1, MOST_BLOCKS)?;
    if !flow.reads && flow.direction != FlowDirection::Down {
        return Err(Failure::invalid(
            "flow.reads: nothing comes that would not be read",
            "give flow.direction down",
        ));
    }
    let name = flow.congestion.as_deref().unwrap_or("cubic");
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if name.is_empty() || name.len() >= NAME_BYTES || !name.bytes().all(fits) {
        return Err(Failure::invalid(
            format!("flow.congestion: {name:?} is no congestion control"),
            "give one of sysctl net.ipv4.tcp_available_congestion_control",
        ));
    }
    Ok(())
}
