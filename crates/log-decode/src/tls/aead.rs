// SPDX-License-Identifier: Apache-2.0
//! Authenticated encryption (RFC 5116) of all cipher suites behind one face: `ring` has no AES-CCM (RFC 3610, RFC
//! 6655).

use aes::{Aes128, Aes256};
use ccm::aead::{array::Array, AeadInOut, KeyInit};
use ccm::consts::{U12, U16, U8};
use ccm::Ccm;
use ring::aead::{self, Aad, LessSafeKey, UnboundKey};

/// Nonce that all of them have in common.
pub(crate) type Nonce = [u8; 12];

/// The IV with a sequence number added (RFC 8446 section 5.3, RFC 7905 section 2, RFC 9001 section 5.3).
#[inline]
pub(crate) fn nonce(mut iv: Nonce, sequence: u64) -> Nonce {
    for (byte, number) in iv.iter_mut().skip(4).zip(sequence.to_be_bytes()) {
        *byte ^= number;
    }
    iv
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
    Aes128Ccm,
    Aes256Ccm,
    Aes128Ccm8,
    Aes256Ccm8,
}

impl Algorithm {
    pub(crate) fn key_bytes(self) -> usize {
        match self {
            Self::Aes128Gcm | Self::Aes128Ccm | Self::Aes128Ccm8 => 16,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 | Self::Aes256Ccm | Self::Aes256Ccm8 => 32,
        }
    }

    pub(crate) fn tag_bytes(self) -> usize {
        match self {
            Self::Aes128Ccm8 | Self::Aes256Ccm8 => 8,
            _ => 16,
        }
    }
}

/// A key and what it is for.
#[derive(Debug)]
pub(crate) struct Key(Cipher);

enum Cipher {
    Ring(LessSafeKey),
    Aes128Ccm(Ccm<Aes128, U16, U12>),
    Aes256Ccm(Ccm<Aes256, U16, U12>),
    Aes128Ccm8(Ccm<Aes128, U8, U12>),
    Aes256Ccm8(Ccm<Aes256, U8, U12>),
}

impl Key {
    /// `None` if the key has another length than the algorithm's.
    pub(crate) fn new(algorithm: Algorithm, key: &[u8]) -> Option<Self> {
        let ring = |algorithm| {
            let key = UnboundKey::new(algorithm, key).ok()?;
            Some(Cipher::Ring(LessSafeKey::new(key)))
        };
        Some(Self(match algorithm {
            Algorithm::Aes128Gcm => ring(&aead::AES_128_GCM)?,
            Algorithm::Aes256Gcm => ring(&aead::AES_256_GCM)?,
            Algorithm::ChaCha20Poly1305 => ring(&aead::CHACHA20_POLY1305)?,
            Algorithm::Aes128Ccm => Cipher::Aes128Ccm(ccm(key)?),
            Algorithm::Aes256Ccm => Cipher::Aes256Ccm(ccm(key)?),
            Algorithm::Aes128Ccm8 => Cipher::Aes128Ccm8(ccm(key)?),
            Algorithm::Aes256Ccm8 => Cipher::Aes256Ccm8(ccm(key)?),
        }))
    }

    /// Decrypt in place, the tag behind the ciphertext; what stood in `sealed` is lost if that fails.
    #[inline]
    pub(crate) fn open<'a>(
        &self,
        nonce: Nonce,
        authenticated: &[u8],
        sealed: &'a mut [u8],
    ) -> Option<&'a mut [u8]> {
        match &self.0 {
            Cipher::Ring(key) => {
                let nonce = aead::Nonce::assume_unique_for_key(nonce);
                key.open_in_place(nonce, Aad::from(authenticated), sealed)
                    .ok()
            }
            Cipher::Aes128Ccm(key) => open(key, nonce, authenticated, sealed),
            Cipher::Aes256Ccm(key) => open(key, nonce, authenticated, sealed),
            Cipher::Aes128Ccm8(key) => open(key, nonce, authenticated, sealed),
            Cipher::Aes256Ccm8(key) => open(key, nonce, authenticated, sealed),
        }
    }

    /// Encrypt in place, and put the tag behind.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn seal(&self, nonce: Nonce, authenticated: &[u8], plain: &mut Vec<u8>) {
        match &self.0 {
            Cipher::Ring(key) => {
                let nonce = aead::Nonce::assume_unique_for_key(nonce);
                let sealed = key.seal_in_place_append_tag(nonce, Aad::from(authenticated), plain);
                assert!(sealed.is_ok(), "nobody seals as much as does not fit");
            }
            Cipher::Aes128Ccm(key) => seal(key, nonce, authenticated, plain),
            Cipher::Aes256Ccm(key) => seal(key, nonce, authenticated, plain),
            Cipher::Aes128Ccm8(key) => seal(key, nonce, authenticated, plain),
            Cipher::Aes256Ccm8(key) => seal(key, nonce, authenticated, plain),
        }
    }
}

fn ccm<C: KeyInit>(key: &[u8]) -> Option<C> {
    C::new_from_slice(key).ok()
}

fn open<'a, C: AeadInOut<NonceSize = U12>>(
    key: &C,
    nonce: Nonce,
    authenticated: &[u8],
    sealed: &'a mut [u8],
) -> Option<&'a mut [u8]> {
    let mut tag = Array::<u8, C::TagSize>::default();
    let at = sealed.len().checked_sub(tag.len())?;
    let (text, end) = sealed.split_at_mut_checked(at)?;
    tag.copy_from_slice(end);
    key.decrypt_inout_detached(&nonce.into(), authenticated, (&mut *text).into(), &tag)
        .ok()?;
    Some(text)
}

#[cfg(any(test, fuzzing))]
fn seal<C: AeadInOut<NonceSize = U12>>(
    key: &C,
    nonce: Nonce,
    authenticated: &[u8],
    plain: &mut Vec<u8>,
) {
    let text = plain.as_mut_slice().into();
    let tag = key.encrypt_inout_detached(&nonce.into(), authenticated, text);
    plain.extend(tag.expect("nobody seals as much as does not fit"));
}

impl std::fmt::Debug for Cipher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Ring(_) => "AES-GCM or ChaCha20-Poly1305",
            Self::Aes128Ccm(_) | Self::Aes256Ccm(_) => "AES-CCM",
            Self::Aes128Ccm8(_) | Self::Aes256Ccm8(_) => "AES-CCM-8",
        })
    }
}
