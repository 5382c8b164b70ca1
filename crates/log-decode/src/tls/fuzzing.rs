// SPDX-License-Identifier: Apache-2.0
//! Records whose plaintext is the fuzzer's, sealed with keys that the decoder knows.

use super::keylog::{KeyLog, Secret};
use super::layer::Layer;
use super::suite::Suite;
use super::{tls12, tls13, RoundTrips};
use crate::tables::Tables;
use crate::{Direction, End, Stats};
use std::fmt::Write as _;

/// Random of the fuzzer's hellos, without which the keys do not fit.
const CLIENT_RANDOM: [u8; 32] = [7; 32];
const SERVER_RANDOM: [u8; 32] = [9; 32];
/// The labels of the secrets of each direction: handshake, application data, 0-RTT.
const LABELS: [[&str; 3]; 2] = [
    [
        "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
        "CLIENT_TRAFFIC_SECRET_0",
        "CLIENT_EARLY_TRAFFIC_SECRET",
    ],
    [
        "SERVER_HANDSHAKE_TRAFFIC_SECRET",
        "SERVER_TRAFFIC_SECRET_0",
        "SERVER_EARLY_TRAFFIC_SECRET",
    ],
];

/// Decode what `input` says: a byte about the connection, then for each record a byte about it, a length and as many
/// bytes of plaintext.
pub fn records(input: &[u8], tables: &mut Tables) {
    let Some((&about, mut rest)) = input.split_first() else {
        return;
    };
    let vantage = [None, None, Some(End::Client), Some(End::Server)][usize::from(about >> 4 & 3)];
    let (mut sealer, keys) = sealer(about & 15);
    let mut layer = Layer::new("fuzz", vantage, keys);
    let (mut trips, mut time_ns) = (RoundTrips::default(), 0);
    while let Some((&[how, length], left)) = rest.split_first_chunk() {
        let length = usize::from(length) << (how >> 6 & 2);
        let (plain, left) = left.split_at(left.len().min(length));
        rest = left;
        let way = [Direction::Up, Direction::Down][usize::from(how & 1)];
        let record = sealer.record(way, how >> 1 & 3, 20 + (how >> 3 & 3), plain);
        if how & 32 != 0 {
            sealer.update(way);
        }
        let (start, end) = record.split_at(if how & 64 == 0 { 0 } else { record.len() / 2 });
        for part in [start, end].into_iter().filter(|part| !part.is_empty()) {
            time_ns += 1_000_000;
            layer.data(way, time_ns, part, &mut trips, tables);
        }
    }
    layer.finish(tables);
}

/// Keys by direction, and those of TLS 1.3 also by epoch.
enum Sealer {
    Tls12(Box<[tls12::Key; 2]>),
    Tls13(Box<[[tls13::Key; 3]; 2]>),
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// TLS 1.3 with the suites that there are, TLS 1.2 with AES-GCM, ChaCha20-Poly1305 and AES-CCM.
fn sealer(suite: u8) -> (Sealer, KeyLog) {
    let random = hex(&CLIENT_RANDOM);
    if let Some(&suite) = [0xc02f, 0xc030, 0xcca8, 0xc0ac].get(usize::from(suite)) {
        let master = Secret::new(&[1; 48]).expect("as long as it has to be");
        let keys = tls12::keys(suite, &master, &CLIENT_RANDOM, &SERVER_RANDOM);
        let text = format!("CLIENT_RANDOM {random} {}\n", hex(master.as_bytes()));
        return (
            Sealer::Tls12(Box::new(keys.expect("a suite that there is"))),
            key_log(&text),
        );
    }
    let suite = Suite::of(0x1301 + u16::from(suite) % 5).expect("a suite that there is");
    let mut text = String::new();
    let mut byte = 0;
    let keys = LABELS.map(|labels| {
        labels.map(|label| {
            byte += 1;
            let secret = vec![byte; suite.hash_bytes];
            let _ = writeln!(text, "{label} {random} {}", hex(&secret));
            let secret = Secret::new(&secret).expect("as long as it has to be");
            tls13::Key::new(suite, secret).expect("as long as it has to be")
        })
    });
    (Sealer::Tls13(Box::new(keys)), key_log(&text))
}

fn key_log(text: &str) -> KeyLog {
    let log = KeyLog::default();
    let _ = log.read(&mut text.as_bytes(), &mut Stats::default());
    log
}

impl Sealer {
    /// `epoch`: none, handshake, application data, 0-RTT.
    fn record(&mut self, way: Direction, epoch: u8, kind: u8, plain: &[u8]) -> Vec<u8> {
        let Some(epoch) = usize::from(epoch).checked_sub(1) else {
            let [.., high, low] = plain.len().to_be_bytes();
            return [&[kind, 3, 3, high, low], plain].concat();
        };
        match self {
            Self::Tls12(keys) => keys[way as usize].seal(kind, plain),
            Self::Tls13(keys) => keys[way as usize][epoch].seal(kind, plain),
        }
    }

    /// The key of application data is followed by the next one.
    fn update(&mut self, way: Direction) {
        if let Self::Tls13(keys) = self {
            let [_, key, _] = &mut keys[way as usize];
            *key = key.updated().expect("a key of the same suite");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Finished;

    const HANDSHAKE: u8 = 2 << 3;
    const APPLICATION_DATA: u8 = 3 << 3;
    const DOWN: u8 = 1;

    fn portion(how: u8, plain: &[u8]) -> Vec<u8> {
        [&[how, u8::try_from(plain.len()).unwrap()], plain].concat()
    }

    fn hello(kind: u8, version: [u8; 2], random: [u8; 32], rest: &[u8]) -> Vec<u8> {
        let body = [&version[..], &random, rest].concat();
        [&[kind, 0, 0, u8::try_from(body.len()).unwrap()][..], &body].concat()
    }

    /// A handshake, and the preface of HTTP/2.
    fn conversation(about: u8) -> Vec<u8> {
        let suites = [[0xc0, 0x2f], [0xc0, 0x30], [0xcc, 0xa8], [0xc0, 0xac]];
        let client = hello(1, [3, 3], CLIENT_RANDOM, &[0, 0, 2, 0x13, 1, 1, 0, 0, 0]);
        let preface = [
            &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..],
            &[0, 0, 0, 4, 0, 0, 0, 0, 0],
        ]
        .concat();
        let mut portions = vec![vec![about], portion(HANDSHAKE, &client)];
        if let Some(&[high, low]) = suites.get(usize::from(about)) {
            let server = hello(2, [3, 3], SERVER_RANDOM, &[0, high, low, 0]);
            portions.extend([
                portion(DOWN | HANDSHAKE, &server),
                portion(0, &[1]),
                portion(1 << 1 | HANDSHAKE, &[20, 0, 0, 0]),
                portion(1 << 1 | APPLICATION_DATA, &preface),
            ]);
        } else {
            let suite = 1 + about % 5;
            let rest = [0, 0x13, suite, 0, 0, 6, 0, 43, 0, 2, 3, 4];
            let server = hello(2, [3, 3], SERVER_RANDOM, &rest);
            let extensions = [8, 0, 0, 11, 0, 9, 0, 16, 0, 5, 0, 3, 2, b'h', b'2'];
            portions.extend([
                portion(DOWN | HANDSHAKE, &server),
                portion(DOWN | 1 << 1 | HANDSHAKE, &extensions),
                portion(DOWN | 1 << 1 | HANDSHAKE, &[20, 0, 0, 0]),
                portion(1 << 1 | HANDSHAKE, &[20, 0, 0, 0]),
                portion(32 | 2 << 1 | HANDSHAKE, &[24, 0, 0, 1, 0]),
                portion(2 << 1 | APPLICATION_DATA, &preface),
            ]);
        }
        portions.concat()
    }

    fn decoded(input: &[u8]) -> Finished {
        let mut tables = Tables::default();
        records(input, &mut tables);
        tables.finish()
    }

    /// Records that the fuzzer says to open are opened and read, under every suite and behind an
    /// update of the keys.
    #[test]
    fn records_are_opened() {
        for about in 0..9 {
            let finished = decoded(&conversation(about));
            assert_eq!(
                finished.rows("http_frames"),
                1,
                "{about}: {:?}",
                finished.stats
            );
            assert_eq!(finished.stats.get("undecryptable_record"), 0);
        }
    }

    /// Any byte behind the keys may be any other.
    #[test]
    fn damage_is_survived() {
        for conversation in [0, 5].map(conversation) {
            for at in 0..conversation.len() {
                for value in [0, 1, 0x7f, 0xff] {
                    let mut damaged = conversation.clone();
                    damaged[at] = value;
                    decoded(&damaged);
                }
            }
        }
    }
}
