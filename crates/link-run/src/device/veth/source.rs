// SPDX-License-Identifier: Apache-2.0
//! Packets from an end, through its veth pair.

use std::io;
use std::os::fd::RawFd;
use std::thread;

use super::{ETHERNET, IPV4, IPV6};
use crate::clock::{monotonic_ns, StampClock};
use crate::device::counters::DeviceCounters;
use crate::device::ring::{Frame, Ring, Shape, BEFORE_FRAME};
use crate::device::{Lost, Received, Source, FRAME};
use crate::vnet::Offload;

/// Frames of each size: the kernel keeps all of a ring alike, so there is one for single packets, one for the
/// super-packets of a paced sender, and one for the largest.
const FRAMES: [u32; 3] = [8192, 1024, 384];
/// Largest frame in the second ring.
const MIDDLE: u32 = 17 * 1024 - BEFORE_FRAME;

/// The rings on the device of an end.
#[derive(Debug)]
pub struct Rings([Ring; 3]);

impl Rings {
    /// Opens the rings on a device of this thread's namespace.
    ///
    /// # Errors
    /// If there is no such device, or no memory.
    pub fn open(device: &str, mtu: u16) -> io::Result<Self> {
        let single = u32::from(mtu) + u32::from(ETHERNET);
        let middle = MIDDLE.max(single);
        let takes = [(0, single), (single + 1, middle), (middle + 1, FRAME)];
        // Each waits for the kernel's other processors, so they do it together.
        let rings = thread::scope(|scope| {
            [0, 1, 2]
                .map(|ring: usize| {
                    let shape = Shape {
                        takes: takes[ring],
                        keeps: takes[ring].1,
                        frames: FRAMES[ring],
                    };
                    scope.spawn(move || Ring::open(device, shape))
                })
                .map(|opening| {
                    opening
                        .join()
                        .unwrap_or_else(|_| Err(io::Error::other("opening a ring crashed")))
                })
        });
        let [single, middle, large] = rings;
        Ok(Self([single?, middle?, large?]))
    }

    /// The ring with the oldest frame.
    fn oldest(&self) -> Option<usize> {
        let stamped = |ring: usize| Some((self.0[ring].next_stamp_ns()?, ring));
        let first = || (0..self.0.len()).filter_map(stamped).min();
        // While one ring is looked at, an older frame may come to one that was empty before: whatever is older than a
        // frame that was seen is there when it is looked for again.
        first()?;
        first().map(|(_, ring)| ring)
    }
}

/// Packets that an end sends.
#[derive(Debug)]
pub struct VethSource {
    rings: Rings,
    clock: StampClock,
    /// Counters of the near device of the pair, which also counts what a processor's backlog had no room for.
    counters: DeviceCounters,
}

impl VethSource {
    /// A source that reads rings on the end's device.
    pub fn new(rings: Rings, counters: DeviceCounters) -> Self {
        Self {
            rings,
            clock: StampClock::default(),
            counters,
        }
    }
}

impl Source for VethSource {
    fn fds(&self) -> Vec<RawFd> {
        self.rings.0.iter().map(Ring::fd).collect()
    }

    fn receive(&mut self, take: &mut dyn FnMut(Received<'_>)) -> io::Result<bool> {
        let Some(oldest) = self.rings.oldest() else {
            return Ok(false);
        };
        let clock = &mut self.clock;
        self.rings.0[oldest].take(|frame| {
            let Frame {
                header,
                bytes,
                whole,
                stamp_ns,
            } = frame;
            let Some((ethernet, packet)) = bytes.split_at_checked(ETHERNET.into()) else {
                return;
            };
            if [IPV4, IPV6].contains(&[ethernet[12], ethernet[13]]) {
                take(Received {
                    packet,
                    offload: Offload::decode(header, ETHERNET).filter(|_| whole),
                    arrival_ns: Some(clock.monotonic_ns(stamp_ns, monotonic_ns())),
                });
            }
        });
        Ok(true)
    }

    fn is_crowded(&self) -> bool {
        self.rings.0.iter().any(Ring::is_crowded)
    }

    fn lost(&mut self) -> io::Result<Lost> {
        let mut unread = 0;
        for ring in &mut self.rings.0 {
            unread += ring.overflowed()?;
        }
        Ok(Lost {
            device: self.counters.transmit_drops()?,
            unread,
        })
    }

    fn offloads(&self) -> &[&'static str] {
        &["csum", "tso4", "tso6", "tso_ecn", "uso4", "uso6"]
    }
}
