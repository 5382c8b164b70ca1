// SPDX-License-Identifier: Apache-2.0
//! Protection by keys that everybody knows: Initial packets (RFC 9001 section 5.2, RFC 9369 section
//! 3.3.1) and Retry (RFC 9001 section 5.8, RFC 9369 section 3.3.3).

use super::super::header::Version;
use super::super::wire::ConnectionId;
use super::{PacketKeys, TAG_BYTES};
use crate::tls::aead::{Algorithm, Key};
use crate::tls::keylog::Secret;
use crate::tls::suite::Suite;
use crate::Direction;
use ring::hmac;

/// `TLS_AES_128_GCM_SHA256`, which protects Initial packets (RFC 9001 section 5.2).
const INITIAL_SUITE: u16 = 0x1301;

const INITIAL_SALT_V1: [u8; 20] = [
    0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad,
    0xcc, 0xbb, 0x7f, 0x0a,
];
/// draft-ietf-quic-tls-29 to -32, section 5.2.
const INITIAL_SALT_DRAFT_29: [u8; 20] = [
    0xaf, 0xbf, 0xec, 0x28, 0x99, 0x93, 0xd2, 0x4c, 0x9e, 0x97, 0x86, 0xf1, 0x9c, 0x61, 0x11, 0xe0,
    0x43, 0x90, 0xa8, 0x99,
];
/// The last draft with keys of its own.
const LAST_OWN_KEYS: u8 = 32;
const INITIAL_SALT_V2: [u8; 20] = [
    0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb,
    0xf9, 0xbd, 0x2e, 0xd9,
];

impl PacketKeys {
    /// The keys of Initial packets, which follow from the Destination Connection ID that the client chose.
    pub(in crate::quic) fn initial(
        version: Version,
        dcid: &ConnectionId,
        direction: Direction,
    ) -> Option<Self> {
        let salt = match version {
            Version::Draft(..=LAST_OWN_KEYS) => &INITIAL_SALT_DRAFT_29,
            Version::V1 | Version::Draft(_) => &INITIAL_SALT_V1,
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

/// True if a Retry's integrity tag fits the Destination Connection ID that the client chose (RFC
/// 9001 section 5.8).
pub(in crate::quic) fn retry_fits(
    version: Version,
    original_dcid: &ConnectionId,
    packet: &[u8],
) -> bool {
    let (key, retry_nonce): ([u8; 16], [u8; 12]) = match version {
        Version::Draft(..=LAST_OWN_KEYS) => (
            *b"\xcc\xce\x18\x7e\xd0\x9a\x09\xd0\x57\x28\x15\x5a\x6c\xb9\x6b\xe1",
            *b"\xe5\x49\x30\xf9\x7f\x21\x36\xf0\x53\x0a\x8c\x1c",
        ),
        Version::V1 | Version::Draft(_) => (
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
    //! The samples of RFC 9001 appendix A, RFC 9369 appendix A and draft-ietf-quic-tls-29 appendix A.

    use super::super::super::header::{Header, Kind};
    use super::super::tests::opened;
    use super::*;
    use crate::tls::keylog::hex;

    fn sample_dcid() -> ConnectionId {
        ConnectionId::new(&hex("8394c8f03e515708").unwrap()).unwrap()
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
            (
                Version::Draft(29),
                "ffff00001d0008f067a5502a4262b5746f6b656ed16926d81f6f9ca2953a8aa4575e1e49",
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
