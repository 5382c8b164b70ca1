// SPDX-License-Identifier: Apache-2.0
//! A file of any format: the first byte says which, the rest is the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use log_decode::tables::Tables;
use log_decode::{capture, netlog, outline, End, Input, Options, FORMATS};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, file)) = data.split_first() else {
        return;
    };
    let (_, decode) = FORMATS[usize::from(choice) % FORMATS.len()];
    let options = Options {
        vantage: [None, Some(End::Client), Some(End::Server)][usize::from(choice) / FORMATS.len() % 3],
        realtime_minus_monotonic_ns: Some(7),
        ..Options::default()
    };
    let mut tables = Tables::default();
    // An error is an answer; a panic, a hang or memory without bound is not.
    let input = Input::bytes(file);
    let _ = decode(&input, &options, &mut tables);
    let _ = match choice & 64 {
        0 => outline(&input).map(drop).is_ok(),
        _ => netlog::told_end(&input).is_ok() && capture::ciphertexts(&input).is_ok(),
    };
    let _ = tables.finish();
});
