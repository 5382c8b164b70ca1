// SPDX-License-Identifier: Apache-2.0
//! Events of a qlog that say why a connection does not send: `*_data_blocked_updated`.

use serde_json::{json, Value};

/// Name of the event of a connection.
pub const OF_CONNECTION: &str = "quic:connection_data_blocked_updated";
/// Name of the event of a stream.
pub const OF_STREAM: &str = "quic:stream_data_blocked_updated";

/// Members of such an event: the state before and after, the reason, and whether it was concluded from other facts.
#[must_use]
pub fn change(blocked: bool, reason: &str, inferred: bool) -> Value {
    json!({"old": state(!blocked), "new": state(blocked), "reason": reason, "inferred": inferred})
}

fn state(blocked: bool) -> &'static str {
    if blocked {
        "blocked"
    } else {
        "unblocked"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The state before is the other one.
    #[test]
    fn a_change_has_two_states() {
        let data =
            json!({"old": "unblocked", "new": "blocked", "reason": "pacing", "inferred": true});
        assert_eq!(change(true, "pacing", true), data);
    }
}
