// SPDX-License-Identifier: Apache-2.0
//! Digests of datagrams, by which the same one is found in captures of several places without any key.

use super::batch::{Batch, Item};
use super::driver::Driver;
use super::format;
use crate::arrow::{table, Outlet, Table};
use crate::{DecodeError, Input};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The shortest packet of QUIC that receivers take (RFC 9000 section 10.3).
const MIN_BYTES: usize = 21;
/// The tag at the end of what is encrypted, in which nearly all bytes differ.
const TAG_BYTES: usize = 16;
const MIN_DIFFERENT: usize = 11;

table! {
    /// One datagram that was captured whole.
    "ciphertexts" => Ciphertexts, Ciphertext {
        number: u64,
        digest: u64,
    }
}

/// A row for each encrypted datagram of a capture: `number` in `ip_packets`, and a digest of what UDP carries.
///
/// # Errors
/// If the input cannot be read, or does not start like a capture.
pub fn ciphertexts(input: &Input) -> Result<Table, DecodeError> {
    let mut driver = Driver::new(None);
    let mut format = format(input, &mut driver)?;
    let mut batch = Batch::default();
    let mut rows = Ciphertexts::new(&Outlet::default());
    let mut more = true;
    while more {
        more = format.stretch(&mut driver)?;
        driver.hand_over(&mut batch);
        for item in batch.items.drain(..) {
            let Item::Datagram(datagram, payload) = item else {
                continue;
            };
            let payload = batch.bytes.get(payload).unwrap_or_default();
            if payload.len() == datagram.length_bytes && is_random(payload) {
                let mut hasher = DefaultHasher::new();
                payload.hash(&mut hasher);
                rows.push(Ciphertext {
                    number: datagram.ip_packet,
                    digest: hasher.finish(),
                });
            }
        }
    }
    Ok(if rows.is_empty() {
        Ciphertexts::empty()
    } else {
        rows.finish().unwrap_or_else(Ciphertexts::empty)
    })
}

/// True for a datagram that ends in bytes as random as encrypted ones.
fn is_random(payload: &[u8]) -> bool {
    let Some(last) = payload.last_chunk::<TAG_BYTES>() else {
        return false;
    };
    let mut seen = [false; 256];
    for &byte in last {
        if let Some(seen) = seen.get_mut(usize::from(byte)) {
            *seen = true;
        }
    }
    payload.len() >= MIN_BYTES && seen.iter().filter(|seen| **seen).count() >= MIN_DIFFERENT
}
