// SPDX-License-Identifier: Apache-2.0
//! The captures hold the packets at both ends of the link, in order of time, as pcapng.

mod log_files;

use std::fs;

use link_run::config;
use link_run::log::pcapng::{Packet, Way};
use link_run::log::{self, WHOLE_PACKETS};
use log_files::{create, finish, u32_at, Scratch, REALTIME_MINUS_MONOTONIC_NS};

/// The blocks of a file: type and body without the lengths.
fn blocks(bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let mut rest = bytes;
    let mut blocks = Vec::new();
    while !rest.is_empty() {
        let length = u32_at(rest, 4) as usize;
        assert_eq!(length % 4, 0);
        assert_eq!(
            u32_at(rest, length - 4) as usize,
            length,
            "both lengths agree"
        );
        blocks.push((u32_at(rest, 0), &rest[8..length - 4]));
        rest = &rest[length..];
    }
    blocks
}

/// Options as code and value.
fn options(mut bytes: &[u8]) -> Vec<(u16, &[u8])> {
    let mut options = Vec::new();
    loop {
        let (code, length) = (u32_at(bytes, 0) & 0xffff, (u32_at(bytes, 0) >> 16) as usize);
        if code == 0 {
            assert_eq!(bytes.len(), 4, "nothing after the end of options");
            return options;
        }
        options.push((u16::try_from(code).expect("16 bits"), &bytes[4..4 + length]));
        bytes = &bytes[4 + length.next_multiple_of(4)..];
    }
}

/// Captures that keep the first bytes only still say how long each packet was.
#[test]
fn a_capture_may_keep_the_first_bytes_only() {
    let scratch = Scratch::new("snaplen");
    let mut config = scratch.config(1 << 20);
    config.snaplen_bytes = Some(50);
    let (mut logs, writing) = create(&config);
    let data: Vec<u8> = (0..=200).collect();
    let whole = usize::try_from(WHOLE_PACKETS).expect("a few");
    let short = [&data[..], &data[..20]];
    for data in std::iter::repeat_n(&data[..], whole).chain(short) {
        let packet = Packet {
            time_ns: 5,
            way: Way::Inbound,
            id: None,
            comment: None,
            data,
        };
        logs[1].capture(&packet);
    }
    finish(logs, writing, 0).expect("written");
    let bytes = fs::read(scratch.0.join("client.pcapng")).expect("a file");
    let blocks = blocks(&bytes);
    let lengths = |number: usize| (u32_at(blocks[number].1, 12), u32_at(blocks[number].1, 16));
    assert_eq!(lengths(whole + 1), (201, 201));
    assert_eq!(lengths(whole + 2), (50, 201));
    assert_eq!(&blocks[whole + 2].1[20..70], &data[..50]);
    assert_eq!(lengths(whole + 3), (20, 20));
}

/// Section, interface and packets are well-formed blocks with every field in its place.
#[test]
fn a_capture_is_well_formed() {
    let scratch = Scratch::new("pcapng");
    let (mut logs, writing) = create(&scratch.config(1 << 20));
    let data: Vec<u8> = (0..=200).collect();
    let lost = Some("dropped: queue full");
    logs[0].capture(&Packet {
        time_ns: 0x0102_0304_0506_0708,
        way: Way::Outbound,
        id: Some(7),
        comment: lost,
        data: &data,
    });
    let arrived = Packet {
        time_ns: 0x0102_0304_0506_0709,
        way: Way::Inbound,
        id: None,
        comment: None,
        data: &data[..4],
    };
    logs[1].capture(&arrived);
    // At the other end, which is not captured.
    logs[0].capture(&arrived);
    finish(logs, writing, 0).expect("written");
    let bytes = fs::read(scratch.0.join("client.pcapng")).expect("a file");
    let blocks = blocks(&bytes);
    assert_eq!(
        blocks.iter().map(|block| block.0).collect::<Vec<_>>(),
        [0x0a0d_0d0a, 1, 6, 6]
    );
    assert_eq!(u32_at(blocks[0].1, 0), 0x1a2b_3c4d);
    assert_eq!(u32_at(blocks[1].1, 0), 101);
    let comment = format!("quiclab realtime_minus_monotonic_ns={REALTIME_MINUS_MONOTONIC_NS}");
    assert_eq!(
        options(&blocks[1].1[8..]),
        [(2, &b"client"[..]), (1, comment.as_bytes()), (9, &[9][..])]
    );
    let body = blocks[2].1;
    let words: Vec<u32> = (0..5).map(|word| u32_at(body, word * 4)).collect();
    assert_eq!(words, [0, 0x0102_0304, 0x0506_0708, 201, 201]);
    assert_eq!(body[20..221], data);
    let expected = [
        (2, &2_u32.to_le_bytes()[..]),
        (5, &7_u64.to_le_bytes()[..]),
        (1, &b"dropped: queue full"[..]),
    ];
    assert_eq!(options(&body[224..]), expected);
    assert_eq!(options(&blocks[3].1[24..]), [(2, &1_u32.to_le_bytes()[..])]);
}

/// Packets that leave an end and those that reach it stand in one order of time, however the two
/// directions log them.
#[test]
fn a_capture_is_in_order_of_time() {
    let scratch = Scratch::new("order");
    let (mut logs, writing) = create(&scratch.config(64 << 20));
    let data = [0x45; 100];
    // What is still to come is not held to be late.
    let packet = |time_ns: u64, way| Packet {
        time_ns: time_ns + (1 << 62),
        way,
        id: None,
        comment: None,
        data: &data,
    };
    for number in 0..100_000 {
        logs[0].capture(&packet(number * 10, Way::Outbound));
    }
    for number in 0..30_000 {
        logs[1].capture(&packet(number * 30 + 5, Way::Inbound));
    }
    finish(logs, writing, 0).expect("written");
    let bytes = fs::read(scratch.0.join("client.pcapng")).expect("a file");
    let times: Vec<u64> = blocks(&bytes)[2..]
        .iter()
        .map(|(_, body)| u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8)))
        .collect();
    assert_eq!(times.len(), 130_000);
    assert!(times.is_sorted());
}

/// A writer that had no processor for a while finds the packets of both directions waiting, all older than it holds back:
/// it takes all of them before it writes any.
#[test]
fn a_writer_that_is_late_keeps_the_order() {
    let scratch = Scratch::new("late-writer");
    let (mut logs, writing) = create(&scratch.config(64 << 20)); // it begins with touching memory
    for (direction, way, time_ns) in [(0, Way::Outbound, 20), (1, Way::Inbound, 10)] {
        logs[direction].capture(&Packet {
            time_ns,
            way,
            id: None,
            comment: None,
            data: &[0x45; 40],
        });
        assert_eq!(logs[direction].hand_over(u64::MAX), None);
    }
    finish(logs, writing, 0).expect("written");
    let bytes = fs::read(scratch.0.join("client.pcapng")).expect("there");
    let times: Vec<_> = blocks(&bytes)[2..]
        .iter()
        .map(|(_, body)| u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8)))
        .collect();
    assert_eq!(times, [10, 20]);
}

/// Links that name one file share it: each is an interface, and the packets of all are in order of time.
#[test]
fn links_may_share_a_capture() {
    let scratch = Scratch::new("shared-capture");
    let config = scratch.config(4 << 20);
    let second = config::Files {
        packet_log: None,
        capture_client: config.capture_client.clone(),
        capture_server: None,
    };
    let (mut logs, writing) =
        log::create(&config, &[second], REALTIME_MINUS_MONOTONIC_NS).expect("created");
    // Ahead of the clock: nothing is so old that the writer would not wait for the other streams.
    let base_ns = REALTIME_MINUS_MONOTONIC_NS.unsigned_abs() + 1_000_000_000_000_000_000;
    let mut capture = |link: usize, direction: usize, way, times: &[u64]| {
        for &time_ns in times {
            logs[link][direction].capture(&Packet {
                time_ns: base_ns + time_ns,
                way,
                id: None,
                comment: None,
                data: &[0x45; 40],
            });
        }
    };
    capture(0, 0, Way::Outbound, &[10, 20, 60]);
    capture(0, 1, Way::Inbound, &[20, 50]);
    capture(1, 0, Way::Outbound, &[30, 40, 70]);
    for direction in logs.into_iter().flatten() {
        let _ = direction.finish();
    }
    writing.finish(&[7, 8]).expect("written");
    let bytes = fs::read(scratch.0.join("client.pcapng")).expect("a file");
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (kind, length) = (u32_at(&bytes, at), u32_at(&bytes, at + 4) as usize);
        let fields = (kind == 6).then(|| {
            let low = u32_at(&bytes, at + 16).wrapping_sub(low_half(base_ns));
            (u32_at(&bytes, at + 8), low)
        });
        blocks.push((kind, fields));
        at += length;
    }
    let packets = [
        (0, 10),
        (0, 20),
        (0, 20),
        (1, 30),
        (1, 40),
        (0, 50),
        (0, 60),
        (1, 70),
    ];
    let headers = [(0x0a0d_0d0a, None), (1, None), (1, None)];
    let expected: Vec<_> = headers
        .into_iter()
        .chain(packets.map(|packet| (6, Some(packet))))
        .collect();
    assert_eq!(blocks, expected);
}

fn low_half(number: u64) -> u32 {
    u32_at(&number.to_le_bytes(), 0)
}
