// SPDX-License-Identifier: Apache-2.0
//! HTTP behind decryption, which a made capture reaches only with keys: the first byte says which version, then come
//! portions of bytes, each behind a byte for direction and stream and one for its length.
#![no_main]

use libfuzzer_sys::fuzz_target;
use log_decode::http::{h1, h2, h3};
use log_decode::tables::Tables;
use log_decode::{Direction, End};

/// (direction, stream, bytes) of each portion.
fn portions(mut input: &[u8]) -> impl Iterator<Item = (Direction, u64, &[u8])> {
    std::iter::from_fn(move || {
        let (&[how, length], rest) = input.split_first_chunk()?;
        let direction = if how & 1 == 0 { Direction::Up } else { Direction::Down };
        let (bytes, rest) = rest.split_at(rest.len().min(usize::from(length)));
        input = rest;
        Some((direction, u64::from(how >> 1), bytes))
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((&version, input)) = data.split_first() else {
        return;
    };
    let mut tables = Tables::default();
    let name = String::from("fuzz");
    match version % 3 {
        0 => {
            let mut connection = h1::Connection::new(name, Some(End::Client), "https");
            for (time_ns, (direction, _, bytes)) in (0..).zip(portions(input)) {
                connection.data(direction, time_ns, bytes, &mut tables);
            }
            connection.finish(&mut tables);
        }
        1 => {
            let mut connection = h2::Connection::new(name, Some(End::Server));
            for (time_ns, (direction, stream, bytes)) in (0..).zip(portions(input)) {
                if stream == 127 {
                    connection.gap(direction, 1, &mut tables);
                }
                connection.data(direction, time_ns, bytes, &mut tables);
            }
            connection.finish(&mut tables);
        }
        _ => {
            let mut connection = h3::Connection::new(name, None);
            for (time_ns, (direction, stream, bytes)) in (0..).zip(portions(input)) {
                if stream & 64 != 0 {
                    connection.reset(direction, stream & 15, 7, time_ns, &mut tables);
                }
                connection.stream_data(direction, stream & 15, time_ns, bytes, stream & 32 != 0, &mut tables);
            }
            connection.finish(&mut tables);
        }
    }
    let _ = tables.finish();
});
