// SPDX-License-Identifier: Apache-2.0
//! The messages that negotiate: `ClientHello`, `ServerHello` and `HelloRetryRequest` (RFC 8446 section 4.1), and
//! `EncryptedExtensions`.

use super::keylog::Random;
use super::{names, Reader};
use serde_json::{json, Map, Value};

/// The random of a `ServerHello` that is a `HelloRetryRequest`: SHA-256 of that name (RFC 8446 section 4.1.3).
const RETRY_REQUEST: Random = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

const SERVER_NAME: u16 = 0;
const SUPPORTED_GROUPS: u16 = 10;
const ALPN: u16 = 16;
const PRE_SHARED_KEY: u16 = 41;
const EARLY_DATA: u16 = 42;
const SUPPORTED_VERSIONS: u16 = 43;
const KEY_SHARE: u16 = 51;
/// RFC 9001 section 8.2, and its number in the drafts.
const TRANSPORT_PARAMETERS: [u16; 2] = [0x39, 0xffa5];

/// Offers of the client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientHello {
    pub(crate) random: Random,
    pub(crate) server_name: Option<String>,
    pub(crate) alpn: Vec<String>,
    pub(crate) groups: Vec<u16>,
    /// Groups for which it sends a share.
    pub(crate) key_shares: Vec<u16>,
    pub(crate) pre_shared_key: bool,
    pub(crate) early_data: bool,
    /// QUIC's, not decoded.
    pub(crate) transport_parameters: Option<Vec<u8>>,
    /// Length of the token in the packet that carries it (RFC 9000 section 8.1): the server's, from a Retry or a
    /// connection before.
    pub(crate) token_bytes: Option<usize>,
}

/// Choices of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerHello {
    pub(crate) random: Random,
    /// True if it asks for another `ClientHello`.
    pub(crate) retry_request: bool,
    pub(crate) version: u16,
    pub(crate) cipher_suite: u16,
    pub(crate) group: Option<u16>,
    pub(crate) pre_shared_key: bool,
    /// TLS 1.2 only.
    pub(crate) alpn: Option<String>,
}

/// Choices of the server, said under the handshake keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EncryptedExtensions {
    pub(crate) alpn: Option<String>,
    pub(crate) early_data: bool,
    /// QUIC's, not decoded.
    pub(crate) transport_parameters: Option<Vec<u8>>,
}

impl ClientHello {
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let mut body = Reader::new(body);
        body.u16()?;
        let mut hello = Self {
            random: body.bytes(32)?.try_into().ok()?,
            ..Self::default()
        };
        body.vector(1)?;
        body.vector(2)?;
        body.vector(1)?;
        each_extension(body, |kind, mut value| {
            match kind {
                SERVER_NAME => {
                    let mut names = value.vector(2)?;
                    names.u8()?;
                    hello.server_name = Some(text(names.vector(2)?));
                }
                ALPN => {
                    let mut names = value.vector(2)?;
                    while let Some(name) = names.vector(1) {
                        hello.alpn.push(text(name));
                    }
                }
                SUPPORTED_GROUPS => {
                    let mut groups = value.vector(2)?;
                    while let Some(group) = groups.u16() {
                        hello.groups.push(group);
                    }
                }
                KEY_SHARE => {
                    let mut shares = value.vector(2)?;
                    while let Some(group) = shares.u16() {
                        shares.vector(2)?;
                        hello.key_shares.push(group);
                    }
                }
                PRE_SHARED_KEY => hello.pre_shared_key = true,
                EARLY_DATA => hello.early_data = true,
                kind if TRANSPORT_PARAMETERS.contains(&kind) => {
                    hello.transport_parameters = Some(value.rest().to_vec());
                }
                _ => {}
            }
            Some(())
        });
        Some(hello)
    }

    pub(super) fn detail(&self) -> String {
        let mut detail = Map::new();
        if let Some(name) = &self.server_name {
            detail.insert("server_name".into(), json!(name));
        }
        detail.insert("alpn".into(), json!(self.alpn));
        detail.insert("groups".into(), named(&self.groups));
        detail.insert("key_shares".into(), named(&self.key_shares));
        detail.insert("pre_shared_key".into(), json!(self.pre_shared_key));
        detail.insert("early_data".into(), json!(self.early_data));
        if let Some(bytes) = self.token_bytes {
            detail.insert("token_bytes".into(), json!(bytes));
        }
        Value::Object(detail).to_string()
    }
}

impl ServerHello {
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let mut body = Reader::new(body);
        let version = body.u16()?;
        let random: Random = body.bytes(32)?.try_into().ok()?;
        body.vector(1)?;
        let mut hello = Self {
            random,
            retry_request: random == RETRY_REQUEST,
            version,
            cipher_suite: body.u16()?,
            ..Self::default()
        };
        body.u8()?;
        each_extension(body, |kind, mut value| {
            match kind {
                SUPPORTED_VERSIONS => hello.version = value.u16()?,
                KEY_SHARE => hello.group = Some(value.u16()?),
                PRE_SHARED_KEY => hello.pre_shared_key = true,
                ALPN => hello.alpn = Some(text(value.vector(2)?.vector(1)?)),
                _ => {}
            }
            Some(())
        });
        Some(hello)
    }

    pub(super) fn detail(&self) -> String {
        let mut detail = Map::new();
        detail.insert("version".into(), json!(names::version(self.version)));
        detail.insert(
            "cipher_suite".into(),
            json!(names::cipher_suite(self.cipher_suite)),
        );
        if let Some(group) = self.group {
            detail.insert("group".into(), json!(names::group(group)));
        }
        if let Some(alpn) = &self.alpn {
            detail.insert("alpn".into(), json!(alpn));
        }
        if !self.retry_request {
            detail.insert("pre_shared_key".into(), json!(self.pre_shared_key));
        }
        Value::Object(detail).to_string()
    }
}

impl EncryptedExtensions {
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let mut chosen = Self::default();
        each_extension(Reader::new(body), |kind, mut value| {
            match kind {
                ALPN => chosen.alpn = Some(text(value.vector(2)?.vector(1)?)),
                EARLY_DATA => chosen.early_data = true,
                kind if TRANSPORT_PARAMETERS.contains(&kind) => {
                    chosen.transport_parameters = Some(value.rest().to_vec());
                }
                _ => {}
            }
            Some(())
        })?;
        Some(chosen)
    }

    pub(super) fn detail(&self) -> String {
        json!({ "alpn": self.alpn, "early_data": self.early_data }).to_string()
    }
}

/// Hand every extension to `take` until one is malformed.
fn each_extension<'a>(
    mut body: Reader<'a>,
    mut take: impl FnMut(u16, Reader<'a>) -> Option<()>,
) -> Option<()> {
    let mut extensions = body.vector(2)?;
    while !extensions.is_empty() {
        let kind = extensions.u16()?;
        let value = extensions.vector(2)?;
        // One that cannot be read takes nothing from the others.
        let _ = take(kind, value);
    }
    Some(())
}

fn text(bytes: Reader<'_>) -> String {
    String::from_utf8_lossy(bytes.rest()).into_owned()
}

/// Names of groups, without those that mean nothing and are drawn anew for each connection.
fn named(groups: &[u16]) -> Value {
    let groups = groups.iter().filter(|&&group| !is_grease(group));
    groups.map(|&group| json!(names::group(group))).collect()
}

/// RFC 8701: values that mean nothing.
fn is_grease(value: u16) -> bool {
    value & 0x0f0f == 0x0a0a && value >> 8 == value & 0xff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        super::super::keylog::hex(&text.replace(' ', "")).unwrap()
    }

    /// The body of a hello: version and random, what stands before the extensions, and these.
    fn body(middle: &str, extensions: &[&str]) -> Vec<u8> {
        let extensions = hex(&extensions.concat());
        let length = u16::try_from(extensions.len()).unwrap().to_be_bytes();
        [&[3, 3][..], &[0; 32], &hex(middle), &length, &extensions].concat()
    }

    const CLIENT: &str = "00 0002 1301 01 00";
    const SERVER: &str = "00 1301 00";

    /// GREASE is drawn anew for each connection (RFC 8701), and must not make two equal clients differ.
    #[test]
    fn reserved_values_are_left_out() {
        let hello = body(
            CLIENT,
            &[
                "0000 0010 000e 00 000b 7365727665722e74657374",
                "000a 0008 0006 2a2a 001d 0102",
                "0010 0005 0003 02 6832",
                "0033 0008 0006 2a2a 0002 0000",
            ],
        );
        assert_eq!(
            ClientHello::parse(&hello).unwrap().detail(),
            r#"{"alpn":["h2"],"early_data":false,"groups":["x25519","ffdhe4096"],"key_shares":[],"pre_shared_key":false,"server_name":"server.test"}"#
        );
    }

    /// A length that points outside its field takes nothing from the extensions around it.
    #[test]
    fn lengths_that_lie_are_not_read_around() {
        for lie in [
            "0033 0008 0006 2a2a 00ff 0000",
            "0010 0005 0009 02 6832",
            "000a 0002 0004",
        ] {
            let hello = ClientHello::parse(&body(CLIENT, &[lie, "002a 0000"])).unwrap();
            assert!(hello.early_data && hello.alpn.is_empty() && hello.groups.is_empty());
            assert_eq!(hello.key_shares, [0; 0]);
        }
    }

    /// Resumption without a key exchange (`psk_ke`) has no group, and before TLS 1.3 all extensions may be missing.
    #[test]
    fn a_server_may_say_little() {
        let resumed = body(SERVER, &["002b 0002 0304", "0029 0002 0000"]);
        assert_eq!(
            ServerHello::parse(&resumed).unwrap().detail(),
            r#"{"cipher_suite":"TLS_AES_128_GCM_SHA256","pre_shared_key":true,"version":"TLS 1.3"}"#
        );
        let old = [&[3, 1][..], &[0; 32], &hex("00 c02f 00")].concat();
        assert_eq!(
            ServerHello::parse(&old).unwrap().detail(),
            r#"{"cipher_suite":"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256","pre_shared_key":false,"version":"TLS 1.0"}"#
        );
    }
}
