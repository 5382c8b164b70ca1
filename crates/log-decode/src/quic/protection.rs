// SPDX-License-Identifier: Apache-2.0
//! Packet protection: keys from secrets (RFC 9001 section 5, RFC 9369 section 3.3), header protection, AEAD.

use super::header::Version;
use super::wire::{packet_number, ConnectionId};
use crate::tls::aead::{nonce, Algorithm, Key};
use crate::tls::keylog::Secret;
use crate::tls::suite::Suite;
use crate::Direction;
use ring::aead::quic;
use ring::hmac;

/// `TLS_AES_128_GCM_SHA256`, which protects Initial packets (RFC 9001 section 5.2).
const INITIAL_SUITE: u16 = 0x1301;
const SAMPLE_BYTES: usize = 16;
pub(super) const TAG_BYTES: usize = 16;

const INITIAL_SALT_V1: [u8; 20] = [
    0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad,
    0xcc, 0xbb, 0x7f, 0x0a,
];
const INITIAL_SALT_V2: [u8; 20] = [
    0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb,
    0xf9, 0xbd, 0x2e, 0xd9,
];

/// Labels of RFC 9001 sections 5.1, 5.4 and 6.1, and of RFC 9369 section 3.3.2.
struct Labels {
    key: &'static [u8],
    iv: &'static [u8],
    header_protection: &'static [u8],
    key_update: &'static [u8],
}

fn labels(version: Version) -> Labels {
    match version {
        Version::V1 => Labels {
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

/// What opens the payloads of one direction, one encryption level and one key phase.
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

/// What shows the packet numbers of one direction and one encryption level.
pub(super) struct HeaderKey(quic::HeaderProtectionKey);

/// The header of a packet, unprotected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unprotected {
    pub(super) first: u8,
    pub(super) number: u64,
    /// Where the payload starts.
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
    /// Protect a header whose packet number takes four bytes.
    pub(super) fn protect(&self, packet: &mut [u8], number_at: usize) {
        let sample = &packet[number_at + 4..][..SAMPLE_BYTES];
        let [mask, number_mask @ ..] = self.0.new_mask(sample).unwrap();
        packet[0] ^= mask & if packet[0] & 0x80 == 0 { 0x1f } else { 0x0f };
        for (byte, mask) in packet[number_at..].iter_mut().zip(number_mask) {
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

    /// The keys of Initial packets, which follow from the Destination Connection ID that the client chose.
    pub(super) fn initial(
        version: Version,
        dcid: &ConnectionId,
        direction: Direction,
    ) -> Option<Self> {
        let salt = match version {
            Version::V1 => &INITIAL_SALT_V1,
            Version::V2 => &INITIAL_SALT_V2,
        };
        let salt = hmac::Key::new(hmac::HMAC_SHA256, salt);
        let initial = Secret::new(hmac::sign(&salt, dcid.as_bytes()).as_ref())?;
        let label: &[u8] = match direction {
            Direction::Up => b"client in",
            Direction::Down => b"server in",
        };
        let suite = Suite::of(INITIAL_SUITE)?;
        let mut secret = [0; 32];
        suite.expand_label(&initial, label, &mut secret)?;
        Self::new(suite, version, &Secret::new(&secret)?)
    }
}

/// Whether a Retry's integrity tag fits the Destination Connection ID that the client chose (RFC 9001 section 5.8).
pub(super) fn retry_fits(version: Version, original_dcid: &ConnectionId, packet: &[u8]) -> bool {
    let (key, retry_nonce): ([u8; 16], [u8; 12]) = match version {
        Version::V1 => (
            *b"\xbe\x0c\x69\x0b\x9f\x66\x57\x5a\x1d\x76\x6b\x54\xe3\x68\xc8\x4e",
            *b"\x46\x15\x99\xd3\x5d\x63\x2b\xf2\x23\x98\x25\xbb",
        ),
        Version::V2 => (
            *b"\x8f\xb4\xb0\x1b\x56\xac\x48\xe2\x60\xfb\xcb\xce\xad\x7c\xcc\x92",
            *b"\xd8\x69\x69\xbc\x2d\x7c\x6d\x99\x90\xef\xb0\x4a",
        ),
    };
    let Some((packet, tag)) = packet.split_last_chunk::<TAG_BYTES>() else {
        return false;
    };
    let Some(key) = Key::new(Algorithm::Aes128Gcm, &key) else {
        return false;
    };
    let length = u8::try_from(original_dcid.len()).unwrap_or_default();
    let pseudo_packet = [&[length], original_dcid.as_bytes(), packet].concat();
    let mut tag = *tag;
    key.open(retry_nonce, &pseudo_packet, &mut tag).is_some()
}

#[cfg(test)]
mod tests {
    //! The samples of RFC 9001 appendix A and RFC 9369 appendix A.

    use super::super::header::{Header, Kind};
    use super::*;
    use crate::tls::keylog::hex;

    fn sample_dcid() -> ConnectionId {
        ConnectionId::new(&hex("8394c8f03e515708").unwrap()).unwrap()
    }

    fn opened(
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

    const SERVER_INITIAL_V1: &str = "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69\
        797554780bb38cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84022f8e\
        f4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd074ee";
    const SERVER_INITIAL_V2: &str = "dc6b3343cf0008f067a5502a4262b5004075d92faaf16f05d8a4398c47089698baeea26b91eb761d9b89\
        237bbf87263017915358230035f7fd3945d88965cf17f9af6e16886c61bfc703106fbaf3cb4cfa52382dd16a393e42757507698075b2c984c7\
        07f0a0812d8cd5a6881eaf21ceda98f4bd23f6fe1a3e2c43edd9ce7ca84bed8521e2e140";

    #[test]
    fn a_servers_initial_is_opened() {
        for (version, packet) in [
            (Version::V1, SERVER_INITIAL_V1),
            (Version::V2, SERVER_INITIAL_V2),
        ] {
            let keys = PacketKeys::initial(version, &sample_dcid(), Direction::Down).unwrap();
            let bytes = hex(packet).unwrap();
            let Some(Header::Long(long)) = Header::parse(&bytes) else {
                panic!("no long header")
            };
            assert_eq!(
                (long.kind, long.version, long.end),
                (Kind::Initial, version, bytes.len())
            );
            let (number, plain) = opened(&keys, packet, long.number_at, None);
            assert_eq!((number, plain.len()), (1, 99));
            // An ACK frame, then CRYPTO with a ServerHello.
            assert_eq!(plain[..11], [2, 0, 0, 0, 0, 6, 0, 0x40, 0x5a, 2, 0]);
        }
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
    fn a_retry_is_held_against_the_first_connection_id() {
        for (version, packet) in [
            (
                Version::V1,
                "ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba",
            ),
            (
                Version::V2,
                "cf6b3343cf0008f067a5502a4262b5746f6b656ec8646ce8bfe33952d955543665dcc7b6",
            ),
        ] {
            let packet = hex(packet).unwrap();
            assert!(retry_fits(version, &sample_dcid(), &packet));
            assert!(!retry_fits(version, &ConnectionId::default(), &packet));
            assert!(!retry_fits(
                version,
                &sample_dcid(),
                &packet[..packet.len() - 1]
            ));
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

    #[test]
    fn a_packet_too_short_for_a_sample_is_no_packet() {
        let keys = PacketKeys::initial(Version::V1, &sample_dcid(), Direction::Up).unwrap();
        for length in 0..21 {
            assert!(keys
                .header
                .unprotect(&mut vec![0x40; length], 1, None)
                .is_none());
        }
    }
}
