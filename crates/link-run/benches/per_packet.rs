// SPDX-License-Identifier: Apache-2.0
//! Cost of each part of the link per packet, in one thread, without devices: one line of JSON a
//! row.
//!
//! `cargo bench -p link-run` writes its logs to `/dev/shm`, as a trial does.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use link_core::{
    BitRate, Bytes, Chance, Direction, DirectionConfig, Distribution, GilbertElliottTime, Jitter,
    Loss, Nanos, Order, QueueBound, Reorder, Service, StreamKey, Timeline,
};
use link_run::calendar::Calendar;
use link_run::checksum::PartialChecksum;
use link_run::config;
use link_run::log::pcapng::{Packet, Way};
use link_run::log::record::Record;
use link_run::log::{self, Logs};
use link_run::segment::Segments;
use link_run::vnet::{Offload, Transport};

const PACKETS: u64 = 1_000_000;
const ROUNDS: usize = 5;
const GROUPS: u64 = 400;
const GROUP: u64 = 500;

/// Runs `part` a few times, each over all packets, and prints the median.
fn row(name: &str, mut part: impl FnMut()) {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        part();
        start.elapsed().as_secs_f64() * 1e9 / 1e6
    });
    print(name, rounds.collect());
}

fn print(name: &str, mut nanoseconds: Vec<f64>) {
    nanoseconds.sort_by(f64::total_cmp);
    let [min, median, max] =
        [0, nanoseconds.len() / 2, nanoseconds.len() - 1].map(|at| nanoseconds[at]);
    println!(r#"{{"part":"{name}","median_ns":{median:.1},"min_ns":{min:.1},"max_ns":{max:.1}}}"#);
}

/// A limiter as most paths have it.
fn usual() -> DirectionConfig {
    DirectionConfig {
        edge_rate: Some(BitRate(10_000_000_000)),
        service: Service::Rate(Timeline::constant(Some(BitRate(1_000_000_000)))),
        queue: Timeline::constant(QueueBound {
            packets: Some(1000),
            ..QueueBound::default()
        }),
        delay: Timeline::constant(Nanos(10_000_000)),
        loss: Timeline::constant(Chance::new(0.01).map(Loss::Bernoulli)),
        ..DirectionConfig::default()
    }
}

/// All effects at once.
fn everything() -> DirectionConfig {
    let chance = Chance::new(0.01).unwrap_or(Chance::NEVER);
    let order = Order::InOrder {
        half_life: Nanos(10_000_000),
    };
    let jitter = Jitter {
        distribution: Distribution::Normal,
        scale: Nanos(1_000_000),
        order,
    };
    let outages = GilbertElliottTime {
        mean_good: Nanos(100_000_000),
        mean_bad: Nanos(5_000_000),
        loss_good: Chance::NEVER,
        loss_bad: chance,
    };
    DirectionConfig {
        jitter: Timeline::constant(Some(jitter)),
        loss: Timeline::constant(Some(Loss::GilbertElliottTime(outages))),
        reorder: Timeline::constant(Some(Reorder {
            chance,
            extra_delay: Nanos(1_000_000),
        })),
        duplicate: Timeline::constant(chance),
        corrupt: Timeline::constant(chance),
        ..usual()
    }
}

fn model(config: &DirectionConfig) {
    let mut direction = Direction::new(config, &StreamKey::new(1, "bottleneck", "up"));
    for i in 0..PACKETS {
        black_box(direction.offer(Nanos(i * 12_500), Bytes(1500)));
    }
}

/// Time that the forwarder spends on logging, while the writer keeps up: groups of packets with
/// pauses in between, at about 2 Gbit/s of full packets.
fn logging(name: &str, capture: bool, append: impl Fn(&mut Logs, u64)) {
    let path = PathBuf::from(format!("/dev/shm/quiclab-bench-{}", std::process::id()));
    let mut config = config::Log::default();
    *(if capture {
        &mut config.capture_client
    } else {
        &mut config.packet_log
    }) = Some(path.clone());
    let Ok((mut all, writing)) = log::create(&config, &[], 0) else {
        return;
    };
    let Some([mut logs, other]) = all.pop() else {
        return;
    };
    let groups = (0..GROUPS).map(|group| {
        std::thread::sleep(Duration::from_millis(3));
        let start = Instant::now();
        for i in 0..GROUP {
            append(&mut logs, group * GROUP + i);
        }
        start.elapsed().as_secs_f64() * 1e9 / 500.0
    });
    print(name, groups.collect());
    let _ = logs.finish();
    let _ = other.finish();
    if let Err(error) = writing
        .finish(&[0])
        .and_then(|()| std::fs::remove_file(path))
    {
        eprintln!("{error}");
    }
}

fn segmentation() {
    let mut packet = vec![0; 40 + 45 * 1448];
    packet[0] = 0x45;
    packet[32] = 5 << 4;
    let checksum = PartialChecksum {
        start: 20,
        offset: 16,
    };
    let offload = Offload {
        checksum: Some(checksum),
        segments: Some((Transport::Tcp, 1448)),
    };
    let Some(segments) = Segments::new(&packet, offload) else {
        return;
    };
    let mut out = Vec::with_capacity(2048);
    for i in 0..PACKETS {
        out.clear();
        segments.write(usize::try_from(i % 45).unwrap_or(0), &mut out);
        black_box(&out);
    }
}

fn calendar() {
    let mut calendar = Calendar::default();
    for i in 0..1000 {
        calendar.push(i, 0);
    }
    for i in 1000..1000 + PACKETS {
        calendar.push(i, 0);
        black_box(calendar.pop());
    }
}

fn main() {
    let (usual, everything) = (usual(), everything());
    row("model: edge, loss, queue and rate, delay", || model(&usual));
    row("model: all effects", || model(&everything));
    row("cut a super-packet, per packet of 1488 bytes", segmentation);
    row("calendar with 1000 packets inside", calendar);
    let data = [0x45; 1500];
    logging("packet log record", false, |logs, i| {
        logs.record(&black_box(Record {
            arrival_ns: i,
            due_ns: i + 1,
            size_bytes: 1500,
            ..Record::default()
        }));
    });
    logging(
        "capture of a 1500-byte packet at one end",
        true,
        |logs, i| {
            logs.capture(&Packet {
                time_ns: i,
                way: Way::Outbound,
                id: Some(i),
                comment: None,
                data: black_box(&data),
            });
        },
    );
}
