// SPDX-License-Identifier: Apache-2.0
//! The keys of one connection: which there are at each encryption level, and the update of those of 1-RTT.

use super::header::{Kind, Long, Version};
use super::protection::{next_secret, HeaderKey, PacketKeys, PayloadKey, Unprotected, TAG_BYTES};
use super::trial::Trial;
use super::wire::ConnectionId;
use crate::tls::keylog::{KeyLog, Label, Random, Secret};
use crate::tls::suite::Suite;
use crate::Direction;

/// Connection ids that Initial keys may follow from: the client's, a Retry's, each in two versions.
const MAX_INITIAL_KEYS: usize = 4;

/// Result of an attempt to open a packet; the plain payload stands in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Opening {
    Opened {
        header: Unprotected,
        /// Offset of the payload's end in the buffer.
        end: usize,
    },
    /// The key log has no secret for it, or the `ClientHello` is not known.
    NoKeys,
    /// The key log has secrets for this connection, but not the one of 0-RTT.
    NoEarlyKeys,
    /// The server chose a cipher suite that cannot be opened.
    NoSuite(Option<u16>),
    /// There are keys, and they do not fit. `proven`: they have fitted before.
    Failed { proven: bool },
}

/// A packet that is to be opened.
#[derive(Clone, Copy)]
pub(super) struct Sealed<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) number_at: usize,
    pub(super) direction: Direction,
    /// The largest packet number so far, of its space and direction.
    pub(super) largest: Option<u64>,
}

pub(super) struct Keyring {
    log: KeyLog,
    /// The client's, by which the key log names connections.
    pub(super) random: Option<Random>,
    suite: Option<u16>,
    /// Newest last.
    initial: Vec<(Version, ConnectionId, [PacketKeys; 2])>,
    early: Option<PacketKeys>,
    handshake: [Option<PacketKeys>; 2],
    application: [Option<Box<Phases>>; 2],
}

impl Keyring {
    pub(super) fn new(log: KeyLog) -> Self {
        Self {
            log,
            random: None,
            suite: None,
            initial: Vec::new(),
            early: None,
            handshake: [None, None],
            application: [None, None],
        }
    }

    /// The server chose a cipher suite.
    pub(super) fn choose(&mut self, suite: u16) {
        self.suite = Some(suite);
    }

    /// Add the Initial keys that follow from `dcid` (RFC 9001 section 5.2).
    pub(super) fn add_initial(&mut self, version: Version, dcid: &ConnectionId) {
        let known = (self.initial.iter()).any(|(v, id, _)| *v == version && id == dcid);
        if known || self.initial.len() >= MAX_INITIAL_KEYS {
            return;
        }
        let keys = |direction| PacketKeys::initial(version, dcid, direction);
        if let (Some(up), Some(down)) = (keys(Direction::Up), keys(Direction::Down)) {
            self.initial.push((version, *dcid, [up, down]));
        }
    }

    /// Open a packet with a long header into `buffer`.
    pub(super) fn open_long(
        &mut self,
        long: &Long<'_>,
        sealed: Sealed<'_>,
        buffer: &mut Vec<u8>,
    ) -> Opening {
        let side = sealed.direction as usize;
        match long.kind {
            Kind::Initial => {
                let keys =
                    (self.initial.iter().rev()).filter(|(version, ..)| *version == long.version);
                for keys in keys.filter_map(|(_, _, keys)| keys.get(side)) {
                    if let Some(opened) = attempt(keys, sealed, buffer) {
                        return opened;
                    }
                }
                Opening::Failed { proven: true }
            }
            Kind::ZeroRtt => {
                // The suite is that of the session that is resumed, which need not be in the file.
                let secret = self.secret(Label::ClientEarlyTraffic);
                let other = self.secret(Label::ClientHandshakeTraffic);
                if secret.is_none() && other.is_some() {
                    return Opening::NoEarlyKeys;
                }
                open_with(&mut self.early, None, secret, long.version, sealed, buffer)
            }
            Kind::Handshake => {
                let secret = self.secret(match sealed.direction {
                    Direction::Up => Label::ClientHandshakeTraffic,
                    Direction::Down => Label::ServerHandshakeTraffic,
                });
                let Some(slot) = self.handshake.get_mut(side) else {
                    return Opening::NoKeys;
                };
                open_with(slot, self.suite, secret, long.version, sealed, buffer)
            }
            Kind::Retry => Opening::NoKeys,
        }
    }

    /// Open a packet with a short header into `buffer`.
    pub(super) fn open_short(
        &mut self,
        version: Version,
        sealed: Sealed<'_>,
        buffer: &mut Vec<u8>,
    ) -> Opening {
        let side = sealed.direction as usize;
        if let Some(Some(phases)) = self.application.get_mut(side) {
            return phases
                .open(sealed, buffer)
                .unwrap_or(Opening::Failed { proven: true });
        }
        let secret = self.secret(match sealed.direction {
            Direction::Up => Label::ClientTraffic,
            Direction::Down => Label::ServerTraffic,
        });
        let Some(secret) = secret else {
            return Opening::NoKeys;
        };
        let Some(suites) = suites(self.suite, &secret) else {
            return Opening::NoSuite(self.suite);
        };
        for suite in suites {
            if let Some(mut phases) = Phases::new(suite, version, secret) {
                if let Some(opened) = phases.open(sealed, buffer) {
                    if let Some(slot) = self.application.get_mut(side) {
                        *slot = Some(Box::new(phases));
                    }
                    return opened;
                }
            }
        }
        Opening::Failed { proven: false }
    }

    /// The keys that may open 1-RTT packets when nothing but their direction is known.
    pub(super) fn trial(&self, version: Version, way: Direction) -> Option<Trial> {
        let secret = self.secret(match way {
            Direction::Up => Label::ClientTraffic,
            Direction::Down => Label::ServerTraffic,
        })?;
        Trial::new(self.suite?, version, &secret)
    }

    fn secret(&self, label: Label) -> Option<Secret> {
        self.log.lookup(label, self.random.as_ref()?)
    }
}

/// Suites that may belong to a secret: the chosen one, else all whose hash is as long; `None` if it cannot be opened.
fn suites(chosen: Option<u16>, secret: &Secret) -> Option<impl Iterator<Item = Suite> + use<>> {
    let ids = match (chosen, secret.as_bytes().len()) {
        (Some(chosen), _) => [Some(chosen), None, None],
        (None, 48) => [Some(0x1302), None, None],
        (None, _) => [0x1301, 0x1303, 0x1304].map(Some),
    };
    let suites = ids.map(|id| Suite::of(id?).filter(|suite| suite.aead.tag_bytes() == TAG_BYTES));
    suites.first()?.as_ref()?;
    Some(suites.into_iter().flatten())
}

/// Open with the keys in `slot`, else with those that follow from `secret`, and keep what fits.
fn open_with(
    slot: &mut Option<PacketKeys>,
    suite: Option<u16>,
    secret: Option<Secret>,
    version: Version,
    sealed: Sealed<'_>,
    buffer: &mut Vec<u8>,
) -> Opening {
    if let Some(keys) = slot {
        return attempt(keys, sealed, buffer).unwrap_or(Opening::Failed { proven: true });
    }
    let Some(secret) = secret else {
        return Opening::NoKeys;
    };
    let Some(suites) = suites(suite, &secret) else {
        return Opening::NoSuite(suite);
    };
    for keys in suites.filter_map(|suite| PacketKeys::new(suite, version, &secret)) {
        if let Some(opened) = attempt(&keys, sealed, buffer) {
            *slot = Some(keys);
            return opened;
        }
    }
    Opening::Failed { proven: false }
}

/// Open a copy in `buffer`, because what fails to open is lost.
fn attempt(keys: &PacketKeys, sealed: Sealed<'_>, buffer: &mut Vec<u8>) -> Option<Opening> {
    let header = unprotect(&keys.header, sealed, buffer)?;
    open_payload(&keys.payload, header, buffer)
}

pub(super) fn unprotect(
    key: &HeaderKey,
    sealed: Sealed<'_>,
    buffer: &mut Vec<u8>,
) -> Option<Unprotected> {
    buffer.clear();
    buffer.extend_from_slice(sealed.bytes);
    key.unprotect(buffer, sealed.number_at, sealed.largest)
}

pub(super) fn open_payload(
    key: &PayloadKey,
    header: Unprotected,
    buffer: &mut [u8],
) -> Option<Opening> {
    let end = buffer.len().checked_sub(TAG_BYTES)?;
    let (head, payload) = buffer.split_at_mut_checked(header.payload_at)?;
    key.open(header.number, head, payload)?;
    Some(Opening::Opened { header, end })
}

const KEY_PHASE: u8 = 4;

/// The keys of 1-RTT packets of one direction, phase after phase (RFC 9001 section 6).
struct Phases {
    suite: Suite,
    version: Version,
    header: HeaderKey,
    secret: Secret,
    current: PayloadKey,
    bit: u8,
    /// The lowest packet number of the current phase.
    since: u64,
    previous: Option<PayloadKey>,
    next: Option<(Secret, PayloadKey)>,
}

impl Phases {
    fn new(suite: Suite, version: Version, secret: Secret) -> Option<Self> {
        Some(Self {
            suite,
            version,
            header: HeaderKey::new(suite, version, &secret)?,
            current: PayloadKey::new(suite, version, &secret)?,
            secret,
            bit: 0,
            since: 0,
            previous: None,
            next: None,
        })
    }

    fn open(&mut self, sealed: Sealed<'_>, buffer: &mut Vec<u8>) -> Option<Opening> {
        let header = unprotect(&self.header, sealed, buffer)?;
        if header.first & KEY_PHASE == self.bit {
            let opened = open_payload(&self.current, header, buffer)?;
            self.since = self.since.min(header.number);
            return Some(opened);
        }
        if header.number < self.since {
            return open_payload(self.previous.as_ref()?, header, buffer);
        }
        if self.next.is_none() {
            let secret = next_secret(self.suite, self.version, &self.secret)?;
            let key = PayloadKey::new(self.suite, self.version, &secret)?;
            self.next = Some((secret, key));
        }
        let opened = open_payload(&self.next.as_ref()?.1, header, buffer)?;
        let (secret, key) = self.next.take()?;
        self.secret = secret;
        self.previous = Some(std::mem::replace(&mut self.current, key));
        self.bit = header.first & KEY_PHASE;
        self.since = header.number;
        Some(opened)
    }
}
