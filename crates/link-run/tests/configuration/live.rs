// SPDX-License-Identifier: Apache-2.0
//! Changes of a running link, as lines of its standard input.

use link_core::Nanos;
use link_run::config::{Config, LiveChange};
use serde_json::json;

use crate::valid;

fn config() -> Config {
    let mut config = valid();
    config["up"]["schedule"] = json!([{"at_ns": 100, "set": {"delay_ns": 9}}]);
    let mut more = valid();
    more["link"] = "far".into();
    for key in ["version", "seed", "backend"] {
        more.as_object_mut().expect("a table").remove(key);
    }
    config["more_links"] = json!([more]);
    Config::parse(&config.to_string()).expect("valid")
}

fn read(change: &serde_json::Value) -> LiveChange {
    LiveChange::read(json!({ "change": change }).to_string().as_bytes()).expect("valid")
}

/// A change takes its place in the schedule, in one direction of the link that it names.
#[test]
fn a_change_is_one_of_the_schedule() {
    let mut config = config();
    let change = read(&json!({"up": {"delay_ns": 7}}));
    assert_eq!(change.number(&config), Ok(0));
    let [up, down] = change.replaced(&config, 0, Nanos(50)).expect("valid");
    assert!(down.is_none());
    let up = up.expect("changed");
    let mut delays = up.after.delay.clone();
    assert_eq!(
        [0, 50, 99, 100].map(|at| delays.at(Nanos(at)).0),
        [5, 7, 7, 9]
    );
    let mut before = up.before.delay.clone();
    assert_eq!(before.at(Nanos(50)).0, 5);
    config.replace(0, 0, up.written);
    let of_far = read(&json!({"link": "far", "down": {"rate_bit_per_s": 9}}));
    assert_eq!(of_far.number(&config), Ok(1));
    let [up, down] = of_far.replaced(&config, 1, Nanos(0)).expect("valid");
    assert!(up.is_none() && down.is_some());
    assert!(read(&json!({})).is_empty());
}

/// Each is told in a sentence: what is no change, another link, a value out of its range, a rate beside a trace.
#[test]
fn what_cannot_be_is_refused() {
    let config = config();
    for line in [
        "{}",
        "{\"change\": {\"sideways\": {}}}",
        "{\"change\": {\"up\": {\"rate\": 1}}}",
    ] {
        assert!(LiveChange::read(line.as_bytes()).is_err(), "{line}");
    }
    let other = read(&json!({"link": "near", "up": {}}));
    assert_eq!(
        other.number(&config),
        Err("there is no link near, only bottleneck, far".to_owned())
    );
    let never = read(&json!({"up": {"loss": {"model": "bernoulli", "probability": 2}}}));
    let told = never.replaced(&config, 0, Nanos(0)).expect_err("refused");
    assert!(
        told.contains("up.schedule[0].set.loss.probability: 2"),
        "{told}"
    );
}

/// A course that begins anew in each period has no place for a change that lasts until the next one.
#[test]
fn a_schedule_that_repeats_itself_is_not_changed() {
    let mut config = valid();
    config["up"]["schedule"] = json!([{"at_ns": 100, "set": {"delay_ns": 9}}]);
    config["up"]["repeat_ns"] = 20_000_000.into();
    let config = Config::parse(&config.to_string()).expect("valid");
    let change =
        |side: &str| read(&json!({ side: {"delay_ns": 7} })).replaced(&config, 0, Nanos(50));
    assert!(change("up")
        .expect_err("refused")
        .contains("repeats itself"));
    assert!(change("down").is_ok());
}
