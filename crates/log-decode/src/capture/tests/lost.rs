// SPDX-License-Identifier: Apache-2.0
//! Blocks that cannot be read are told, with what they are.

use super::*;

/// Findings as `severity name count`.
fn findings(capture: &Finished) -> Vec<String> {
    let all = capture.stats.iter();
    all.filter(|(name, _)| *name != "no_clock_offset")
        .map(|(name, stat)| format!("{} {name} {}", stat.severity.as_str(), stat.count))
        .collect()
}

fn framed(link: u8, frame: &[u8]) -> Finished {
    let file = [section(), interface(link, 9), packet(0, 7, frame, &[])];
    decoded(&file.concat(), None).unwrap()
}

#[test]
fn a_link_layer_that_is_not_read_is_a_loss_by_its_number() {
    assert_eq!(
        findings(&framed(127, &udp4())),
        ["data_loss unread_link_type:127_ieee802_11_radiotap 1"]
    );
    let hidden = [&[0; 12][..], &[0x88, 0xe5], &udp4()].concat();
    assert_eq!(
        findings(&framed(1, &hidden)),
        ["data_loss unread_encapsulation:0x88e5 1"]
    );
    let arp = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
    assert_eq!(findings(&framed(1, &arp)), ["info not_ip 1"]);
    assert_eq!(findings(&framed(1, &[0; 13])), ["data_loss cut_packet 1"]);
}

/// PPP is read, as ns-3 writes it too.
#[test]
fn packets_behind_ppp_have_their_own_size() {
    for header in [&[0xff, 3, 0, 0x21][..], &[0, 0x21]] {
        let capture = framed(9, &[header, &udp4()].concat());
        let packets = capture.table("ip_packets").unwrap();
        assert_eq!(
            packets.lines(&["src", "size_bytes", "payload_bytes"]),
            ["10.0.0.1|31|3"]
        );
        assert!(findings(&capture).is_empty());
    }
}

/// RFC 768's length counts, not that of IP; what receivers drop has no payload.
#[test]
fn udp_says_itself_how_long_it_is() {
    for (length, payload, lost) in [
        (11_u16, "3", 0),
        (9, "1", 0),
        (8, "0", 0),
        (12, "", 1),
        (7, "", 1),
        (0, "", 1),
    ] {
        let mut ip = udp4();
        ip[24..26].copy_from_slice(&length.to_be_bytes());
        let capture = framed(101, &ip);
        let packets = capture.table("ip_packets").unwrap();
        assert_eq!(packets.lines(&["payload_bytes"]), [payload], "{length}");
        assert_eq!(capture.stats.get("bad_udp_length"), lost, "{length}");
    }
    let mut jumbogram = vec![0x60, 0, 0, 0, 0, 0, 0, 64];
    jumbogram.extend([0; 32]);
    jumbogram.extend([17, 0, 0xc2, 4, 0, 1, 0x11, 0x78, 0, 1, 0, 2, 0, 0, 0, 0]);
    jumbogram.resize(40 + 0x1_1178, 0);
    let headers = Headers::parse(&jumbogram, 40 + 0x1_1178);
    assert_eq!(headers.payload_bytes, Some(0x1_1178 - 16));
}

/// A data offset below 5 (RFC 9293 section 3.1) leaves no place for the header itself.
#[test]
fn a_tcp_header_too_short_to_be_one_has_no_payload() {
    for (offset, rows, lost) in [(0, 0, 1), (4, 0, 1), (5, 1, 0)] {
        let mut ip = vec![0x45, 0, 0, 43, 0, 0, 0, 0, 64, 6, 0, 0];
        ip.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        ip.extend([
            0,
            80,
            1,
            187,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            1,
            offset << 4,
            0x10,
            1,
            0,
        ]);
        ip.extend([0, 0, 0, 0, 7, 7, 7]);
        let headers = Headers::parse(&ip, 43);
        assert_eq!(headers.payload_bytes.is_some(), rows == 1, "{offset}");
        let capture = framed(101, &ip);
        assert_eq!(capture.rows("ip_packets"), 1);
        assert_eq!(capture.stats.get("bad_tcp_offset"), lost, "{offset}");
    }
}

/// A time that no column can hold is not made up.
#[test]
fn a_packet_whose_time_is_beyond_64_bits_is_not_read() {
    let file = [section(), interface(101, 0), packet(0, 7, &udp4(), &[])];
    let mut bytes = file.concat();
    let ticks = bytes.len() - packet(0, 7, &udp4(), &[]).len() + 12;
    assert_eq!(decoded(&bytes, None).unwrap().rows("ip_packets"), 1);
    bytes[ticks..ticks + 4].fill(0xff);
    let capture = decoded(&bytes, None).unwrap();
    assert_eq!(capture.rows("ip_packets"), 0);
    assert_eq!(findings(&capture), ["data_loss malformed_time 1"]);
}

/// An option longer than its block hides what stands behind it: no time is made up.
#[test]
fn an_interface_whose_options_break_off_has_no_times() {
    let broken = [&2_u16.to_le_bytes()[..], &[0xff, 0xff], &[b'e'; 4]].concat();
    for (options, rows, expected) in [
        (
            [broken.clone(), option(9, &[9])].concat(),
            0,
            &["error malformed_interface 1", "data_loss no_resolution 1"][..],
        ),
        (
            [option(9, &[9]), broken.clone()].concat(),
            1,
            &["error malformed_interface 1"],
        ),
    ] {
        let body = [&[101, 0, 0, 0, 0, 0, 0, 0][..], &options].concat();
        let file = [
            section(),
            block(INTERFACE_DESCRIPTION, &body),
            packet(0, 7, &udp4(), &[]),
        ];
        let capture = decoded(&file.concat(), None).unwrap();
        assert_eq!(capture.rows("ip_packets"), rows);
        assert_eq!(findings(&capture), expected);
    }
    let file = [section(), interface(101, 9), packet(0, 7, &udp4(), &broken)];
    let capture = decoded(&file.concat(), None).unwrap();
    assert_eq!(capture.rows("ip_packets"), 1);
    assert_eq!(findings(&capture), ["data_loss malformed_options 1"]);
}

/// Frames of every link layer, cut everywhere and with any byte at the front, become a row or a finding.
#[test]
fn every_frame_is_told_of() {
    for link in [0, 1, 9, 12, 50, 51, 101, 104, 113, 219, 127] {
        let front = [
            &[0; 12][..],
            &[0x81, 0, 0, 7, 0x88, 0x47, 0, 1, 1, 64],
            &udp4(),
        ]
        .concat();
        for cut in 0..front.len() {
            for byte in [0, 0x0f, 0x21, 0x45, 0x60, 0x81, 0xff] {
                let mut frame = front[cut..].to_vec();
                frame[0] = byte;
                let capture = framed(link, &frame);
                let told = capture.rows("ip_packets") + findings(&capture).len();
                assert!(told > 0, "{link} {cut} {byte}");
            }
        }
    }
}
