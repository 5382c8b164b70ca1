// SPDX-License-Identifier: Apache-2.0
//! One trace event, as it is written.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow, default, rename = "cat")]
    pub category: Cow<'a, str>,
    #[serde(borrow, rename = "ph")]
    pub phase: Cow<'a, str>,
    #[serde(default, rename = "ts")]
    microseconds: Option<f64>,
    #[serde(default, rename = "dur")]
    duration: Option<f64>,
    #[serde(default, rename = "pid")]
    pub process: Option<u64>,
    #[serde(default, rename = "tid")]
    pub thread: Option<u64>,
    #[serde(borrow, default)]
    pub args: Option<&'a RawValue>,
}

impl Event<'_> {
    pub(super) fn time_ns(&self) -> Option<i64> {
        self.microseconds.and_then(|time| to_ns(time, 1e3))
    }

    pub(super) fn duration_ns(&self) -> Option<i64> {
        self.duration.and_then(|time| to_ns(time, 1e3))
    }
}

/// Whole units are exact, however many they are; `None` if there are too many.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and then the product does not exist; the factor is small"
)]
pub(super) fn to_ns(time: f64, ns_per_unit: f64) -> Option<i64> {
    let whole = (time.trunc() as i64).checked_mul(ns_per_unit as i64)?;
    whole.checked_add((time.fract() * ns_per_unit).round() as i64)
}
