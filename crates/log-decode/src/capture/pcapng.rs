// SPDX-License-Identifier: Apache-2.0
//! pcapng (draft-ietf-opsawg-pcapng): interfaces, packets, and the key logs that a capture may carry.

use super::batch::Item;
use super::blocks::{Block, Blocks, Fields, SECTION_HEADER};
use super::driver::{Driver, Frame};
use super::interface::Interface;
use super::portions::Portions;
use super::Format;
use crate::{Clock, DecodeError, Severity, Source, Stats};
use std::io::Read;

const SECTION: u32 = u32::from_be_bytes(SECTION_HEADER);
pub(super) const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
pub(super) const ENHANCED_PACKET: u32 = 6;
pub(super) const DECRYPTION_SECRETS: u32 = 10;
/// Name resolution, interface statistics and systemd journal carry no packets.
const PACKETLESS: [u32; 3] = [4, 5, 9];

pub(super) const OPT_COMMENT: u16 = 1;
const EPB_FLAGS: u16 = 2;
const EPB_PACKET_ID: u16 = 5;

/// Section 4.7: secrets of TLS, in NSS format.
const TLS_KEY_LOG: u32 = 0x544c_534b;

/// A hostile file could announce interfaces without end.
const MAX_INTERFACES: usize = 1 << 12;

/// A capture in this format.
pub(super) struct Capture<R> {
    blocks: Blocks<R>,
    reader: Reader,
}

impl<R: Read> Capture<R> {
    /// Read on after the type of the first section header.
    pub(super) fn after_magic(file: Portions<R>) -> Self {
        Self {
            blocks: Blocks::after_magic(file),
            reader: Reader {
                interfaces: Vec::new(),
                monotonic: true,
                resolution_ns: 1,
            },
        }
    }
}

impl<R: Read + Send> Format for Capture<R> {
    fn stretch(&mut self, driver: &mut Driver) -> Result<bool, DecodeError> {
        while let Some(block) = self.blocks.next(&mut driver.stats)? {
            self.reader.block(&block, driver);
            if self.blocks.portions.is_spent() {
                self.blocks.portions.hand_over(&mut driver.batch.bytes);
                return Ok(true);
            }
        }
        self.blocks.portions.hand_over(&mut driver.batch.bytes);
        Ok(false)
    }

    fn source(&self) -> Source {
        Source {
            dialect: "pcapng".to_owned(),
            clock: if self.reader.monotonic {
                Clock::Monotonic
            } else {
                Clock::Realtime
            },
            resolution_ns: self.reader.resolution_ns,
            realtime_minus_monotonic_ns: None,
        }
    }
}

struct Reader {
    /// The interfaces of the section.
    interfaces: Vec<Interface>,
    /// True if all interfaces so far say how their clock relates to `CLOCK_MONOTONIC`.
    monotonic: bool,
    resolution_ns: u64,
}

impl Reader {
    fn block(&mut self, block: &Block<'_>, driver: &mut Driver) {
        let whole = match block.kind {
            SECTION => {
                self.interfaces.clear();
                Some(())
            }
            INTERFACE_DESCRIPTION if self.interfaces.len() < MAX_INTERFACES => {
                self.interface(block.body, &mut driver.stats);
                Some(())
            }
            ENHANCED_PACKET => self.packet(block, true, driver),
            OBSOLETE_PACKET => self.packet(block, false, driver),
            DECRYPTION_SECRETS => secrets(block, driver),
            SIMPLE_PACKET => {
                driver.stats.count(
                    "no_timestamp",
                    Severity::DataLoss,
                    "simple packet blocks have no time: capture with enhanced ones",
                );
                Some(())
            }
            kind if PACKETLESS.contains(&kind) => Some(()),
            _ => {
                driver.stats.count(
                    "unknown_block",
                    Severity::Info,
                    "a block type that this decoder does not read",
                );
                Some(())
            }
        };
        if whole.is_none() {
            driver.stats.count(
                "malformed_block",
                Severity::DataLoss,
                "a block contradicts its own lengths",
            );
        }
    }

    fn interface(&mut self, body: Fields<'_>, stats: &mut Stats) {
        let interface = Interface::parse(body, stats);
        self.monotonic &= interface.knows_monotonic();
        self.resolution_ns = self.resolution_ns.max(interface.resolution_ns());
        self.interfaces.push(interface);
    }

    /// Section 4.3, and appendix A for the obsolete block, whose interface has 16 bits. `None` if the block is too
    /// short for what it announces.
    fn packet(&self, block: &Block<'_>, enhanced: bool, driver: &mut Driver) -> Option<()> {
        let body = block.body;
        let interface = if enhanced {
            body.u32(0)?
        } else {
            u32::from(body.u16(0)?)
        };
        let number = (self.interfaces.len() > 1).then_some(interface);
        let Some(interface) = self.interfaces.get(usize::try_from(interface).ok()?) else {
            driver.stats.count(
                "unknown_interface",
                Severity::DataLoss,
                "a packet refers to an interface that was not described",
            );
            return Some(());
        };
        if interface.is_timeless {
            driver.stats.count(
                "no_resolution",
                Severity::DataLoss,
                "packets of an interface whose resolution of time is not known: they are not read",
            );
            return Some(());
        }
        let ticks = u64::from(body.u32(4)?) << 32 | u64::from(body.u32(8)?);
        let Some(time_ns) = interface.time_ns(ticks) else {
            driver.stats.count(
                "malformed_time",
                Severity::DataLoss,
                "packets whose time 64 bits of nanoseconds cannot hold: they are not read",
            );
            return Some(());
        };
        let captured = usize::try_from(body.u32(12)?).ok()?;
        let original = body.u32(16)?;
        let bytes = body.bytes(20, captured)?;
        let (mut flags, mut packet_id, mut dropped) = (0, None, None);
        for option in body.options(20 + captured.next_multiple_of(4)) {
            let Ok((code, value)) = option else {
                driver.stats.count(
                    "malformed_options",
                    Severity::DataLoss,
                    "a packet's options contradict their lengths: its direction and comments are lost",
                );
                break;
            };
            match code {
                EPB_FLAGS => flags = value.u32(0)?,
                EPB_PACKET_ID => packet_id = value.u64(0),
                OPT_COMMENT => dropped = value.text().strip_prefix("dropped: ").or(dropped),
                _ => {}
            }
        }
        driver.frame(
            interface.link,
            &Frame {
                time_ns,
                bytes,
                at: block.at + 20,
                original,
                flags,
                packet_index: interface.packet_index(packet_id),
                dropped,
                interface: number,
                is_links: interface.knows_monotonic(),
            },
        );
        Some(())
    }
}

/// Section 4.7. `None` if the block is too short for what it announces.
fn secrets(block: &Block<'_>, driver: &mut Driver) -> Option<()> {
    let body = block.body;
    if body.u32(0)? != TLS_KEY_LOG {
        driver.stats.count(
            "unknown_secrets",
            Severity::Notice,
            "secrets of another kind than a TLS key log",
        );
        return Some(());
    }
    let length = usize::try_from(body.u32(4)?).ok()?;
    let at = block.at + 8;
    let text = at..at + body.bytes(8, length)?.len();
    driver.batch.items.push(Item::Secrets(text));
    Some(())
}
