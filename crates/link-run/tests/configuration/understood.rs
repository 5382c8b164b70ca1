// SPDX-License-Identifier: Apache-2.0
//! Configurations that are understood, and what is made of them.

use link_core::{
    Address, AddressKind, Aqm, BitRate, Block, Bucket, Bytes, Chance, CoDel, Fair, Loss, LossKey,
    Nanos, Oversize, Police, Protocol, RandomRate, Rule, Service, Slot, Timeline,
};
use link_run::config::Config;
use serde_json::{json, Value};

use crate::valid;

/// Members that are left out have their defaults: a direction that does nothing.
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

/// A period repeats what the schedule changes, and nothing else.
#[test]
fn a_schedule_may_repeat_itself() {
    let mut config = valid();
    config["up"]["schedule"] = json!([{"at_ns": 10, "set": {"delay_ns": 7}}]);
    config["up"]["repeat_ns"] = json!(15_000_000_000_u64);
    let up = Config::parse(&config.to_string())
        .expect("valid")
        .up
        .elements("up")
        .expect("valid");
    let delays = Timeline::constant(Nanos(5)).then(Nanos(10), Nanos(7));
    assert_eq!(up.delay, delays.repeated(Nanos(15_000_000_000)));
    let rates = Timeline::constant(Some(BitRate(1000)));
    assert_eq!(up.service, Service::Rate(rates));
}

/// Correlations are chances of the same fate, and marks stand in the place of losses where that is asked for.
#[test]
fn correlations_and_marks_are_understood() {
    let mut config = valid();
    config["up"]["loss"] = json!({"model": "bernoulli", "probability": 0.5, "correlation": 0.25});
    config["up"]["loss_as"] = json!("ecn_mark");
    config["up"]["corrupt_correlation"] = json!(0.75);
    let up = Config::parse(&config.to_string())
        .expect("valid")
        .up
        .elements("up")
        .expect("valid");
    let chance = |probability| Chance::new(probability).expect("a probability");
    let loss = Loss::Correlated {
        chance: chance(0.5),
        repeat: chance(0.25),
    };
    assert_eq!(up.loss, Timeline::constant(Some(loss)));
    assert!(up.loss_marks);
    assert_eq!(up.corrupt_repeat, chance(0.75));
    assert_eq!(up.duplicate_repeat, Chance::NEVER);
}

/// A slot has the same time between all openings unless it has two.
#[test]
fn slots_are_understood() {
    let mut config = valid();
    config["up"]["slot"] = json!({"least_ns": 500_000, "packets": 64});
    config["up"]["schedule"] = json!([
        {"at_ns": 10, "set": {"slot": {"least_ns": 100_000, "most_ns": 200_000, "bytes": 9000}}},
        {"at_ns": 20, "set": {"slot": null}},
    ]);
    let up = Config::parse(&config.to_string())
        .expect("valid")
        .up
        .elements("up")
        .expect("valid");
    let slot = |least, most, packets, bytes: Option<u64>| Slot {
        least: Nanos(least),
        most: Nanos(most),
        packets,
        bytes: bytes.map(Bytes),
    };
    let course = Timeline::constant(Some(slot(500_000, 500_000, Some(64), None)))
        .then(Nanos(10), Some(slot(100_000, 200_000, None, Some(9000))))
        .then(Nanos(20), None);
    assert_eq!(up.slot, course);
}

/// A burst makes the rate that of a token bucket, with a peak rate or without.
#[test]
fn a_burst_shapes_the_rate() {
    let mut config = valid();
    config["up"]["burst_bytes"] = json!(32_000);
    for peak in [None, Some(9_000)] {
        config["up"]["peak_rate_bit_per_s"] = json!(peak);
        let up = Config::parse(&config.to_string())
            .expect("valid")
            .up
            .elements("up")
            .expect("valid");
        let bucket = Bucket {
            burst: Bytes(32_000),
            peak: peak.map(BitRate),
        };
        let rates = Timeline::constant(Some(BitRate(1000)));
        assert_eq!(up.service, Service::Shaped(rates, bucket));
    }
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

/// Every path that it names can be replaced, those of further links too.
#[test]
fn each_path_is_shown() {
    let mut config = valid();
    config["log"] = json!({"packet_log": "a/log", "capture_server": "a/server"});
    let mut second =
        json!({"link": "second", "up": {}, "down": {}, "log": {"capture_client": "a/client"}});
    second["ends"] = config["ends"].clone();
    second["ends"]["server"]["near_netns"] = json!("near");
    config["more_links"] = json!([second]);
    let mut config = Config::parse(&config.to_string()).expect("valid");
    let mut shown = Vec::new();
    config.each_path(|path| {
        shown.push(path.display().to_string());
        *path = "other".into();
    });
    shown.retain(|path| !path.starts_with("/proc"));
    shown.sort();
    assert_eq!(shown, ["a/client", "a/log", "a/server", "near"]);
    assert_eq!(config.log.packet_log, Some("other".into()));
    assert_eq!(
        config.more_links[0].ends.client.netns,
        std::path::Path::new("other")
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

/// Packets above a size may be lost, from the start or by a change.
#[test]
fn a_size_above_which_packets_are_lost_is_understood() {
    let mut config = valid();
    config["up"]["oversize"] = json!({"above_bytes": 1300, "probability": 1, "after_ns": 7});
    config["down"]["schedule"] = json!([
        {"at_ns": 10, "set": {"oversize": {"above_bytes": 1280, "probability": 0.25}}},
        {"at_ns": 20, "set": {"oversize": null}},
    ]);
    let config = parsed(&config);
    let hole = |above, probability, from| Oversize {
        above: Bytes(above),
        chance: Chance::new(probability).expect("a probability"),
        from: Nanos(from),
        told: false,
    };
    let up = config.up.elements("up").expect("valid");
    assert_eq!(up.oversize, Timeline::constant(Some(hole(1300, 1.0, 7))));
    let down = config.down.elements("down").expect("valid");
    let course = Timeline::constant(None)
        .then(Nanos(10), Some(hole(1280, 0.25, 0)))
        .then(Nanos(20), None);
    assert_eq!(down.oversize, course);
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

/// Losses may be drawn as netem draws them.
#[test]
fn losses_may_be_drawn_by_the_super_packet() {
    let mut config = valid();
    config["up"]["loss_by"] = json!("super-packet");
    let up = parsed(&config).up.elements("up").expect("valid");
    assert_eq!(up.loss_by, LossKey::SuperPacket);
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
