// SPDX-License-Identifier: Apache-2.0
//! Cipher suites of TLS 1.3 and the derivation of keys from its secrets (RFC 8446 sections 5.3, 7.1 and 7.3).

use super::aead::{Algorithm, Key};
use super::keylog::Secret;
use ring::hkdf;

/// A cipher suite of TLS 1.3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suite {
    pub(crate) aead: Algorithm,
    pub(crate) hash: hkdf::Algorithm,
    /// Length of the hash's output, and so of every secret.
    pub(crate) hash_bytes: usize,
}

impl Suite {
    /// RFC 8446 appendix B.4; `None` for what is none of them.
    pub(crate) fn of(id: u16) -> Option<Self> {
        Some(match id {
            0x1301 => Self {
                aead: Algorithm::Aes128Gcm,
                hash: hkdf::HKDF_SHA256,
                hash_bytes: 32,
            },
            0x1302 => Self {
                aead: Algorithm::Aes256Gcm,
                hash: hkdf::HKDF_SHA384,
                hash_bytes: 48,
            },
            0x1303 => Self {
                aead: Algorithm::ChaCha20Poly1305,
                hash: hkdf::HKDF_SHA256,
                hash_bytes: 32,
            },
            0x1304 => Self {
                aead: Algorithm::Aes128Ccm,
                hash: hkdf::HKDF_SHA256,
                hash_bytes: 32,
            },
            0x1305 => Self {
                aead: Algorithm::Aes128Ccm8,
                hash: hkdf::HKDF_SHA256,
                hash_bytes: 32,
            },
            _ => return None,
        })
    }

    /// The record key and IV that follow from a traffic secret; `None` if it has another length than the suite's.
    pub(crate) fn traffic_key(self, secret: &Secret) -> Option<(Key, [u8; 12])> {
        let mut key = [0; 32];
        let key = key.get_mut(..self.aead.key_bytes())?;
        let mut iv = [0; 12];
        self.expand_label(secret, b"key", key)?;
        self.expand_label(secret, b"iv", &mut iv)?;
        Some((Key::new(self.aead, key)?, iv))
    }

    /// HKDF-Expand-Label without a context, into the whole of `out`.
    pub(crate) fn expand_label(self, secret: &Secret, label: &[u8], out: &mut [u8]) -> Option<()> {
        if secret.as_bytes().len() != self.hash_bytes {
            return None;
        }
        let prk = hkdf::Prk::new_less_safe(self.hash, secret.as_bytes());
        let length = u16::try_from(out.len()).ok()?.to_be_bytes();
        let label_length = [u8::try_from(label.len()).ok()?.checked_add(6)?];
        let info = [&length[..], &label_length, b"tls13 ", label, &[0]];
        prk.expand(&info, OutputLength(out.len()))
            .ok()?
            .fill(out)
            .ok()
    }
}

struct OutputLength(usize);

impl hkdf::KeyType for OutputLength {
    fn len(&self) -> usize {
        self.0
    }
}
