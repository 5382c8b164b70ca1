// SPDX-License-Identifier: Apache-2.0
//! The phases of an entry, as instants.

use super::after;
use serde_json::Value;

/// When each phase of an entry began and ended.
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
    pub(super) fn new(start: i64, timings: &Value) -> Self {
        let mut at = Some(start);
        let mut next = |name: &str| {
            let begin = at?;
            let ms = timings[name].as_f64().filter(|&ms| ms >= 0.0)?;
            at = after(begin, ms);
            Some((begin, at?))
        };
        next("blocked");
        let (name, connect) = (next("dns"), next("connect"));
        let (send, wait, receive) = (next("send"), next("wait"), next("receive"));
        // The time for TLS is part of that to connect.
        let tls = timings["ssl"].as_f64().filter(|&ms| ms >= 0.0);
        let secure_start = connect.and_then(|(begin, end)| Some(after(end, -tls?)?.max(begin)));
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
