// SPDX-License-Identifier: Apache-2.0
//! QUIC and TLS behind decryption: what the fuzzer makes up is the plaintext of packets and records, which are sealed
//! with keys that the decoder knows. The first byte says which of the two.
#![no_main]

use libfuzzer_sys::fuzz_target;
use log_decode::fuzzing::{packets, records};
use log_decode::tables::Tables;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, input)) = data.split_first() else {
        return;
    };
    let mut tables = Tables::default();
    if choice & 1 == 0 {
        packets(input, &mut tables);
    } else {
        records(input, &mut tables);
    }
    let _ = tables.finish();
});
