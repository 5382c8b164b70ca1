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

mod damaged;
mod lost;
mod whole;

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
        Some(1_700_000_000_000_001_000)
    );
    assert_eq!(with_options(&[option(9, &[9])]).time_ns(7), Some(7));
    assert_eq!(with_options(&[option(9, &[12])]).time_ns(7_999), Some(7));
    assert_eq!(
        with_options(&[option(9, &[0x8a])]).time_ns(1536),
        Some(1_500_000_000)
    );
    assert_eq!(with_options(&[option(9, &[0])]).time_ns(u64::MAX), None);
    let seconds = option(14, &(-2i64).to_le_bytes());
    assert_eq!(
        with_options(&[option(9, &[9]), seconds]).time_ns(5),
        Some(-1_999_999_995)
    );
}

/// Captures of older versions call the distance of the two clocks by another name.
#[test]
fn the_clock_of_the_link_is_told_by_either_name() {
    for name in ["realtime_minus_monotonic_ns", "clock_offset_ns"] {
        let clock = option(1, format!("quiclab {name}=1000").as_bytes());
        assert_eq!(
            with_options(&[option(9, &[9]), clock]).time_ns(5),
            Some(-995)
        );
    }
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
