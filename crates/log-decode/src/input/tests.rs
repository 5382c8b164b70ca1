// SPDX-License-Identifier: Apache-2.0
//! Compressed files: whole, in several parts, cut, damaged, and made to burst.

use super::*;
use flate2::{write::GzEncoder, Compression as Level};
use ruzstd::encoding::{compress_to_vec, CompressionLevel};
use std::io::Write;

fn text(length: usize) -> Vec<u8> {
    let line = |number: usize| format!("line {number} of a log, {}\n", number * 7919 % 1013);
    let mut text: Vec<u8> = (0..length / 16)
        .flat_map(|n| line(n).into_bytes())
        .collect();
    text.truncate(length);
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Level::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// Bytes that come out, and the names of what went wrong.
fn unpacked(bytes: &[u8]) -> (Vec<u8>, Vec<String>) {
    let input = Input::bytes(bytes);
    let mut out = Vec::new();
    input.open().unwrap().read_to_end(&mut out).unwrap();
    let mut stats = Stats::default();
    input.count_trouble(&mut stats);
    (out, stats.iter().map(|(name, _)| name.to_owned()).collect())
}

#[test]
fn several_members_and_frames_come_out_as_one() {
    let whole = text(300_000);
    let (first, second) = whole.split_at(123_457);
    assert_eq!(unpacked(&whole), (whole.clone(), vec![]));
    for pack in [gzip, zstd] {
        let packed = [pack(first), pack(second)].concat();
        assert_eq!(unpacked(&packed), (whole.clone(), vec![]));
    }
    let skippable = [
        &[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..],
        &zstd(&whole),
    ]
    .concat();
    assert_eq!(unpacked(&skippable), (whole, vec![]));
}

#[test]
fn a_cut_file_gives_what_was_there() {
    let whole = text(1_000_000);
    for pack in [gzip, zstd] {
        let packed = pack(&whole);
        let (out, trouble) = unpacked(&packed[..packed.len() / 2]);
        assert!(
            out.len() > 200_000 && whole.starts_with(&out),
            "{}",
            out.len()
        );
        assert_eq!(trouble, ["truncated_compression"]);
    }
}

#[test]
fn a_damaged_file_ends_at_the_damage() {
    let whole = text(1_000_000);
    for pack in [gzip, zstd] {
        let mut packed = pack(&whole);
        let middle = packed.len() / 2;
        packed[middle..middle + 64].fill(0xff);
        let (out, trouble) = unpacked(&packed);
        assert!(out.len() < whole.len());
        assert_eq!(trouble, ["corrupt_compression"]);
    }
}

#[test]
fn what_follows_a_member_is_another_or_padding_or_damage() {
    let whole = text(100_000);
    let (first, second) = whole.split_at(50_000);
    let (begin, end) = (gzip(first), gzip(second));
    let with = |rest: &[u8]| unpacked(&[&begin, rest].concat());
    assert_eq!(with(&vec![0; 100_000]), (first.to_vec(), vec![]));
    let mut padded = vec![0; 100_000];
    padded.push(1);
    let mut no_magic = end.clone();
    no_magic[0] = 0;
    let mut half_magic = end.clone();
    half_magic[1] = 0;
    let mut no_method = end.clone();
    no_method[2] = 9;
    for rest in [&b"junk"[..], &padded, &no_magic, &half_magic, &no_method] {
        let told = vec!["corrupt_compression".to_owned()];
        assert_eq!(with(rest), (first.to_vec(), told));
    }
    for length in [1, 5, 12] {
        let told = vec!["truncated_compression".to_owned()];
        let (out, trouble) = with(&end[..length]);
        assert!(out.starts_with(first), "{length}");
        assert_eq!(trouble, told, "{length}");
    }
    let mut damaged = end;
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xff);
    let (out, trouble) = with(&damaged);
    assert!(out.starts_with(first));
    assert_eq!(trouble, ["corrupt_compression"]);
}

#[test]
fn a_bomb_is_stopped_and_said() {
    let packed = gzip(&vec![0; 70 << 20]);
    let (out, trouble) = unpacked(&packed);
    assert!(out.len() < 65 << 20);
    assert_eq!(trouble, ["compression_bomb"]);
}

#[test]
fn compression_inside_compression_stays() {
    let inner = gzip(b"log");
    assert_eq!(unpacked(&zstd(&inner)), (inner, vec![]));
}

#[test]
fn the_head_is_unpacked() {
    let whole = text(10_000);
    assert_eq!(Input::bytes(&zstd(&whole)).head(100).unwrap(), whole[..100]);
    assert_eq!(Input::bytes(b"ab").head(100).unwrap(), b"ab");
}

#[test]
fn text_of_other_encodings_comes_out_as_utf_8() {
    let json = format!("{{\"log\": \"äé漢😀{}\"}}", "😀x".repeat(40_000));
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let marked = format!("\u{feff}{json}");
    let ways: [Vec<u8>; 5] = [
        marked.clone().into_bytes(),
        little(&marked),
        big(&marked),
        little(&json),
        big(&json),
    ];
    for bytes in ways {
        for packed in [bytes.clone(), gzip(&bytes)] {
            assert_eq!(unpacked(&packed), (json.clone().into_bytes(), vec![]));
        }
    }
}

#[test]
fn halves_of_characters_are_replaced() {
    let lone = [0xff, 0xfe, b'a', 0, 0x00, 0xd8, b'b', 0, 0x00, 0xdc, b'c'];
    assert_eq!(
        unpacked(&lone).0,
        "a\u{fffd}b\u{fffd}".as_bytes(),
        "and a last odd byte is nothing"
    );
    assert_eq!(unpacked(&[0xff, 0xfe]).0, b"");
}
