// SPDX-License-Identifier: Apache-2.0
//! Active queue management in the configuration file.

use link_core as core;
use link_core::{Bytes, Nanos};
use serde::Deserialize;

/// A managed queue as it is written.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "model", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Aqm {
    #[serde(rename = "codel")]
    CoDel {
        target_ns: u64,
        interval_ns: u64,
        ecn: bool,
    },
    #[serde(rename = "fq_codel")]
    FqCoDel {
        target_ns: u64,
        interval_ns: u64,
        ecn: bool,
        quantum_bytes: u64,
        flows: u32,
    },
    Pie {
        target_ns: u64,
        update_ns: u64,
        burst_ns: u64,
        ecn: bool,
    },
    #[serde(rename = "dualpi2")]
    DualPi2 {
        target_ns: u64,
        update_ns: u64,
        threshold_ns: u64,
    },
    Step {
        threshold_ns: u64,
    },
}

/// Shortest time between two calculations of a probability.
const LEAST_UPDATE_NS: u64 = 1_000_000;

impl Aqm {
    /// The element; messages start with the field's dot.
    pub(super) fn element(&self) -> Result<core::Aqm, String> {
        Ok(match *self {
            Self::CoDel {
                target_ns,
                interval_ns,
                ecn,
            } => core::Aqm {
                rule: codel(target_ns, interval_ns, ecn)?,
                fair: None,
            },
            Self::FqCoDel {
                target_ns,
                interval_ns,
                ecn,
                quantum_bytes,
                flows,
            } => {
                if quantum_bytes == 0 {
                    return Err(".quantum_bytes: must be above 0".to_owned());
                }
                if !(1..=65536).contains(&flows) {
                    return Err(format!(".flows: {flows} is not between 1 and 65536"));
                }
                core::Aqm {
                    rule: codel(target_ns, interval_ns, ecn)?,
                    fair: Some(core::Fair {
                        quantum: Bytes(quantum_bytes),
                        queues: flows,
                    }),
                }
            }
            Self::Pie {
                target_ns,
                update_ns,
                burst_ns,
                ecn,
            } => {
                check_update(update_ns)?;
                core::Aqm {
                    rule: core::Rule::Pie(core::Pie {
                        target: Nanos(target_ns),
                        update: Nanos(update_ns),
                        burst: Nanos(burst_ns),
                        ecn,
                    }),
                    fair: None,
                }
            }
            Self::DualPi2 {
                target_ns,
                update_ns,
                threshold_ns,
            } => {
                check_update(update_ns)?;
                core::Aqm {
                    rule: core::Rule::DualPi2(core::DualPi2 {
                        target: Nanos(target_ns),
                        update: Nanos(update_ns),
                        threshold: Nanos(threshold_ns),
                    }),
                    fair: None,
                }
            }
            Self::Step { threshold_ns } => core::Aqm {
                rule: core::Rule::Step {
                    threshold: Nanos(threshold_ns),
                },
                fair: None,
            },
        })
    }
}

fn check_update(update_ns: u64) -> Result<(), String> {
    if update_ns < LEAST_UPDATE_NS {
        return Err(format!(
            ".update_ns: {update_ns} is below {LEAST_UPDATE_NS} (1 ms)"
        ));
    }
    Ok(())
}

fn codel(target_ns: u64, interval_ns: u64, ecn: bool) -> Result<core::Rule, String> {
    if interval_ns == 0 {
        return Err(".interval_ns: must be above 0".to_owned());
    }
    Ok(core::Rule::CoDel(core::CoDel {
        target: Nanos(target_ns),
        interval: Nanos(interval_ns),
        ecn,
    }))
}
