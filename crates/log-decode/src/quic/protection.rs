// SPDX-License-Identifier: Apache-2.0
//! Packet protection: keys from secrets (RFC 9001 section 5, RFC 9369 section 3.3), header protection, AEAD.

mod initial;

use super::header::Version;
use super::wire::packet_number;
use crate::tls::aead::{nonce, Algorithm, Key};
use crate::tls::keylog::Secret;
use crate::tls::suite::Suite;
pub(super) use initial::retry_fits;
use ring::aead::quic;

const SAMPLE_BYTES: usize = 16;
pub(super) const TAG_BYTES: usize = 16;

/// Labels of RFC 9001 sections 5.1, 5.4 and 6.1, and of RFC 9369 section 3.3.2.
struct Labels {
    key: &'static [u8],
    iv: &'static [u8],
    header_protection: &'static [u8],
    key_update: &'static [u8],
}

fn labels(version: Version) -> Labels {
    match version {
        Version::V1 | Version::Draft(_) => Labels {
            key: b"quic key",
            iv: b"quic iv",
            header_protection: b"quic hp",
            key_update: b"quic ku",
        },
        Version::V2 => Labels {
            key: b"quicv2 key",
            iv: b"quicv2 iv",
            header_protection: b"quicv2 hp",
            key_update: b"quicv2 ku",
        },
    }
}

/// Key that opens the payloads of one direction, one encryption level and one key phase.
pub(super) struct PayloadKey {
    key: Key,
    iv: [u8; 12],
}

impl PayloadKey {
    pub(super) fn new(suite: Suite, version: Version, secret: &Secret) -> Option<Self> {
        let labels = labels(version);
        let mut key = [0; 32];
        let key = key.get_mut(..suite.aead.key_bytes())?;
        suite.expand_label(secret, labels.key, key)?;
        let mut iv = [0; 12];
        suite.expand_label(secret, labels.iv, &mut iv)?;
        let key = Key::new(suite.aead, key)?;
        Some(Self { key, iv })
    }

    /// Decrypt in place; what stood in `payload` is lost if that fails.
    pub(super) fn open<'a>(
        &self,
        number: u64,
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Option<&'a [u8]> {
        let plain = self.key.open(nonce(self.iv, number), header, payload)?;
        Some(&*plain)
    }

    #[cfg(any(test, fuzzing))]
    pub(super) fn seal(&self, number: u64, header: &[u8], payload: &mut Vec<u8>) {
        self.key.seal(nonce(self.iv, number), header, payload);
    }
}

/// The secret of the next key phase (RFC 9001 section 6.1).
pub(super) fn next_secret(suite: Suite, version: Version, secret: &Secret) -> Option<Secret> {
    let mut next = [0; 48];
    let next = next.get_mut(..suite.hash_bytes)?;
    suite.expand_label(secret, labels(version).key_update, next)?;
    Secret::new(next)
}

/// Key that shows the packet numbers of one direction and one encryption level.
pub(super) struct HeaderKey(quic::HeaderProtectionKey);

/// The header of a packet, unprotected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unprotected {
    pub(super) first: u8,
    pub(super) number: u64,
    /// Offset of the payload.
    pub(super) payload_at: usize,
}

impl HeaderKey {
    pub(super) fn new(suite: Suite, version: Version, secret: &Secret) -> Option<Self> {
        let algorithm = match suite.aead {
            Algorithm::Aes128Gcm | Algorithm::Aes128Ccm => &quic::AES_128,
            Algorithm::Aes256Gcm => &quic::AES_256,
            Algorithm::ChaCha20Poly1305 => &quic::CHACHA20,
            // RFC 9001 section 5.3 forbids what has a shorter tag, and no suite of TLS 1.3 has what is left.
            Algorithm::Aes128Ccm8 | Algorithm::Aes256Ccm8 | Algorithm::Aes256Ccm => return None,
        };
        let mut key = [0; 32];
        let key = key.get_mut(..algorithm.key_len())?;
        suite.expand_label(secret, labels(version).header_protection, key)?;
        let key = quic::HeaderProtectionKey::new(algorithm, key).ok()?;
        Some(Self(key))
    }

    /// Remove the protection in place (RFC 9001 section 5.4); `None` if the packet is too short to have any.
    pub(super) fn unprotect(
        &self,
        packet: &mut [u8],
        number_at: usize,
        largest: Option<u64>,
    ) -> Option<Unprotected> {
        let sample = packet
            .get(number_at.checked_add(4)?..)?
            .get(..SAMPLE_BYTES)?;
        let [mask, number_mask @ ..] = self.0.new_mask(sample).ok()?;
        let first = packet.first_mut()?;
        *first ^= mask & if *first & 0x80 == 0 { 0x1f } else { 0x0f };
        let first = *first;
        let number_bytes = usize::from(first & 3) + 1;
        let payload_at = number_at + number_bytes;
        let mut truncated = 0;
        for (byte, mask) in packet
            .get_mut(number_at..payload_at)?
            .iter_mut()
            .zip(number_mask)
        {
            *byte ^= mask;
            truncated = truncated << 8 | u64::from(*byte);
        }
        let bits = u32::from(first & 3) * 8 + 8;
        Some(Unprotected {
            first,
            number: packet_number(largest, truncated, bits),
            payload_at,
        })
    }
}

#[cfg(any(test, fuzzing))]
impl HeaderKey {
    /// Protect a header whose packet number takes so many bytes.
    pub(super) fn protect(&self, packet: &mut [u8], number_at: usize, number_bytes: usize) {
        let sample = &packet[number_at + 4..][..SAMPLE_BYTES];
        let [mask, number_mask @ ..] = self.0.new_mask(sample).unwrap();
        packet[0] ^= mask & if packet[0] & 0x80 == 0 { 0x1f } else { 0x0f };
        for (byte, mask) in packet[number_at..][..number_bytes]
            .iter_mut()
            .zip(number_mask)
        {
            *byte ^= mask;
        }
    }
}

/// Both keys of one direction and one encryption level.
pub(super) struct PacketKeys {
    pub(super) header: HeaderKey,
    pub(super) payload: PayloadKey,
}

impl PacketKeys {
    pub(super) fn new(suite: Suite, version: Version, secret: &Secret) -> Option<Self> {
        Some(Self {
            header: HeaderKey::new(suite, version, secret)?,
            payload: PayloadKey::new(suite, version, secret)?,
        })
    }
}

#[cfg(test)]
mod tests {
    //! The samples of RFC 9001 appendix A.5 and RFC 9369 appendix A.5.

    use super::*;
    use crate::tls::keylog::hex;

    pub(super) fn opened(
        keys: &PacketKeys,
        packet: &str,
        number_at: usize,
        largest: Option<u64>,
    ) -> (u64, Vec<u8>) {
        let mut packet = hex(packet).unwrap();
        let header = keys
            .header
            .unprotect(&mut packet, number_at, largest)
            .unwrap();
        let (head, payload) = packet.split_at_mut(header.payload_at);
        let plain = keys.payload.open(header.number, head, payload).unwrap();
        (header.number, plain.to_vec())
    }

    #[test]
    fn a_short_header_under_chacha20_is_opened() {
        let secret =
            hex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b").unwrap();
        let secret = Secret::new(&secret).unwrap();
        let suite = Suite::of(0x1303).unwrap();
        for (version, packet) in [
            (Version::V1, "4cfe4189655e5cd55c41f69080575d7999c25a5bfb"),
            (Version::V2, "5558b1c60ae7b6b932bc27d786f4bc2bb20f2162ba"),
        ] {
            let keys = PacketKeys::new(suite, version, &secret).unwrap();
            assert_eq!(
                opened(&keys, packet, 1, Some(654_360_563)),
                (654_360_564, vec![1])
            );
        }
    }

    #[test]
    fn the_next_phase_follows_from_the_secret() {
        let secret =
            hex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b").unwrap();
        let next = next_secret(
            Suite::of(0x1303).unwrap(),
            Version::V1,
            &Secret::new(&secret).unwrap(),
        );
        let expected =
            hex("1223504755036d556342ee9361d253421a826c9ecdf3c7148684b36b714881f9").unwrap();
        assert_eq!(next.unwrap().as_bytes(), expected);
    }
}
