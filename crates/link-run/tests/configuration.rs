// SPDX-License-Identifier: Apache-2.0
//! A configuration is understood, or refused with one line that says what is wrong where.

use std::process::Command;

use link_core::{
    Address, AddressKind, Aqm, BitRate, Block, Bytes, CoDel, Fair, LossKey, Nanos, Police,
    Protocol, RandomRate, Rule, Service, Timeline,
};
use link_run::config::Config;
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

/// Whatever is left out has its default: a direction that does nothing.
#[test]
fn a_short_configuration_is_enough() {
    let config = Config::parse(&valid().to_string()).expect("valid");
    assert_eq!(config.seed().expect("a number"), u64::MAX);
    assert_eq!(config.log.buffer_bytes, 268_435_456);
    assert_eq!(config.void.lateness_p99_ns, 100_000);
    assert_eq!(
        config.down.elements("down").expect("valid"),
        link_core::DirectionConfig::default()
    );
    let up = config.up.elements("up").expect("valid");
    assert_eq!(
        up.service,
        Service::Rate(Timeline::constant(Some(BitRate(1000))))
    );
    assert_eq!(up.delay, Timeline::constant(Nanos(5)));
}

/// A change switches off with null, and leaves alone by absence.
#[test]
fn a_schedule_tells_null_from_absent() {
    let mut config = valid();
    config["up"]["schedule"] = json!([
        {"at_ns": 10, "set": {"rate_bit_per_s": null}},
        {"at_ns": 20, "set": {"delay_ns": 7}},
        {"at_ns": 30, "set": {"rate_bit_per_s": 9}},
    ]);
    let up = Config::parse(&config.to_string())
        .expect("valid")
        .up
        .elements("up")
        .expect("valid");
    let rates = Timeline::constant(Some(BitRate(1000)))
        .then(Nanos(10), None)
        .then(Nanos(30), Some(BitRate(9)));
    assert_eq!(up.service, Service::Rate(rates));
    assert_eq!(
        up.delay,
        Timeline::constant(Nanos(5)).then(Nanos(20), Nanos(7))
    );
}

/// Several links stand in a row, each with its own ends, model and files; one stays as short as it was.
#[test]
fn several_links_are_understood() {
    let mut config = valid();
    assert_eq!(parsed(&config).links().len(), 1);
    config["more_links"] = json!([{
        "link": "core", "ends": config["ends"], "up": {"delay_ns": 7}, "down": {},
        "log": {"packet_log": "/x/link-2.qplog"}, "void": {"lateness_p99_ns": 9},
    }]);
    let links = parsed(&config).links();
    let names: Vec<_> = links.iter().map(|link| link.link.as_str()).collect();
    assert_eq!(names, ["bottleneck", "core"]);
    let delays: Vec<_> = links.iter().map(|link| link.up.delay().0).collect();
    assert_eq!(delays, [5, 7]);
    assert!(links[0].log.packet_log.is_none() && links[1].log.packet_log.is_some());
    let bounds: Vec<_> = links.iter().map(|link| link.void.lateness_p99_ns).collect();
    assert_eq!(bounds, [100_000, 9]);
}

fn parsed(config: &Value) -> Config {
    Config::parse(&config.to_string()).expect("valid")
}

/// A transport may be blocked or policed, from the start or later.
#[test]
fn blocking_and_policing_are_understood() {
    let mut config = valid();
    config["up"]["block"] = json!({"protocol": "udp"});
    config["up"]["police"] =
        json!({"protocol": "tcp", "rate_bit_per_s": 5, "burst_bytes": 6, "after_ns": 7});
    let config = Config::parse(&config.to_string()).expect("valid");
    let up = config.up.elements("up").expect("valid");
    let block = Block {
        protocol: Protocol::Udp,
        from: Nanos::ZERO,
    };
    let police = Police {
        protocol: Protocol::Tcp,
        rate: BitRate(5),
        burst: Bytes(6),
        from: Nanos(7),
    };
    assert_eq!(up.block, Timeline::constant(Some(block)));
    assert_eq!(up.police, Timeline::constant(Some(police)));
}

/// A change may block, police or manage, and may end it.
#[test]
fn a_schedule_may_block_police_and_manage() {
    let mut config = valid();
    let step = json!({"model": "step", "threshold_ns": 5});
    config["up"]["schedule"] = json!([
        {"at_ns": 10, "set": {"block": {"protocol": "tcp"}, "aqm": step}},
        {"at_ns": 20, "set": {"block": null, "aqm": null}},
    ]);
    let config = Config::parse(&config.to_string()).expect("valid");
    let up = config.up.elements("up").expect("valid");
    let block = Block {
        protocol: Protocol::Tcp,
        from: Nanos::ZERO,
    };
    let blocked = Timeline::constant(None)
        .then(Nanos(10), Some(block))
        .then(Nanos(20), None);
    assert_eq!(up.block, blocked);
    let rule = Rule::Step {
        threshold: Nanos(5),
    };
    let managed = Timeline::constant(None)
        .then(Nanos(10), Some(Aqm { rule, fair: None }))
        .then(Nanos(20), None);
    assert_eq!(up.aqm, managed);
}

/// Losses may be drawn by another key, and packets addressed by what they are.
#[test]
fn keys_and_addresses_are_understood() {
    let mut config = valid();
    config["up"]["loss_by"] = json!("class");
    config["up"]["drop"] = json!({"initial": [2], "byte": [5000, 1], "packet": [0]});
    config["up"]["spare"] = json!({"syn": [1], "segment": [3], "handshake": [1], "large": [7]});
    let up = parsed(&config).up.elements("up").expect("valid");
    assert_eq!(up.loss_by, LossKey::Class);
    let address = |kind, number| Address { kind, number };
    assert_eq!(
        up.drop,
        [
            address(AddressKind::Packet, 0),
            address(AddressKind::Byte, 5000),
            address(AddressKind::Byte, 1),
            address(AddressKind::Initial, 2),
        ]
    );
    assert_eq!(
        up.spare,
        [
            address(AddressKind::Large, 7),
            address(AddressKind::Handshake, 1),
            address(AddressKind::Syn, 1),
            address(AddressKind::Segment, 3),
        ]
    );
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

/// A rate may be drawn by chance, in the place of one that is given.
#[test]
fn a_random_rate_is_understood() {
    let mut config = valid();
    config["up"] = json!({
        "random_rate": {"least_bit_per_s": 5, "most_bit_per_s": 9, "every_ns": 1_000_000}
    });
    let config = Config::parse(&config.to_string()).expect("valid");
    let range = RandomRate {
        least: BitRate(5),
        most: BitRate(9),
        every: Nanos(1_000_000),
    };
    let up = config.up.elements("up").expect("valid");
    assert_eq!(up.service, Service::Random(range));
    assert!(!config.up.is_unlimited());
}

/// A managed queue is one of three models.
#[test]
fn managed_queues_are_understood() {
    let aqm = |aqm: Value| {
        let mut config = valid();
        config["up"]["aqm"] = aqm;
        let config = Config::parse(&config.to_string()).expect("valid");
        let up = config.up.elements("up").expect("valid");
        let given = up.aqm.values().next().copied().flatten();
        given.expect("given")
    };
    let rule = Rule::CoDel(CoDel {
        target: Nanos(5),
        interval: Nanos(100),
        ecn: true,
    });
    let fair = Fair {
        quantum: Bytes(1514),
        queues: 1024,
    };
    let written = json!({"model": "codel", "target_ns": 5, "interval_ns": 100, "ecn": true});
    assert_eq!(aqm(written), Aqm { rule, fair: None });
    let written = json!({
        "model": "fq_codel", "target_ns": 5, "interval_ns": 100, "ecn": true,
        "quantum_bytes": 1514, "flows": 1024,
    });
    let fair = Some(fair);
    assert_eq!(aqm(written), Aqm { rule, fair });
    let rule = Rule::Step {
        threshold: Nanos(7),
    };
    let written = json!({"model": "step", "threshold_ns": 7});
    assert_eq!(aqm(written), Aqm { rule, fair: None });
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
