// SPDX-License-Identifier: Apache-2.0
//! Captures made byte by byte: block structure, hostile lengths, extension headers.

use super::blocks::Fields;
use super::headers::Headers;
use super::interface::Interface;
use super::pcapng::{DECRYPTION_SECRETS, ENHANCED_PACKET, INTERFACE_DESCRIPTION};
use super::*;
use crate::tables::Finished;
use crate::End;
use crate::Stats;

fn decoded(file: &[u8], vantage: Option<End>) -> Result<Finished, DecodeError> {
    let options = Options {
        vantage,
        ..Options::default()
    };
    let mut tables = Tables::default();
    decode(&Input::bytes(file), &options, &mut tables)?;
    Ok(tables.finish())
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let total = u32::try_from(body.len() + 12).unwrap().to_le_bytes();
    [&kind.to_le_bytes(), &total[..], body, &total[..]].concat()
}

fn section() -> Vec<u8> {
    let mut body = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
    body.extend([1, 0, 0, 0]);
    body.extend([0xff; 8]);
    block(0x0a0d_0d0a, &body)
}

fn option(code: u16, value: &[u8]) -> Vec<u8> {
    let mut option = [
        code.to_le_bytes(),
        u16::try_from(value.len()).unwrap().to_le_bytes(),
    ]
    .concat();
    option.extend(value);
    option.resize(option.len().next_multiple_of(4), 0);
    option
}

fn interface(link: u8, resolution: u8) -> Vec<u8> {
    let body = [
        &[link, 0, 0, 0, 0, 0, 0, 0][..],
        &option(9, &[resolution]),
        &[0; 4],
    ]
    .concat();
    block(INTERFACE_DESCRIPTION, &body)
}

fn packet(interface: u32, ticks: u32, data: &[u8], options: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_le_bytes();
    let mut body = [
        &interface.to_le_bytes(),
        &[0; 4][..],
        &ticks.to_le_bytes(),
        &length,
        &length,
        data,
    ]
    .concat();
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend(options);
    block(ENHANCED_PACKET, &body)
}

fn udp4() -> Vec<u8> {
    let mut ip = vec![
        0x45, 1, 0, 31, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    ip.extend([0, 80, 1, 187, 0, 11, 0, 0, 1, 2, 3]);
    ip
}

#[test]
fn interfaces_keep_their_own_resolution() {
    let file = [
        section(),
        interface(101, 9),
        interface(101, 0x8a),
        packet(0, 7, &udp4(), &[]),
        packet(1, 1024, &udp4(), &[]),
    ];
    let capture = decoded(&file.concat(), None).unwrap();
    assert_eq!(capture.rows("ip_packets"), 2);
    assert_eq!(capture.stats.get("no_clock_offset"), 2);
}

#[test]
fn every_cut_of_a_capture_is_tolerated() {
    let file = [
        section(),
        interface(101, 9),
        packet(0, 7, &udp4(), &option(2, &[1, 0, 0, 0])),
    ]
    .concat();
    for cut in 8..file.len() {
        let capture = decoded(&file[..cut], Some(End::Client)).unwrap();
        assert_eq!(capture.rows("ip_packets"), 0, "cut at {cut}");
    }
}

#[test]
fn every_flipped_byte_is_tolerated() {
    let file = [
        section(),
        interface(1, 9),
        packet(0, 7, &udp4(), &option(1, b"dropped: loss")),
    ]
    .concat();
    for at in 4..file.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut file = file.clone();
            file[at] = value;
            let _ = decoded(&file, Some(End::Server));
        }
    }
}

#[test]
fn a_length_that_lies_stops_the_decoder() {
    let mut file = section();
    file.extend(ENHANCED_PACKET.to_le_bytes());
    file.extend(u32::MAX.to_le_bytes());
    let capture = decoded(&file, None).unwrap();
    assert_eq!(capture.stats.get("bad_block_length"), 1);
}

#[test]
fn something_else_is_refused() {
    assert!(matches!(
        decoded(&b"a text, and a long one at that"[..], None),
        Err(DecodeError::Foreign { .. })
    ));
}

#[test]
fn ipv6_extension_headers_are_walked() {
    let mut ip = vec![0x60, 0x20, 0, 0, 0, 8 + 8 + 12, 0, 64];
    ip.extend([0; 32]);
    ip.extend([44, 0, 0, 0, 0, 0, 0, 0]); // hop-by-hop, 8 bytes
    ip.extend([17, 0, 0, 1, 0, 0, 0, 0]); // first fragment
    ip.extend([0, 1, 0, 2, 0, 12, 0, 0, 9, 9, 9, 9]);
    let headers = Headers::parse(&ip, 68);
    assert_eq!(
        (headers.protocol, headers.ports, headers.payload_bytes),
        (Some(17), Some((1, 2)), Some(4))
    );
    assert_eq!((headers.ecn, headers.size_bytes), (Some(2), 68));
    ip[40 + 8 + 3] = 8; // a later fragment carries no ports
    assert_eq!(Headers::parse(&ip, 68).ports, None);
}

#[test]
fn sack_and_tls_records_are_read() {
    let mut ip = vec![
        0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    ip.extend([
        0, 80, 1, 187, 0, 0, 0, 5, 0, 0, 0, 6, 0x80, 0x10, 0, 0, 0, 0, 0, 0,
    ]);
    ip.extend([1, 1, 5, 10, 0, 0, 0, 7, 0, 0, 0, 8]);
    ip.extend([20, 3, 3, 0, 1, 1, 23, 3, 3, 0x40, 0]); // change_cipher_spec, then a record that continues
    let length = u16::try_from(ip.len()).unwrap();
    ip[2..4].copy_from_slice(&length.to_be_bytes());
    let headers = Headers::parse(&ip, length.into());
    let tcp = headers.tcp.unwrap();
    assert_eq!((tcp.seq, tcp.ack, tcp.flags), (5, Some(6), 0x10));
    assert_eq!(tcp.options.sack(), [(7, 8)]);
    assert_eq!(tcp.tls_application_data, Some(true));
    assert_eq!(headers.payload_bytes, Some(11));
}

fn described(body: &[u8]) -> Interface {
    Interface::parse(Fields::new(body, false), &mut Stats::default())
}

fn with_options(options: &[Vec<u8>]) -> Interface {
    described(&[&[101, 0, 0, 0, 0, 0, 0, 0][..], &options.concat(), &[0; 4]].concat())
}

#[test]
fn times_follow_resolution_and_offset() {
    assert_eq!(
        with_options(&[]).time_ns(1_700_000_000_000_001),
        1_700_000_000_000_001_000
    );
    assert_eq!(with_options(&[option(9, &[9])]).time_ns(7), 7);
    assert_eq!(with_options(&[option(9, &[12])]).time_ns(7_999), 7);
    assert_eq!(
        with_options(&[option(9, &[0x8a])]).time_ns(1536),
        1_500_000_000
    );
    assert_eq!(with_options(&[option(9, &[0])]).time_ns(u64::MAX), i64::MAX);
    let seconds = option(14, &(-2i64).to_le_bytes());
    assert_eq!(
        with_options(&[option(9, &[9]), seconds]).time_ns(5),
        -1_999_999_995
    );
    let clock = option(1, b"quiclab clock_offset_ns=1000");
    assert_eq!(with_options(&[option(9, &[9]), clock]).time_ns(5), -995);
}

#[test]
fn link_layers_are_stripped() {
    let ip = udp4();
    let link = |kind: u16| described(&[&kind.to_le_bytes()[..], &[0; 6]].concat());
    let header = |bytes: usize, at: usize, protocol: u16| {
        let mut frame = vec![0; bytes];
        frame[at..at + 2].copy_from_slice(&protocol.to_be_bytes());
        frame
    };
    let mut tagged = header(22, 12, 0x88a8);
    tagged[16..18].copy_from_slice(&0x8100_u16.to_be_bytes());
    tagged[20..22].copy_from_slice(&0x0800_u16.to_be_bytes());
    let frames = [
        (1, header(14, 12, 0x0800)),
        (1, tagged),
        (113, header(16, 14, 0x0800)),
        (276, header(20, 0, 0x0800)),
        (101, vec![]),
    ];
    for (kind, header) in frames {
        let frame = [header.as_slice(), &ip].concat();
        let length = u32::try_from(header.len()).unwrap();
        assert_eq!(
            link(kind).link.network_layer(&frame),
            Some((ip.as_slice(), length)),
            "link type {kind}"
        );
    }
    assert_eq!(link(1).link.network_layer(&header(14, 12, 0x0806)), None);
    assert_eq!(link(147).link.network_layer(&ip), None);
}

#[test]
fn a_section_may_be_big_endian() {
    let little_endian = section();
    let block = |kind: u32, body: &[u8]| {
        let total = u32::try_from(body.len() + 12).unwrap().to_be_bytes();
        [&kind.to_be_bytes(), &total[..], body, &total[..]].concat()
    };
    let section = block(
        0x0a0d_0d0a,
        &[
            &0x1a2b_3c4d_u32.to_be_bytes()[..],
            &[0, 1, 0, 0],
            &[0xff; 8],
        ]
        .concat(),
    );
    let interface = block(1, &[0, 101, 0, 0, 0, 0, 0, 0]);
    let ip = udp4();
    let length = u32::try_from(ip.len()).unwrap().to_be_bytes();
    let mut body = [&[0; 8], &7u32.to_be_bytes()[..], &length, &length, &ip].concat();
    body.resize(body.len().next_multiple_of(4), 0);
    let file = [section, interface, block(6, &body), little_endian].concat();
    let capture = decoded(&file, None).unwrap();
    assert_eq!(
        (
            capture.rows("ip_packets"),
            capture.stats.get("bad_byte_order")
        ),
        (1, 0)
    );
}

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
    let file = recorded(include_str!("../tls/vectors/tls13-early-data.txt"), 2000);
    let capture = decoded(&file, Some(End::Client)).unwrap();
    let frames = capture.table("http_frames").unwrap();
    assert_eq!(
        frames.lines(&["connection", "frame_type"]),
        ["settings", "ping", "ping"].map(|frame| format!("10.0.0.1:50000-10.0.0.2:443|{frame}"))
    );
    assert_eq!(capture.stats.get("unused_keys"), 0);
}

/// Where packets are cut, what follows cannot be read: that is told, and TCP's tables stay whole.
#[test]
fn cut_packets_end_what_can_be_read() {
    let recording = include_str!("../tls/vectors/tls13-key-update.txt");
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
