// SPDX-License-Identifier: Apache-2.0
//! Names in IANA's registries of TLS parameters, of what is met in practice.

use std::borrow::Cow;

/// The type of an opened record (RFC 8446 appendix B.1); 0 stands for one that another key may open.
pub(crate) fn content_type(kind: u8) -> &'static str {
    match kind {
        0 => "unopened",
        20 => "change_cipher_spec",
        21 => "alert",
        22 => "handshake",
        23 => "application_data",
        _ => "other",
    }
}

pub(crate) fn cipher_suite(id: u16) -> Cow<'static, str> {
    match id {
        0x1301 => "TLS_AES_128_GCM_SHA256",
        0x1302 => "TLS_AES_256_GCM_SHA384",
        0x1303 => "TLS_CHACHA20_POLY1305_SHA256",
        0x1304 => "TLS_AES_128_CCM_SHA256",
        0x1305 => "TLS_AES_128_CCM_8_SHA256",
        0x009c => "TLS_RSA_WITH_AES_128_GCM_SHA256",
        0x009d => "TLS_RSA_WITH_AES_256_GCM_SHA384",
        0x009e => "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256",
        0x009f => "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384",
        0x00a8 => "TLS_PSK_WITH_AES_128_GCM_SHA256",
        0x00a9 => "TLS_PSK_WITH_AES_256_GCM_SHA384",
        0x00aa => "TLS_DHE_PSK_WITH_AES_128_GCM_SHA256",
        0x00ab => "TLS_DHE_PSK_WITH_AES_256_GCM_SHA384",
        0xd001 => "TLS_ECDHE_PSK_WITH_AES_128_GCM_SHA256",
        0xd002 => "TLS_ECDHE_PSK_WITH_AES_256_GCM_SHA384",
        0xccab => "TLS_PSK_WITH_CHACHA20_POLY1305_SHA256",
        0xccac => "TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256",
        0x000a => "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
        0x002f => "TLS_RSA_WITH_AES_128_CBC_SHA",
        0x0033 => "TLS_DHE_RSA_WITH_AES_128_CBC_SHA",
        0x0035 => "TLS_RSA_WITH_AES_256_CBC_SHA",
        0x0039 => "TLS_DHE_RSA_WITH_AES_256_CBC_SHA",
        0x003c => "TLS_RSA_WITH_AES_128_CBC_SHA256",
        0x003d => "TLS_RSA_WITH_AES_256_CBC_SHA256",
        0x0067 => "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256",
        0x006b => "TLS_DHE_RSA_WITH_AES_256_CBC_SHA256",
        0xc009 => "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
        0xc00a => "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
        0xc013 => "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
        0xc014 => "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
        0xc023 => "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
        0xc024 => "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384",
        0xc027 => "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
        0xc028 => "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384",
        0xc02b => "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        0xc02c => "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        0xc02f => "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        0xc030 => "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        0xc09c => "TLS_RSA_WITH_AES_128_CCM",
        0xc09d => "TLS_RSA_WITH_AES_256_CCM",
        0xc09e => "TLS_DHE_RSA_WITH_AES_128_CCM",
        0xc09f => "TLS_DHE_RSA_WITH_AES_256_CCM",
        0xc0a0 => "TLS_RSA_WITH_AES_128_CCM_8",
        0xc0a1 => "TLS_RSA_WITH_AES_256_CCM_8",
        0xc0a2 => "TLS_DHE_RSA_WITH_AES_128_CCM_8",
        0xc0a3 => "TLS_DHE_RSA_WITH_AES_256_CCM_8",
        0xc0ac => "TLS_ECDHE_ECDSA_WITH_AES_128_CCM",
        0xc0ad => "TLS_ECDHE_ECDSA_WITH_AES_256_CCM",
        0xc0ae => "TLS_ECDHE_ECDSA_WITH_AES_128_CCM_8",
        0xc0af => "TLS_ECDHE_ECDSA_WITH_AES_256_CCM_8",
        0xcca8 => "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        0xcca9 => "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        0xccaa => "TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        other => return format!("0x{other:04x}").into(),
    }
    .into()
}

pub(crate) fn group(id: u16) -> Cow<'static, str> {
    match id {
        23 => "secp256r1",
        24 => "secp384r1",
        25 => "secp521r1",
        29 => "x25519",
        30 => "x448",
        31 => "brainpoolP256r1tls13",
        32 => "brainpoolP384r1tls13",
        33 => "brainpoolP512r1tls13",
        256 => "ffdhe2048",
        257 => "ffdhe3072",
        258 => "ffdhe4096",
        259 => "ffdhe6144",
        260 => "ffdhe8192",
        512 => "MLKEM512",
        513 => "MLKEM768",
        514 => "MLKEM1024",
        4587 => "SecP256r1MLKEM768",
        4588 => "X25519MLKEM768",
        4589 => "SecP384r1MLKEM1024",
        25497 => "X25519Kyber768Draft00",
        other => return format!("0x{other:04x}").into(),
    }
    .into()
}

pub(crate) fn version(id: u16) -> Cow<'static, str> {
    match id {
        0x0300 => "SSL 3.0",
        0x0301 => "TLS 1.0",
        0x0302 => "TLS 1.1",
        0x0303 => "TLS 1.2",
        0x0304 => "TLS 1.3",
        other => return format!("0x{other:04x}").into(),
    }
    .into()
}

pub(crate) fn alert(id: u8) -> Cow<'static, str> {
    match id {
        0 => "close_notify",
        10 => "unexpected_message",
        20 => "bad_record_mac",
        22 => "record_overflow",
        40 => "handshake_failure",
        42 => "bad_certificate",
        43 => "unsupported_certificate",
        44 => "certificate_revoked",
        45 => "certificate_expired",
        46 => "certificate_unknown",
        47 => "illegal_parameter",
        48 => "unknown_ca",
        50 => "decode_error",
        51 => "decrypt_error",
        70 => "protocol_version",
        71 => "insufficient_security",
        80 => "internal_error",
        86 => "inappropriate_fallback",
        90 => "user_canceled",
        109 => "missing_extension",
        110 => "unsupported_extension",
        112 => "unrecognized_name",
        116 => "certificate_required",
        120 => "no_application_protocol",
        other => return other.to_string().into(),
    }
    .into()
}
