// SPDX-License-Identifier: Apache-2.0
//! Key logs in NSS format (draft-ietf-tls-keylogfile): a label, the client's random and a secret a line.

use crate::{Severity, Stats};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, BufRead};
use std::rc::Rc;

/// The secrets that open something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// The master secret of TLS 1.2.
    ClientRandom,
    /// Secret that opens 0-RTT data.
    ClientEarlyTraffic,
    ClientHandshakeTraffic,
    ServerHandshakeTraffic,
    ClientTraffic,
    ServerTraffic,
}

const LABELS: usize = 6;

/// Other labels of key logs: known, and of no use for opening records.
const OF_NO_USE: [&str; 7] = [
    "EARLY_EXPORTER_MASTER_SECRET",
    "EARLY_EXPORTER_SECRET",
    "EXPORTER_SECRET",
    "ECH_SECRET",
    "ECH_CONFIG",
    "RSA",
    "PMS_CLIENT_RANDOM",
];

fn label(name: &str) -> Option<Label> {
    // Drafts of QUIC put a prefix before the labels of TLS 1.3.
    Some(match name.strip_prefix("QUIC_").unwrap_or(name) {
        "CLIENT_RANDOM" => Label::ClientRandom,
        "CLIENT_EARLY_TRAFFIC_SECRET" => Label::ClientEarlyTraffic,
        "CLIENT_HANDSHAKE_TRAFFIC_SECRET" => Label::ClientHandshakeTraffic,
        "SERVER_HANDSHAKE_TRAFFIC_SECRET" => Label::ServerHandshakeTraffic,
        "CLIENT_TRAFFIC_SECRET_0" => Label::ClientTraffic,
        "SERVER_TRAFFIC_SECRET_0" => Label::ServerTraffic,
        _ => return None,
    })
}

/// The longest secret: an output of SHA-384, and TLS 1.2's master secret.
const MAX_SECRET_BYTES: usize = 48;

/// One secret.
#[derive(Clone, Copy)]
pub(crate) struct Secret {
    bytes: [u8; MAX_SECRET_BYTES],
    length: usize,
}

impl Secret {
    pub(crate) fn new(secret: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_SECRET_BYTES];
        bytes.get_mut(..secret.len())?.copy_from_slice(secret);
        Some(Self {
            bytes,
            length: secret.len(),
        })
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "a secret of {} bytes", self.length)
    }
}

pub(crate) type Random = [u8; 32];

#[derive(Debug, Default)]
struct Session {
    secrets: [Option<Secret>; LABELS],
    used: bool,
}

/// A hostile key log cannot grow without bound; a day of browsing has some thousands.
const MAX_SESSIONS: usize = 1 << 17;
/// No line of a key log is longer, by far.
const MAX_LINE_BYTES: u64 = 1 << 12;

/// All secrets known so far; clones share them, because a capture may bring more while it is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyLog(Rc<RefCell<HashMap<Random, Session>>>);

impl KeyLog {
    /// Add the secrets of one key log.
    ///
    /// # Errors
    /// If it cannot be read; lines that are not of the format are counted.
    pub(crate) fn read(
        &self,
        input: &mut (impl BufRead + ?Sized),
        stats: &mut Stats,
    ) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = io::Read::take(&mut *input, MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(());
            }
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if !text.is_empty() && !text.starts_with('#') && self.line(text, stats).is_none() {
                stats.count(
                    "bad_key_log_line",
                    Severity::Notice,
                    "a line of a key log that is no label, client random and secret in hexadecimal",
                );
            }
        }
    }

    /// `None` if the line is not of the format.
    fn line(&self, line: &str, stats: &mut Stats) -> Option<()> {
        let mut words = line.split_ascii_whitespace();
        let (name, random, secret) = (words.next()?, words.next()?, words.next()?);
        let Some(label) = label(name) else {
            return OF_NO_USE.contains(&name).then_some(());
        };
        let random: Random = hex(random)?.try_into().ok()?;
        let secret = Secret::new(&hex(secret)?)?;
        let mut sessions = self.0.borrow_mut();
        if sessions.len() >= MAX_SESSIONS && !sessions.contains_key(&random) {
            stats.count(
                "too_many_keys",
                Severity::DataLoss,
                "the key log holds more sessions than are kept: cut it to those of the capture",
            );
            return Some(());
        }
        let session = sessions.entry(random).or_default();
        if let Some(slot) = session.secrets.get_mut(label as usize) {
            *slot = Some(secret);
        }
        Some(())
    }

    /// The secret of the connection whose client sent `random`.
    pub(crate) fn lookup(&self, label: Label, random: &Random) -> Option<Secret> {
        let mut sessions = self.0.borrow_mut();
        let session = sessions.get_mut(random)?;
        session.used = true;
        *session.secrets.get(label as usize)?
    }

    /// Number of sessions that are known.
    pub(crate) fn sessions(&self) -> usize {
        self.0.borrow().len()
    }

    /// The traffic secrets of client and server of sessions that no connection has asked for, at most so many; whether
    /// there are more.
    pub(crate) fn unused_traffic(&self, most: usize) -> (Vec<(Random, [Secret; 2])>, bool) {
        let sessions = self.0.borrow();
        let secret = |session: &Session, label: Label| *session.secrets.get(label as usize)?;
        let mut unused = (sessions.iter().filter(|(_, session)| !session.used)).filter_map(
            |(random, session)| {
                let up = secret(session, Label::ClientTraffic)?;
                Some((*random, [up, secret(session, Label::ServerTraffic)?]))
            },
        );
        let found = unused.by_ref().take(most).collect();
        (found, unused.next().is_some())
    }

    /// Number of sessions that no connection has asked for.
    pub(crate) fn unused(&self) -> u64 {
        let sessions = self.0.borrow();
        sessions.values().filter(|session| !session.used).count() as u64
    }
}

/// Bytes from hexadecimal digits.
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| match pair {
            &[high, low] => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                u8::try_from(digit(high)? << 4 | digit(low)?).ok()
            }
            _ => None,
        })
        .collect()
}
