// SPDX-License-Identifier: Apache-2.0
//! The phases of an entry, as instants.

use super::after;
use serde_json::Value;

/// Instants at which each phase of an entry began and ended.
#[derive(Default)]
pub(super) struct Phases {
    pub name: Option<(i64, i64)>,
    pub connect: Option<(i64, i64)>,
    pub secure_start: Option<i64>,
    pub send: Option<(i64, i64)>,
    pub headers: Option<i64>,
    pub last: Option<i64>,
}

impl Phases {
    pub(super) fn new(start: i64, entry: &Value) -> Self {
        let timings = &entry["timings"];
        let mut at = Some(start);
        let mut next = |name: &str| {
            let begin = at?;
            let ms = timings[name].as_f64().filter(|&ms| ms >= 0.0)?;
            at = after(begin, ms);
            Some((begin, at?))
        };
        next("blocked");
        let (name, mut connect) = (next("dns"), next("connect"));
        let tls = timings["ssl"].as_f64().filter(|&ms| ms >= 0.0);
        let secure_start = if secures_apart(entry) {
            let secured = next("ssl");
            // A connection can be used once it is secure.
            connect = match (connect, secured) {
                (Some((begin, _)), Some((_, end))) => Some((begin, end)),
                (connect, secured) => connect.or(secured),
            };
            secured.map(|(begin, _)| begin)
        } else {
            connect.and_then(|(begin, end)| Some(after(end, -tls?)?.max(begin)))
        };
        let (send, wait, receive) = (next("send"), next("wait"), next("receive"));
        Self {
            name,
            connect,
            secure_start,
            send,
            headers: wait.map(|(_, end)| end),
            last: receive.map(|(_, end)| end),
        }
    }
}

/// True if the time for TLS follows that to connect, as Firefox writes it; by HAR 1.2 it is part of
/// it. An entry's `time` is the sum of its phases, so it says which of the two was meant.
fn secures_apart(entry: &Value) -> bool {
    let phase = |name: &str| {
        let ms = entry["timings"][name].as_f64();
        ms.filter(|&ms| ms >= 0.0).unwrap_or(0.0)
    };
    let (connect, tls) = (phase("connect"), phase("ssl"));
    let rest: f64 = ["blocked", "dns", "send", "wait", "receive"]
        .map(phase)
        .iter()
        .sum();
    let beyond = entry["time"]
        .as_f64()
        .map(|time| time - rest - connect)
        .filter(|ms| ms.is_finite());
    // What is longer than the whole is no part of it: rounding takes up to a millisecond.
    tls > connect + 1.0 || beyond.is_some_and(|ms| ms > tls / 2.0 && tls > 0.0)
}
