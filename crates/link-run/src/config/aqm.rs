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
    Step {
        threshold_ns: u64,
    },
}

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
            Self::Step { threshold_ns } => core::Aqm {
                rule: core::Rule::Step {
                    threshold: Nanos(threshold_ns),
                },
                fair: None,
            },
        })
    }
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
