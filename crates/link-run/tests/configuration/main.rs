// SPDX-License-Identifier: Apache-2.0
//! A configuration is understood, or refused with one line that says what is wrong where.

mod live;
mod refused;
mod understood;

use serde_json::{json, Value};

fn valid() -> Value {
    let end = json!({"netns": "/proc/self/ns/net", "device": "ql0", "mtu": 1500});
    json!({
        "version": 1, "seed": "18446744073709551615", "link": "bottleneck", "backend": "tun",
        "ends": {"client": end, "server": end},
        "up": {"rate_bit_per_s": 1000, "delay_ns": 5},
        "down": {},
    })
}
