// SPDX-License-Identifier: Apache-2.0
//! Record protection of TLS 1.2's AEAD suites: AES-GCM (RFC 5288), AES-CCM (RFC 6655, RFC 7251) and ChaCha20-Poly1305
//! (RFC 7905), with a pre-shared key too (RFC 5487, RFC 8442): the master secret in the key log is all they need.

use super::aead::{self, Algorithm};
use super::keylog::{Random, Secret};
use ring::hmac;

const CHACHA20: [u16; 7] = [0xcca8, 0xcca9, 0xccaa, 0xccab, 0xccac, 0xccad, 0xccae];
const AES_128_GCM: [u16; 13] = [
    0x009c, 0x009e, 0x00a0, 0x00a2, 0x00a4, 0x00a8, 0x00aa, 0x00ac, 0xc02b, 0xc02d, 0xc02f, 0xc031,
    0xd001,
];
const AES_256_GCM: [u16; 13] = [
    0x009d, 0x009f, 0x00a1, 0x00a3, 0x00a5, 0x00a9, 0x00ab, 0x00ad, 0xc02c, 0xc02e, 0xc030, 0xc032,
    0xd002,
];
const AES_128_CCM: [u16; 6] = [0xc09c, 0xc09e, 0xc0a4, 0xc0a6, 0xc0ac, 0xd005];
const AES_256_CCM: [u16; 5] = [0xc09d, 0xc09f, 0xc0a5, 0xc0a7, 0xc0ad];
const AES_128_CCM_8: [u16; 6] = [0xc0a0, 0xc0a2, 0xc0a8, 0xc0aa, 0xc0ae, 0xd003];
const AES_256_CCM_8: [u16; 5] = [0xc0a1, 0xc0a3, 0xc0a9, 0xc0ab, 0xc0af];
/// Stands before every record of AES-GCM and AES-CCM.
const EXPLICIT_NONCE_BYTES: usize = 8;

/// The key of one direction.
#[derive(Debug)]
pub(super) struct Key {
    aead: aead::Key,
    tag_bytes: usize,
    iv: [u8; 12],
    /// Half of the nonce stands in the record.
    explicit: bool,
    sequence: u64,
}

/// Algorithms of a cipher suite; `None` for those that cannot be opened.
fn suite(id: u16) -> Option<(Algorithm, hmac::Algorithm)> {
    Some(match id {
        id if CHACHA20.contains(&id) => (Algorithm::ChaCha20Poly1305, hmac::HMAC_SHA256),
        id if AES_128_GCM.contains(&id) => (Algorithm::Aes128Gcm, hmac::HMAC_SHA256),
        id if AES_256_GCM.contains(&id) => (Algorithm::Aes256Gcm, hmac::HMAC_SHA384),
        id if AES_128_CCM.contains(&id) => (Algorithm::Aes128Ccm, hmac::HMAC_SHA256),
        id if AES_256_CCM.contains(&id) => (Algorithm::Aes256Ccm, hmac::HMAC_SHA256),
        id if AES_128_CCM_8.contains(&id) => (Algorithm::Aes128Ccm8, hmac::HMAC_SHA256),
        id if AES_256_CCM_8.contains(&id) => (Algorithm::Aes256Ccm8, hmac::HMAC_SHA256),
        _ => return None,
    })
}

/// True if records of this cipher suite can be opened.
pub(super) fn is_supported(id: u16) -> bool {
    suite(id).is_some()
}

/// The keys of client and server (RFC 5246 section 6.3).
pub(super) fn keys(id: u16, master: &Secret, client: &Random, server: &Random) -> Option<[Key; 2]> {
    let (algorithm, hash) = suite(id)?;
    let iv_bytes = if CHACHA20.contains(&id) { 12 } else { 4 };
    let seed = [&b"key expansion"[..], server, client].concat();
    let block = prf(
        hash,
        master.as_bytes(),
        &seed,
        2 * (algorithm.key_bytes() + iv_bytes),
    );
    let (keys, ivs) = block.split_at_checked(2 * algorithm.key_bytes())?;
    let key = |at: usize| {
        let key = keys.chunks(algorithm.key_bytes()).nth(at)?;
        let mut iv = [0; 12];
        iv.get_mut(..iv_bytes)?
            .copy_from_slice(ivs.chunks(iv_bytes).nth(at)?);
        Some(Key {
            aead: aead::Key::new(algorithm, key)?,
            tag_bytes: algorithm.tag_bytes(),
            iv,
            explicit: iv_bytes == 4,
            sequence: 0,
        })
    };
    Some([key(0)?, key(1)?])
}

/// RFC 5246 section 5; `seed` begins with the label.
fn prf(hash: hmac::Algorithm, secret: &[u8], seed: &[u8], length: usize) -> Vec<u8> {
    let key = hmac::Key::new(hash, secret);
    let mut block = Vec::with_capacity(length + 48);
    let mut a = hmac::sign(&key, seed);
    while block.len() < length {
        let mut context = hmac::Context::with_key(&key);
        context.update(a.as_ref());
        context.update(seed);
        block.extend_from_slice(context.sign().as_ref());
        a = hmac::sign(&key, a.as_ref());
    }
    block.truncate(length);
    block
}

impl Key {
    /// A record of type `kind`.
    #[cfg(any(test, fuzzing))]
    pub(super) fn seal(&mut self, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut iv = self.iv;
        let number = self.sequence.to_be_bytes();
        let explicit = if self.explicit { &number[..] } else { &[] };
        if self.explicit {
            iv[4..].copy_from_slice(&number);
        } else {
            iv = aead::nonce(iv, self.sequence);
        }
        let [.., high, low] = content.len().to_be_bytes();
        let authenticated = [&number[..], &[kind, 3, 3, high, low]].concat();
        let mut body = content.to_vec();
        self.aead.seal(iv, &authenticated, &mut body);
        self.sequence += 1;
        let [.., high, low] = (explicit.len() + body.len()).to_be_bytes();
        [&[kind, 3, 3, high, low], explicit, &body].concat()
    }

    /// Open a record in place; `None` if the key does not fit.
    pub(super) fn open<'a>(&mut self, header: [u8; 5], body: &'a mut [u8]) -> Option<&'a [u8]> {
        let explicit_bytes = if self.explicit {
            EXPLICIT_NONCE_BYTES
        } else {
            0
        };
        let (explicit, sealed) = body.split_at_mut_checked(explicit_bytes)?;
        let nonce = if self.explicit {
            let mut iv = self.iv;
            iv.get_mut(4..)?.copy_from_slice(explicit);
            iv
        } else {
            aead::nonce(self.iv, self.sequence)
        };
        let length = u16::try_from(sealed.len().checked_sub(self.tag_bytes)?).ok()?;
        let mut authenticated = [0; 13];
        let (number, rest) = authenticated.split_at_mut(8);
        number.copy_from_slice(&self.sequence.to_be_bytes());
        rest.get_mut(..3)?.copy_from_slice(header.get(..3)?);
        rest.get_mut(3..)?.copy_from_slice(&length.to_be_bytes());
        let plain = self.aead.open(nonce, &authenticated, sealed)?;
        self.sequence += 1;
        Some(plain)
    }
}
