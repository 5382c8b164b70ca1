// SPDX-License-Identifier: Apache-2.0
//! Retransmissions that were needless, as DSACK (RFC 2883) and timestamps (RFC 3522) show them.

use super::*;

/// A segment that the receiver says to have got twice was sent again for nothing.
#[test]
fn a_dsack_shows_a_spurious_retransmission() {
    let mut scene = Scene::new(Some(End::Server));
    scene.data(21, 1);
    scene.data(21, 1001);
    scene.data(250, 1);
    scene.ack(251, 2001, &[]);
    scene.ack(270, 2001, &[(1, 1001)]);
    let finished = scene.finish();
    assert_eq!(losses(&finished), ["1|timeout|true|21000000"]);
    let acks = finished
        .table("acks")
        .unwrap()
        .lines(&["kind", "first", "last"]);
    assert_eq!(acks.last().unwrap(), "dsack|1|1000");
}

/// An acknowledgment that echoes a timestamp older than the retransmission's is one of the original (RFC 3522).
#[test]
fn an_old_echo_shows_a_spurious_retransmission() {
    let mut scene = Scene::new(Some(End::Server));
    let stamps = |own: u8, echo: u8| [1, 1, 8, 10, 0, 0, 0, own, 0, 0, 0, echo];
    scene.put(21, false, 1, Some(1), 0, 1000, &stamps(21, 9));
    scene.put(250, false, 1, Some(1), 0, 1000, &stamps(250, 9));
    scene.put(251, true, 1, Some(1001), 0, 0, &stamps(99, 21));
    assert_eq!(losses(&scene.finish()), ["1|tail_loss_probe|true|21000000"]);
}

/// A lost segment is sent three times more: two of these are reported as second copies, so the first of them was needed.
#[test]
fn the_copy_that_filled_a_gap_is_not_spurious() {
    let mut scene = Scene::new(Some(End::Server));
    let stamps = |own: u16, echo: u16| {
        let ([a, b], [c, d]) = (own.to_be_bytes(), echo.to_be_bytes());
        vec![1, 1, 8, 10, 0, 0, a, b, 0, 0, c, d]
    };
    for at in [21, 250, 300, 350] {
        scene.put(i64::from(at), false, 1, Some(1), 0, 1000, &stamps(at, 9));
    }
    scene.put(360, true, 1, Some(1001), 0, 0, &stamps(360, 250));
    for at in [400, 450] {
        let mut options = stamps(at, 250);
        options.extend([1, 1, 5, 10]);
        options.extend((SERVER_INITIAL.wrapping_add(1)).to_be_bytes());
        options.extend((SERVER_INITIAL.wrapping_add(1001)).to_be_bytes());
        scene.put(i64::from(at), true, 1, Some(1001), 0, 0, &options);
    }
    let finished = scene.finish();
    let spurious = finished.table("losses").unwrap().lines(&["spurious"]);
    assert_eq!(spurious, ["false", "true", "true"]);
}

/// Two segments that came together a second time have one report.
#[test]
fn a_report_of_several_segments_is_of_each() {
    let mut scene = Scene::new(Some(End::Server));
    for at in [21, 250] {
        scene.data(at, 1);
        scene.data(at, 1001);
    }
    scene.ack(251, 2001, &[]);
    scene.ack(270, 2001, &[(1, 2001)]);
    let finished = scene.finish();
    let spurious = finished.table("losses").unwrap().lines(&["spurious"]);
    assert_eq!(spurious, ["true", "true"]);
}
