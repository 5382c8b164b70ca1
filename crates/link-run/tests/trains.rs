// SPDX-License-Identifier: Apache-2.0
//! Segments that are due together are put together again for the way to the kernel.

mod super_packet;

use link_run::log::record::MARKED;
use link_run::pool::{Pool, HEADROOM};
use link_run::segment::Segments;
use link_run::train;
use link_run::vnet::{encode_super, Offload};

use super_packet::{KINDS, SIZE};

/// A pool with the segments of a super-packet, as the link keeps them.
fn segments_in_pool(packet: &[u8], offload: Offload) -> (Pool, Vec<u32>) {
    let segments = Segments::new(packet, offload).expect("a super-packet");
    let mut pool = Pool::new(1500);
    let slots = (0..segments.count())
        .map(|number| {
            let slot = pool.take();
            let entry = pool.get_mut(slot);
            entry.bytes.clear();
            entry.bytes.resize(HEADROOM, 0);
            segments.write(number, &mut entry.bytes);
            entry.checksum = segments.checksum();
            entry.headers = segments.headers();
            entry.record.index = u32::try_from(number).expect("few");
            slot
        })
        .collect();
    (pool, slots)
}

/// Whichever neighbours are put together for the way to the kernel: cut again, they are what they were, bit for bit.
#[test]
fn a_train_is_cut_into_what_it_was_made_of() {
    for kind in KINDS {
        let (packet, offload) = kind.build(4 * usize::from(SIZE) + 300);
        let (pool, slots) = segments_in_pool(&packet, offload);
        for train in [&slots[..], &slots[1..3], &slots[2..], &slots[..2]] {
            let mut frame = Vec::new();
            let whole = train::head(&pool, train, &mut frame).expect("segments");
            for slot in train {
                frame.extend_from_slice(&pool.get(*slot).packet()[usize::from(whole.headers)..]);
            }
            let offload = Offload::decode(encode_super(&whole, 14), 14).expect("understood");
            let again = Segments::new(&frame[HEADROOM..], offload).expect("a super-packet");
            assert_eq!(again.count(), train.len());
            for (number, slot) in train.iter().enumerate() {
                let mut out = Vec::new();
                again.write(number, &mut out);
                assert_eq!(out, pool.get(*slot).packet(), "{kind:?} {number}");
            }
        }
    }
}

/// A train goes on only with the very next segment, whole and untouched, and ends behind a short one.
#[test]
fn a_train_has_no_gaps() {
    let (packet, offload) = KINDS[0].build(3 * usize::from(SIZE) + 300);
    let (mut pool, slots) = segments_in_pool(&packet, offload);
    let continues = |pool: &Pool, last: usize, next: usize| {
        let [first, last, next] = [0, last, next].map(|at| pool.get(slots[at]));
        train::continues(first, last, next)
    };
    assert!(continues(&pool, 0, 1) && continues(&pool, 2, 3));
    assert!(!continues(&pool, 0, 2), "one is missing");
    assert!(!continues(&pool, 1, 1), "a copy");
    pool.get_mut(slots[1]).record.flags = MARKED;
    assert!(!continues(&pool, 0, 1), "the headers would lose the mark");
    pool.get_mut(slots[0]).record.flags = MARKED;
    assert!(continues(&pool, 0, 1), "marked alike");
    pool.get_mut(slots[1]).record.source_burst = 1;
    assert!(!continues(&pool, 0, 1), "of another super-packet");
    pool.get_mut(slots[2]).corrupt(5);
    assert!(!continues(&pool, 1, 2), "corrupted");
    let mut short = pool.get(slots[3]).bytes.clone();
    short.extend_from_slice(&[0; 100]);
    pool.get_mut(slots[0]).bytes.truncate(short.len() - 50);
    assert!(!continues(&pool, 0, 1), "longer than the first");
}
