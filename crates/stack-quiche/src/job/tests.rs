// SPDX-License-Identifier: Apache-2.0
//! Contents that a job file may have.

use super::*;
use serde_json::{json, Value};
use stack_common::job::{parse, Migration};

fn client(changes: &Value) -> Result<ClientJob, String> {
    let mut job = json!({
        "url": "https://quiclab.test:8443/object?x=1", "address": "10.0.0.2", "port": 8443,
        "host": "quiclab.test", "protocol": "h3", "ca": "/ca", "verify": true, "qlog_dir": null, "keylog": null,
        "output": "/out", "session": "fresh", "session_file": null, "priming": false, "migration": null,
        "migrate_at_bytes": null, "congestion_control": null, "ack_delay_ns": null, "tls_version": null,
    });
    let target = job.as_object_mut().expect("an object");
    for (name, value) in changes.as_object().expect("an object") {
        target.insert(name.clone(), value.clone());
    }
    parse(&job.to_string())
}

fn refusal(changes: &Value) -> String {
    client(changes).expect_err("must be refused")
}

/// Null stands for every knob of any program, known here or not.
#[test]
fn null_is_the_librarys_own() {
    let job = client(&json!({})).expect("a job");
    assert_eq!(job.knobs.congestion_control, None);
    assert_eq!(job.paths(), Ok(vec![("quiclab.test:8443", "/object?x=1")]));
    assert_eq!(job.transfer.server().to_string(), "10.0.0.2:8443");
}

/// Every knob that quiche has arrives with its value.
#[test]
fn knobs_are_read() {
    let job = client(&json!({
        "congestion_control": "bbr2", "initial_window": 32, "pacing": false, "stream_window_bytes": 65536,
        "groups": ["secp256r1", "x25519mlkem768"], "initial_rtt_ns": 1_000_000, "max_payload_bytes": 1350,
        "session": "early_data", "session_file": "/s", "migration": "active", "migrate_at_bytes": 7,
    }))
    .expect("a job");
    assert_eq!(job.knobs.congestion_control, Some(CongestionControl::Bbr2));
    assert_eq!(job.knobs.initial_window, Some(32));
    assert_eq!(job.knobs.groups.as_ref().map(Vec::len), Some(2));
    assert_eq!(
        (job.session, job.transfer.migration),
        (Session::EarlyData, Some(Migration::Active))
    );
}

/// A knob of another program, with a value, is refused by name.
#[test]
fn unknown_knob_is_refused() {
    assert!(
        refusal(&json!({"packet_threshold": 5})).contains("has no packet_threshold (asked for: 5)")
    );
    assert!(refusal(&json!({"gso": true})).contains("client has no gso"));
}

/// An unknown value is refused with those that exist.
#[test]
fn unknown_value_is_refused() {
    let reason = refusal(&json!({"congestion_control": "vegas"}));
    assert!(reason.contains("`reno`, `cubic`, `bbr2`"), "{reason}");
    assert!(refusal(&json!({"groups": ["x448"]})).contains("x448"));
    assert!(refusal(&json!({"protocol": "h2"})).contains("h3 only"));
    assert!(refusal(&json!({"max_payload_bytes": 1199})).contains("1200"));
    assert!(refusal(&json!({"url": "http://quiclab.test/"})).contains("not an https URL"));
}

/// A setting that the library would silently ignore is refused.
#[test]
fn knobs_without_effect_are_refused() {
    assert!(refusal(&json!({"pacing": true, "congestion_control": "cubic"})).contains("bbr2 only"));
    assert!(
        refusal(&json!({"hystart": false, "congestion_control": "bbr2"})).contains("no hystart")
    );
    assert!(refusal(&json!({"session": "resumed"})).contains("session_file"));
}

/// A server's job may name no other protocol.
#[test]
fn a_server_speaks_h3_only() {
    let job = |protocols: &[&str]| {
        let text = json!({
            "listen": "[fd00::1]:443", "protocols": protocols, "root": "/r", "certificate": "/c", "key": "/k",
            "qlog_dir": null, "keylog": null, "early_data": false, "scheduler": "round_robin", "gso": true,
        });
        parse::<ServerJob>(&text.to_string())
    };
    assert_eq!(
        job(&["h3"]).expect("a job").scheduler,
        Some(Scheduler::RoundRobin)
    );
    assert!(job(&["h2", "h3"])
        .expect_err("must be refused")
        .contains("h3 only"));
    assert!(job(&[]).is_err());
}

/// A client whose address somebody else changes must know what to do then.
#[test]
fn a_change_of_address_needs_a_migration() {
    let change = json!({"after_bytes": 7, "notice": "timeout", "timeout_ns": 9, "reached": "/r"});
    let job = client(&json!({"address_change": change, "migration": "rebinding"})).expect("a job");
    let told = job.address_change.expect("a change");
    assert_eq!((told.after_bytes, told.timeout_ns), (Some(7), Some(9)));
    assert!(refusal(&json!({"address_change": change})).contains("needs a migration"));
    assert!(
        refusal(&json!({"address_change": {"notice": "guessed", "reached": "/r"}}))
            .contains("guessed")
    );
}

/// The golden files of all readers and writers of this format (`tests/unit/lab/endpoints/test_job.py`).
#[test]
fn golden_jobs_are_read() {
    let job: ClientJob =
        parse(include_str!("../../../../tests/golden/job-client.json")).expect("a job");
    assert_eq!(
        job.paths().expect("paths"),
        [
            ("server.test", "/1MB"),
            ("server.test", "/2MB"),
            ("server.test", "/3MB")
        ]
    );
    assert_eq!(
        (job.transfer.concurrency, job.session),
        (Some(2), Session::Fresh)
    );
    assert_eq!(job.knobs.congestion_control, Some(CongestionControl::Reno));
    assert_eq!(job.knobs.connection_window_bytes, Some(1_500_000));
    assert_eq!(job.knobs.stream_window_bytes, Some(1_000_000));
    assert_eq!(job.knobs.groups.as_ref().map(Vec::len), Some(2));
    assert_eq!(job.knobs.max_payload_bytes, Some(1350));
    let job: ServerJob =
        parse(include_str!("../../../../tests/golden/job-server.json")).expect("a job");
    assert_eq!(job.service.listen.to_string(), "10.77.0.2:443");
    assert_eq!(
        (job.max_streams, job.scheduler),
        (Some(100), Some(Scheduler::RoundRobin))
    );
}
