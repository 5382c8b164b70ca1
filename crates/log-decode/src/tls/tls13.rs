// SPDX-License-Identifier: Apache-2.0
//! Record protection of TLS 1.3 (RFC 8446 section 5.2), with the keys that follow one another in one direction.

use super::aead;
use super::keylog::Secret;
use super::record::Opened;
use super::suite::Suite;

/// Number of records that may fail before the keys are given up: others than those at hand may come
/// first.
const MAX_FAILURES: u32 = 64;

/// The key of one epoch.
#[derive(Debug)]
pub(super) struct Key {
    suite: Suite,
    secret: Secret,
    aead: aead::Key,
    iv: [u8; 12],
    sequence: u64,
}

impl Key {
    pub(super) fn new(suite: Suite, secret: Secret) -> Option<Self> {
        let (aead, iv) = suite.traffic_key(&secret)?;
        Some(Self {
            suite,
            secret,
            aead,
            iv,
            sequence: 0,
        })
    }

    /// Length of the plaintext that then stands at the front of `body`.
    fn open(&mut self, header: [u8; 5], body: &mut [u8]) -> Option<usize> {
        let nonce = aead::nonce(self.iv, self.sequence);
        let plain = self.aead.open(nonce, &header, body)?;
        self.sequence += 1;
        Some(plain.len())
    }

    /// A record of type `kind`.
    #[cfg(any(test, fuzzing))]
    pub(super) fn seal(&mut self, kind: u8, content: &[u8]) -> Vec<u8> {
        let length = content.len() + 1 + self.suite.aead.tag_bytes();
        let [.., high, low] = length.to_be_bytes();
        let header = [23, 3, 3, high, low];
        let mut body = [content, &[kind]].concat();
        self.aead
            .seal(aead::nonce(self.iv, self.sequence), &header, &mut body);
        self.sequence += 1;
        [&header[..], &body].concat()
    }

    /// RFC 8446 section 7.2.
    pub(super) fn updated(&self) -> Option<Self> {
        let mut next = [0; 48];
        let next = next.get_mut(..self.suite.hash_bytes)?;
        (self.suite).expand_label(&self.secret, b"traffic upd", next)?;
        Self::new(self.suite, Secret::new(next)?)
    }
}

/// The keys of one direction.
#[derive(Debug, Default)]
pub(super) struct Keys {
    current: Option<Box<Key>>,
    /// Keys that may come into force with the next record, in their order.
    following: Vec<Key>,
    failures: u32,
    /// A copy of a record, where more than one key may fit it.
    copy: Vec<u8>,
}

impl Keys {
    /// Another key may follow, if there is one.
    pub(super) fn follow(&mut self, suite: Suite, secret: Option<Secret>) {
        let key = secret.and_then(|secret| Key::new(suite, secret));
        self.following.extend(key);
    }

    /// True if there is no key at all.
    pub(super) fn is_empty(&self) -> bool {
        self.current.is_none() && self.following.is_empty()
    }

    /// A message has said that the next key comes into force.
    pub(super) fn advance(&mut self) {
        if !self.following.is_empty() {
            self.current = Some(Box::new(self.following.remove(0)));
        }
    }

    /// A `KeyUpdate`: `false` if it makes no sense here.
    pub(super) fn update(&mut self) -> bool {
        let updated = self.current.as_ref().and_then(|key| key.updated());
        let known = updated.is_some();
        if let Some(key) = updated {
            self.current = Some(Box::new(key));
        }
        known
    }

    /// Open a record in place. `None` if no key fits, empty content if another one may fit what follows.
    pub(super) fn open<'a>(&mut self, header: [u8; 5], body: &'a mut [u8]) -> Option<Opened<'a>> {
        let length = if self.following.is_empty() {
            self.current.as_mut()?.open(header, body)?
        } else if let Some(length) = self.try_all(header, body) {
            length
        } else {
            self.failures += 1;
            let nothing = Opened {
                kind: 0,
                content: &[],
            };
            return (self.failures < MAX_FAILURES).then_some(nothing);
        };
        // RFC 8446 section 5.4: zeros, and before them the true type.
        let plain = body.get(..length)?;
        let at = plain.iter().rposition(|&byte| byte != 0)?;
        let (content, rest) = plain.split_at_checked(at)?;
        Some(Opened {
            kind: *rest.first()?,
            content,
        })
    }

    fn try_all(&mut self, header: [u8; 5], body: &mut [u8]) -> Option<usize> {
        self.copy.clear();
        self.copy.extend_from_slice(body);
        if let Some(length) = (self.current.as_mut()).and_then(|key| key.open(header, body)) {
            return Some(length);
        }
        for at in 0..self.following.len() {
            body.copy_from_slice(&self.copy);
            let opened = (self.following.get_mut(at)).and_then(|key| key.open(header, body));
            if opened.is_some() {
                self.following.drain(..at);
                self.advance();
                return opened;
            }
        }
        None
    }
}
