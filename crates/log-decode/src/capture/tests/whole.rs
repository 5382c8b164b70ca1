// SPDX-License-Identifier: Apache-2.0
//! Whole captures: classic ones, and recorded TLS connections with their keys inside.

use super::*;

/// Micro- and nanoseconds, in both byte orders, give the same packets at their own resolution.
#[test]
fn classic_captures_are_read() {
    for (magic, unit) in [(0xa1b2_c3d4_u32, 1_000_u64), (0xa1b2_3c4d, 1)] {
        for big_endian in [false, true] {
            let word = |value: u32| {
                if big_endian {
                    value.to_be_bytes()
                } else {
                    value.to_le_bytes()
                }
            };
            let length = u32::try_from(udp4().len()).unwrap();
            let mut file: Vec<u8> = [magic, 0x0002_0004, 0, 0, 65_535, 101, 3, 7, length, length]
                .into_iter()
                .flat_map(word)
                .collect();
            file.extend(udp4());
            let mut tables = Tables::default();
            let source = decode(&Input::bytes(&file), &Options::default(), &mut tables).unwrap();
            let table = tables.finish();
            assert_eq!(source.resolution_ns, unit);
            assert_eq!(
                table
                    .table("ip_packets")
                    .unwrap()
                    .lines(&["time_ns", "protocol"]),
                [format!("{}|udp", 3_000_000_000 + 7 * unit)]
            );
            for cut in 24..file.len() {
                let capture = decoded(&file[..cut], None).unwrap();
                assert_eq!(capture.rows("ip_packets"), 0, "cut at {cut}");
                assert_eq!(capture.stats.get("truncated_block"), u64::from(cut > 24));
            }
        }
    }
}

/// A TCP segment from port 50000 to 443 or back, flags as given.
fn tcp4(up: bool, seq: u32, ack: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let total = u16::try_from(40 + payload.len()).unwrap().to_be_bytes();
    let (client, server) = ([10, 0, 0, 1], [10, 0, 0, 2]);
    let (src, dst) = if up {
        (client, server)
    } else {
        (server, client)
    };
    let (sport, dport) = if up {
        (50_000_u16, 443_u16)
    } else {
        (443, 50_000)
    };
    [
        &[0x45, 0, total[0], total[1], 0, 0, 0, 0, 64, 6, 0, 0][..],
        &src,
        &dst,
        &sport.to_be_bytes(),
        &dport.to_be_bytes(),
        &seq.to_be_bytes(),
        &ack.to_be_bytes(),
        &[0x50, flags, 0xff, 0xff, 0, 0, 0, 0],
        payload,
    ]
    .concat()
}

/// A recorded TLS connection as a capture of packets cut to `snap` bytes, with its key log inside.
fn recorded(recording: &str, snap: usize) -> Vec<u8> {
    let keys: Vec<&str> = (recording.lines())
        .filter_map(|line| line.strip_prefix("key "))
        .collect();
    let keys = keys.join("\n");
    let mut secrets = 0x544c_534b_u32.to_le_bytes().to_vec();
    secrets.extend(u32::try_from(keys.len()).unwrap().to_le_bytes());
    secrets.extend(keys.as_bytes());
    secrets.resize(secrets.len().next_multiple_of(4), 0);
    let mut file = [
        section(),
        interface(101, 9),
        block(DECRYPTION_SECRETS, &secrets),
        packet(0, 0, &tcp4(true, 99, 0, 2, &[]), &[]),
        packet(0, 0, &tcp4(false, u32::MAX - 50, 100, 0x12, &[]), &[]),
    ]
    .concat();
    // The server's numbers wrap around.
    let mut next = [100_u32, u32::MAX - 49];
    for (ticks, line) in (1..).zip(recording.lines()) {
        let (kind, rest) = line.split_once(' ').unwrap();
        let up = match kind {
            "key" => continue,
            kind => kind == "up",
        };
        let bytes = crate::tls::keylog::hex(rest).unwrap();
        let (own, other) = (usize::from(!up), usize::from(up));
        for part in bytes.chunks(600) {
            let segment = tcp4(up, next[own], next[other], 0x18, part);
            let captured = &segment[..segment.len().min(snap)];
            file.extend(packet(0, ticks, captured, &[]));
            next[own] = next[own].wrapping_add(u32::try_from(part.len()).unwrap());
        }
    }
    file
}

/// Keys inside the capture open it, and sequence numbers may wrap.
#[test]
fn a_key_log_inside_the_capture_opens_it() {
    let file = recorded(include_str!("../../tls/vectors/tls13-early-data.txt"), 2000);
    let capture = decoded(&file, Some(End::Client)).unwrap();
    let frames = capture.table("http_frames").unwrap();
    assert_eq!(
        frames.lines(&["connection", "frame_type"]),
        ["settings", "ping", "ping"].map(|frame| format!("10.0.0.1:50000-10.0.0.2:443|{frame}"))
    );
    assert_eq!(capture.stats.get("unused_keys"), 0);
}

/// Bytes behind a cut in a packet cannot be read: that is told, and TCP's tables stay whole.
#[test]
fn cut_packets_end_what_can_be_read() {
    let recording = include_str!("../../tls/vectors/tls13-key-update.txt");
    let whole = decoded(&recorded(recording, 2000), Some(End::Client)).unwrap();
    let cut = decoded(&recorded(recording, 300), Some(End::Client)).unwrap();
    let steps = |capture: &Finished| capture.table("handshake").unwrap().lines(&["step"]);
    assert!(steps(&whole).len() > steps(&cut).len());
    assert_eq!(steps(&cut)[..2], ["syn", "syn_ack"]);
    assert_eq!(cut.stats.get("gap_in_capture"), 1);
    assert_eq!(cut.stats.get("no_keys"), 0);
    assert!(cut
        .absent
        .iter()
        .any(|absent| absent.table == "http_frames"));
    let packets = |capture: &Finished| {
        let packets = capture.table("packets").unwrap();
        packets.lines(&["direction", "packet_number", "length_bytes"])
    };
    assert_eq!(packets(&whole), packets(&cut));
}
