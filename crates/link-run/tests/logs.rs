// SPDX-License-Identifier: Apache-2.0
//! The packet log and the captures hold what was written, and say when they could not.

use std::fs;
use std::path::{Path, PathBuf};

use link_run::config;
use link_run::log::pcapng::{Packet, Way};
use link_run::log::record::{Action, Record, CORRUPTED, DUPLICATE, NO_INDEX};
use link_run::log::{self, Logs, Writing, WHOLE_PACKETS};

const OFFSET_NS: i64 = 1_795_294_534_608_768_542;

/// A directory of its own, gone at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("quiclab-link-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }

    fn config(&self, buffer_bytes: usize) -> config::Log {
        config::Log {
            packet_log: Some(self.0.join("link.qplog")),
            capture_client: Some(self.0.join("client.pcapng")),
            capture_server: None,
            snaplen_bytes: None,
            summary: None,
            buffer_bytes,
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

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

fn create(config: &config::Log) -> ([Logs; 2], Writing) {
    let (mut logs, writing) =
        log::create(config, &[], OFFSET_NS).expect("the files can be created");
    (logs.pop().expect("one link"), writing)
}

fn finish(logs: [Logs; 2], writing: Writing, model_zero_ns: u64) -> std::io::Result<()> {
    for direction in logs {
        let _ = direction.finish();
    }
    writing.finish(&[model_zero_ns])
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
        u64::try_from(OFFSET_NS).expect("positive")
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

/// With room for all of it nothing is lost.
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
    let message = log::create(&log, &[], OFFSET_NS)
        .expect_err("no such directory")
        .to_string();
    assert!(
        message.starts_with("cannot create /nowhere/link.qplog: "),
        "{message}"
    );
}

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
    let comment = format!("quiclab clock_offset_ns={OFFSET_NS}");
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

/// What leaves an end and what reaches it stand in one order of time, however the two directions log them.
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
    let (mut logs, writing) = log::create(&config, &[second], OFFSET_NS).expect("created");
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
    let (mut logs, writing) = log::create(&config, &[second], OFFSET_NS).expect("created");
    // Ahead of the clock: nothing is so old that the writer would not wait for the other streams.
    let base_ns = OFFSET_NS.unsigned_abs() + 1_000_000_000_000_000_000;
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
