// SPDX-License-Identifier: Apache-2.0
//! The packet log holds what happened to every packet, and says when it could not.

mod log_files;

use std::fs;
use std::path::Path;

use link_run::config;
use link_run::log;
use link_run::log::record::{Action, Record, CORRUPTED, DUPLICATE, NO_INDEX};
use log_files::{create, finish, u32_at, Scratch, REALTIME_MINUS_MONOTONIC_NS};

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn record(number: u32) -> Record {
    Record {
        arrival_ns: u64::from(number) + 1_000_000,
        index: number,
        size_bytes: 1500,
        ..Record::default()
    }
}

/// Header and record lie in the file as the reference says, byte by byte.
#[test]
fn the_packet_log_is_as_documented() {
    let scratch = Scratch::new("format");
    let (mut logs, writing) = create(&scratch.config(1 << 20));
    logs[0].record(&Record {
        arrival_ns: 0x0102_0304_0506_0708,
        due_ns: 0x1112_1314_1516_1718,
        lateness_ns: -2,
        queue_bytes: 0x2122_2324,
        index: 0x3132_3334,
        source_burst: 0x4142_4344,
        flow: 0x5152_5354,
        size_bytes: 0x6162,
        queue_packets: 0x7172,
        direction: 1,
        action: Action::InsideAtEnd,
        reason: 4,
        flags: DUPLICATE | CORRUPTED,
        service_ns: 0x8182_8384,
    });
    finish(logs, writing, 77).expect("written");
    let bytes = fs::read(scratch.0.join("link.qplog")).expect("a file");
    assert_eq!(bytes.len(), 64 + 48);
    assert_eq!(&bytes[..8], b"QLPKTLOG");
    assert_eq!([u32_at(&bytes, 8), u32_at(&bytes, 12)], [1, 48]);
    assert_eq!(u64_at(&bytes, 16), 77);
    assert_eq!(
        u64_at(&bytes, 24),
        u64::try_from(REALTIME_MINUS_MONOTONIC_NS).expect("positive")
    );
    assert!(bytes[32..64].iter().all(|byte| *byte == 0));
    let record = &bytes[64..];
    assert_eq!(
        [u64_at(record, 0), u64_at(record, 8)],
        [0x0102_0304_0506_0708, 0x1112_1314_1516_1718]
    );
    assert_eq!(u32_at(record, 16), u32::MAX - 1);
    let words: Vec<u32> = [20, 24, 28, 32, 36, 44]
        .into_iter()
        .map(|at| u32_at(record, at))
        .collect();
    assert_eq!(
        words,
        [
            0x2122_2324,
            0x3132_3334,
            0x4142_4344,
            0x5152_5354,
            0x7172_6162,
            0x8182_8384
        ]
    );
    assert_eq!(record[40..44], [1, 3, 4, 3]);
}

/// However many records come, those that are counted are in the file, in order, and the rest are counted as lost.
#[test]
fn no_record_is_lost_silently() {
    let scratch = Scratch::new("count");
    let (mut logs, writing) = create(&scratch.config(1 << 20));
    for number in 0..200_000 {
        logs[0].record(&record(number));
    }
    let counts = logs[0].counts;
    finish(logs, writing, 0).expect("written");
    assert_eq!(counts.records + counts.records_lost, 200_000);
    let bytes = fs::read(scratch.0.join("link.qplog")).expect("a file");
    let indices: Vec<u32> = bytes[64..]
        .chunks_exact(48)
        .map(|record| u32_at(record, 24))
        .collect();
    assert_eq!(indices.len() as u64, counts.records);
    assert!(indices.is_sorted_by(|a, b| a < b));
}

/// Nothing is lost where there is room for all of it.
#[test]
fn enough_room_loses_nothing() {
    let scratch = Scratch::new("room");
    let (mut logs, writing) = create(&scratch.config(64 << 20));
    for number in 0..200_000 {
        logs[0].record(&record(number));
    }
    assert_eq!(
        (logs[0].counts.records, logs[0].counts.records_lost),
        (200_000, 0)
    );
    finish(logs, writing, 0).expect("written");
    let length = fs::metadata(scratch.0.join("link.qplog"))
        .expect("a file")
        .len();
    assert_eq!(length, 64 + 200_000 * 48);
}

/// A full disk is an error at the end and not a pause in the middle.
#[test]
fn a_full_disk_is_told_at_the_end() {
    let full = Path::new("/dev/full");
    let log = config::Log {
        packet_log: Some(full.to_owned()),
        ..config::Log::default()
    };
    let (mut logs, writing) = create(&log);
    for number in 0..100_000 {
        logs[0].record(&record(number));
    }
    let error = finish(logs, writing, 0).expect_err("nothing can be written there");
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
}

/// A directory that is not there is one sentence with the path in it.
#[test]
fn a_missing_directory_is_named() {
    let log = config::Log {
        packet_log: Some("/nowhere/link.qplog".into()),
        ..config::Log::default()
    };
    let message = log::create(&log, &[], REALTIME_MINUS_MONOTONIC_NS)
        .expect_err("no such directory")
        .to_string();
    assert!(
        message.starts_with("cannot create /nowhere/link.qplog: "),
        "{message}"
    );
}

/// Packets outside the model have no number.
#[test]
fn no_index_is_the_largest_number() {
    assert_eq!(
        Record {
            index: NO_INDEX,
            ..Record::default()
        }
        .to_bytes()[24..28],
        [0xff; 4]
    );
}

/// Two links write by one thread, each into its own files, and each file gets its own link's t = 0.
#[test]
fn links_keep_their_logs_apart() {
    let scratch = Scratch::new("two-links");
    let config = scratch.config(4 << 20);
    let second = config::Files {
        packet_log: Some(scratch.0.join("link-2.qplog")),
        capture_client: None,
        capture_server: Some(scratch.0.join("link-2-server.pcapng")),
    };
    let (mut logs, writing) =
        log::create(&config, &[second], REALTIME_MINUS_MONOTONIC_NS).expect("created");
    for number in 0..10 {
        logs[0][0].record(&record(number));
        logs[1][1].record(&record(100 + number));
        logs[1][1].record(&record(200 + number));
    }
    for direction in logs.into_iter().flatten() {
        let _ = direction.finish();
    }
    writing.finish(&[7, 8]).expect("written");
    let told = |name: &str| {
        let bytes = fs::read(scratch.0.join(name)).expect("a packet log");
        let numbers: Vec<u32> = bytes[64..].chunks(48).map(|at| u32_at(at, 24)).collect();
        (u64_at(&bytes, 16), numbers)
    };
    assert_eq!(told("link.qplog"), (7, (0..10).collect()));
    let second = (0..10).flat_map(|number| [100 + number, 200 + number]);
    assert_eq!(told("link-2.qplog"), (8, second.collect()));
}
