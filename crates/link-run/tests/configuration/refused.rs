// SPDX-License-Identifier: Apache-2.0
//! Faults of a configuration, each named with its place.

use std::process::Command;

use link_run::config::Config;
use serde_json::{json, Value};

use crate::valid;

/// The first fault of a configuration with one place changed.
fn refusal(pointer: &str, value: Value) -> String {
    let mut config = valid();
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    config.pointer_mut(parent).expect("the parent is there")[field] = value;
    let parsed = Config::parse(&config.to_string()).and_then(|config| {
        config.up.elements("up")?;
        config.down.elements("down")
    });
    parsed.expect_err("this must be refused").to_string()
}

/// Keys that do not exist and numbers that count from 1 are refused by name.
#[test]
fn faults_of_keys_and_addresses_are_named() {
    assert_refused("/up/loss_by", json!("packet"), "unknown variant `packet`");
    assert_refused(
        "/up/drop",
        json!({"initials": [1]}),
        "unknown field `initials`",
    );
    assert_refused("/up/drop", json!({"syn": [-1]}), "invalid value");
    let says = "down.spare.byte: counts from 1";
    assert_refused("/down/spare", json!({"byte": [3, 0]}), says);
}

/// A size above which packets are lost needs a probability, which is no percentage.
#[test]
fn faults_of_a_lossy_size_are_named() {
    let missing = "missing field `probability`";
    assert_refused("/up/oversize", json!({"above_bytes": 1300}), missing);
    let value = json!({"above_bytes": 1300, "probability": 4});
    let says = "up.oversize.probability: 4 is not between 0 and 1";
    assert_refused("/up/oversize", value, says);
}

/// A token bucket needs a rate that is given, and room.
#[test]
fn faults_of_a_burst_are_named() {
    assert_refused(
        "/up/peak_rate_bit_per_s",
        json!(9),
        "up.peak_rate_bit_per_s: needs burst_bytes",
    );
    assert_refused(
        "/up/burst_bytes",
        json!(0),
        "up.burst_bytes: must be above 0",
    );
    let says = "down.burst_bytes: needs rate_bit_per_s";
    assert_refused("/down/burst_bytes", json!(3000), says);
}

/// A schedule that repeats itself has a period that holds it, and lets something pass.
#[test]
fn faults_of_a_period_are_named() {
    let refused = |period: u64, rate: u64, at: u64| {
        let mut config = valid();
        config["up"] = json!({"rate_bit_per_s": rate, "repeat_ns": period, "schedule": [{"at_ns": at, "set": {"delay_ns": 7}}]});
        let parsed = Config::parse(&config.to_string()).and_then(|config| config.up.elements("up"));
        parsed.expect_err("this must be refused").to_string()
    };
    assert!(refused(9, 1, 1).contains("up.repeat_ns: 9 is below 10000000"));
    assert!(refused(20_000_000, 1, 20_000_000).contains("a change at 20000000 ns is not before"));
    assert!(refused(20_000_000, 0, 1).contains("the rate is 0 for ever"));
}

/// Recordings that are not there, or are none, are refused with their place.
#[test]
fn faults_of_recordings_are_named() {
    let says = "up.delay_trace.path: /nowhere/delays: ";
    assert_refused("/up/delay_trace", json!("/nowhere/delays"), says);
    let loss = |path: &str| json!({"model": "trace", "path": path, "by": "time"});
    let says = "down.loss.path: /dev/zero: it is no regular file";
    assert_refused("/down/loss", loss("/dev/zero"), says);
    let says = "line 1: 'Linux version";
    assert_refused("/down/loss", loss("/proc/version"), says);
}

/// Slots open in order, not too often, and let something out.
#[test]
fn faults_of_slots_are_named() {
    let says = "up.slot.least_ns: 9 is below 100000 (100 us)";
    assert_refused("/up/slot", json!({"least_ns": 9}), says);
    let slot = json!({"least_ns": 200_000, "most_ns": 100_000});
    assert_refused("/up/slot", slot, "up.slot.most_ns: 100000 is below");
    let slot = json!({"least_ns": 200_000, "packets": 0});
    assert_refused("/up/slot", slot, "up.slot: a slot lets out at least one");
}

/// PIE does not calculate too often.
#[test]
fn faults_of_pie_are_named() {
    let pie = json!({"model": "pie", "target_ns": 5, "update_ns": 9, "burst_ns": 0, "ecn": true});
    assert_refused(
        "/up/aqm",
        pie,
        "up.aqm.update_ns: 9 is below 1000000 (1 ms)",
    );
}

/// A correlation is a fraction too.
#[test]
fn faults_of_correlations_are_named() {
    let says = "up.duplicate_correlation: 2 is not between 0 and 1";
    assert_refused("/up/duplicate_correlation", json!(2.0), says);
    let loss = json!({"model": "bernoulli", "probability": 0.5, "correlation": 2.0});
    let says = "up.loss.correlation: 2 is not between 0 and 1";
    assert_refused("/up/loss", loss, says);
}

/// A fault of a further link says which one it is.
#[test]
fn faults_of_further_links_are_named() {
    let end = |mtu: u32| json!({"netns": "/x", "device": "x", "mtu": mtu});
    let link = |name: &str, mtu: u32| json!([{"link": name, "ends": {"client": end(1500), "server": end(mtu)}, "up": {}, "down": {}}]);
    for (links, says) in [
        (
            link("bottleneck", 1500),
            "more_links[0].link: another link is named 'bottleneck' already",
        ),
        (
            link("core", 1),
            "more_links[0].ends.server.mtu: 1 is below 576",
        ),
        (
            json!([{"link": "core", "backend": "tun"}]),
            "unknown field `backend`",
        ),
    ] {
        let message = refusal("/more_links", links);
        assert!(message.contains(says), "{message}");
    }
}

/// Every kind of fault is one line that names the field.
#[test]
fn faults_are_named() {
    let bernoulli = |p: f64| json!({"model": "bernoulli", "probability": p});
    let jitter = |mode: &str| json!({"distribution": "normal", "scale_ns": 5_000_000, "mode": mode, "half_life_ns": 5});
    let fair = |quantum: u64, flows: u64| json!({"model": "fq_codel", "target_ns": 1, "interval_ns": 1, "ecn": true, "quantum_bytes": quantum, "flows": flows});
    let trace = json!({"format": "mahimahi", "path": "/nowhere/trace"});
    for (pointer, value, says) in [
        ("/version", json!(2), "version 2 is not supported"),
        ("/seed", json!("x"), "seed: 'x'"),
        ("/sed", json!(1), "unknown field `sed`"),
        ("/backend", json!("netem"), "unknown variant `netem`"),
        (
            "/ends/client/mtu",
            json!(100),
            "ends.client.mtu: 100 is below 576",
        ),
        (
            "/up/rate_bit_per_s",
            json!(-1),
            "invalid value: integer `-1`",
        ),
        (
            "/up/edge_rate_bit_per_s",
            json!(0),
            "up.edge_rate_bit_per_s: must be above 0",
        ),
        (
            "/down/loss",
            bernoulli(1.2),
            "down.loss.probability: 1.2 is not between 0 and 1",
        ),
        (
            "/down/loss",
            json!({"model": "bernouli"}),
            "unknown variant `bernouli`",
        ),
        (
            "/down/duplicate",
            json!({"probability": -0.5}),
            "down.duplicate.probability: -0.5",
        ),
        (
            "/up/jitter",
            jitter("reorder"),
            "up.jitter.half_life_ns: goes with mode inorder only",
        ),
        (
            "/up/jitter",
            jitter("inorder"),
            "up.jitter.half_life_ns: 5 is less than 4200000: jitter that varies faster",
        ),
        (
            "/up/block",
            json!({"protocol": "quic"}),
            "unknown variant `quic`",
        ),
        (
            "/up/police",
            json!({"protocol": "udp", "rate_bit_per_s": 1}),
            "missing field `burst_bytes`",
        ),
        ("/up/aqm", json!({"model": "red"}), "unknown variant `red`"),
        (
            "/up/aqm",
            json!({"model": "codel", "target_ns": 5, "interval_ns": 0, "ecn": false}),
            "up.aqm.interval_ns: must be above 0",
        ),
        (
            "/up/aqm",
            fair(0, 1),
            "up.aqm.quantum_bytes: must be above 0",
        ),
        (
            "/up/aqm",
            fair(1514, 0),
            "up.aqm.flows: 0 is not between 1 and 65536",
        ),
        (
            "/up",
            json!({"aqm": {"model": "step", "threshold_ns": 1}, "queue": {"time_ns": 5}}),
            "up.aqm: a managed queue has no bound in time",
        ),
        (
            "/up/trace",
            trace.clone(),
            "up.trace: takes the place of rate_bit_per_s",
        ),
        ("/down/trace", trace, "down.trace.path: /nowhere/trace: "),
        (
            "/up/schedule",
            json!([{"at_ns": 1, "set": {"loss": bernoulli(2.0)}}]),
            "up.schedule[0].set.loss.probability: 2",
        ),
        (
            "/up/schedule",
            json!([{"at_ns": 2, "set": {}}, {"at_ns": 1, "set": {}}]),
            "at_ns must not decrease",
        ),
    ] {
        assert_refused(pointer, value, says);
    }
}

/// Every fault of a rate that is drawn by chance, and of a change of management, is refused and named.
#[test]
fn faults_of_random_rates_and_changed_management_are_named() {
    for (pointer, value, says) in [
        (
            "/up/random_rate",
            json!({"least_bit_per_s": 1, "most_bit_per_s": 2, "every_ns": 1_000_000}),
            "up.random_rate: takes the place of rate_bit_per_s and trace",
        ),
        (
            "/down/random_rate",
            json!({"least_bit_per_s": 3, "most_bit_per_s": 2, "every_ns": 1_000_000}),
            "down.random_rate.most_bit_per_s: 2 is below the least rate, 3",
        ),
        (
            "/down/random_rate",
            json!({"least_bit_per_s": 0, "most_bit_per_s": 2, "every_ns": 1_000_000}),
            "down.random_rate.least_bit_per_s: must be above 0",
        ),
        (
            "/down/random_rate",
            json!({"least_bit_per_s": 1, "most_bit_per_s": 2, "every_ns": 999_999}),
            "down.random_rate.every_ns: 999999 is below 1000000",
        ),
        (
            "/up",
            json!({
                "aqm": {"model": "step", "threshold_ns": 1},
                "schedule": [{"at_ns": 1, "set": {"aqm": {
                    "model": "fq_codel", "target_ns": 5, "interval_ns": 1, "ecn": true,
                    "quantum_bytes": 1, "flows": 1,
                }}}],
            }),
            "up.aqm: a schedule cannot bring or remove the queues by flow",
        ),
    ] {
        assert_refused(pointer, value, says);
    }
}

#[track_caller]
fn assert_refused(pointer: &str, value: Value, says: &str) {
    let message = refusal(pointer, value);
    assert!(
        message.starts_with("configuration: ") && message.contains(says),
        "{pointer}: {message}"
    );
    assert!(!message.contains('\n'));
}

/// The program says what is wrong as one line of JSON, with a hint, and fails.
#[test]
fn the_program_tells_faults_as_an_event() {
    for arguments in [vec![], vec!["/nowhere/link.json"], vec!["a", "b"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_quiclab-link"))
            .args(&arguments)
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8(output.stdout).expect("text");
        let event: Value = serde_json::from_str(text.trim_end()).expect("one line of JSON");
        assert_eq!(event["event"], "error");
        assert!(event["message"]
            .as_str()
            .is_some_and(|message| message.starts_with("configuration: ")));
        assert!(event["hint"].is_string());
    }
}
