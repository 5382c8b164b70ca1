// SPDX-License-Identifier: Apache-2.0
//! The handshake decides which keys open which records.

use super::super::handshake::{FINISHED, KEY_UPDATE};
use super::super::hello::{ClientHello, EncryptedExtensions, ServerHello};
use super::super::keylog::Label;
use super::super::layer::without_start;
use super::super::record::Protection;
use super::super::suite::Suite;
use super::super::{names, tls12, tls13};
use super::{cannot_tell, Session, GAP, NO_KEYS, TLS_1_2};
use crate::tables::Tables;
use crate::{Direction, Severity};

const END_OF_EARLY_DATA: u8 = 5;
const TLS_1_3: u16 = 0x0304;
const UNSUPPORTED: &str = "the capture holds TLS connections of cipher suites that are not opened";

impl Session {
    /// Changes the keys of TLS 1.3 as other messages of a handshake ask.
    pub(super) fn change_keys(&mut self, direction: Direction, kind: u8, tables: &mut Tables) {
        if kind == END_OF_EARLY_DATA {
            self.application.early_verdict(true, tables);
        }
        if matches!(kind, END_OF_EARLY_DATA | FINISHED) && direction == Direction::Up {
            self.early = false;
        }
        let Protection::Tls13(keys) = &mut self.way(direction).protection else {
            return;
        };
        match kind {
            END_OF_EARLY_DATA | FINISHED => keys.advance(),
            KEY_UPDATE if !keys.update() => self.close(direction, tables),
            _ => {}
        }
    }

    pub(super) fn client_hello(&mut self, hello: ClientHello) {
        let early = self.keys.lookup(Label::ClientEarlyTraffic, &hello.random);
        if hello.early_data && self.client.is_none() {
            // The suite is that of the session resumed, which the capture does not tell.
            let mut keys = tls13::Keys::default();
            for suite in (0x1301..=0x1305).filter_map(Suite::of) {
                keys.follow(suite, early);
            }
            self.up.protection = Protection::Tls13(keys);
            self.early = true;
        }
        self.client = Some(hello);
    }

    pub(super) fn server_hello(&mut self, hello: &ServerHello, tables: &mut Tables) {
        self.version = hello.version;
        let Some(client) = &self.client else {
            // A gap has been counted.
            if !matches!(self.up.protection, Protection::Closed) {
                without_start(tables);
            }
            return self.give_up(GAP, tables);
        };
        match hello.version {
            TLS_1_3 => {
                let Some(suite) = Suite::of(hello.cipher_suite) else {
                    unsupported(hello, tables);
                    return self.give_up(UNSUPPORTED, tables);
                };
                let key = |label| self.keys.lookup(label, &client.random);
                let mut down = tls13::Keys::default();
                down.follow(suite, key(Label::ServerHandshakeTraffic));
                down.follow(suite, key(Label::ServerTraffic));
                let mut up = match std::mem::take(&mut self.up.protection) {
                    Protection::Tls13(early) => early,
                    _ => tls13::Keys::default(),
                };
                up.follow(suite, key(Label::ClientHandshakeTraffic));
                up.follow(suite, key(Label::ClientTraffic));
                if up.is_empty() && down.is_empty() {
                    return self.no_keys(tables);
                }
                self.up.protection = Protection::Tls13(up);
                self.down.protection = Protection::Tls13(down);
            }
            TLS_1_2 if tls12::is_supported(hello.cipher_suite) => {
                if let Some(alpn) = &hello.alpn {
                    self.application.agree(alpn, tables);
                }
                let master = self.keys.lookup(Label::ClientRandom, &client.random);
                let keys = master.and_then(|master| {
                    tls12::keys(hello.cipher_suite, &master, &client.random, &hello.random)
                });
                if let Some([up, down]) = keys {
                    self.up.pending = Some(Box::new(up));
                    self.down.pending = Some(Box::new(down));
                }
            }
            // Until keys come into force the handshake is in clear text.
            _ => {
                unsupported(hello, tables);
                cannot_tell(tables, UNSUPPORTED);
                self.refused = true;
            }
        }
    }

    pub(super) fn encrypted_extensions(
        &mut self,
        chosen: &EncryptedExtensions,
        tables: &mut Tables,
    ) {
        if let Some(alpn) = &chosen.alpn {
            self.application.agree(alpn, tables);
        }
        self.application.early_verdict(chosen.early_data, tables);
        self.early &= chosen.early_data;
    }

    /// TLS 1.2: what follows this way is protected.
    pub(super) fn change_cipher_spec(&mut self, direction: Direction, tables: &mut Tables) {
        match self.way(direction).pending.take() {
            Some(key) => self.way(direction).protection = Protection::Tls12(key),
            None if self.refused => self.close(direction, tables),
            None => self.no_keys(tables),
        }
    }

    fn no_keys(&mut self, tables: &mut Tables) {
        tables.count(
            "no_keys",
            Severity::DataLoss,
            "TLS connections that no key log opens: run the client with SSLKEYLOGFILE and give that file beside the capture",
        );
        self.give_up(NO_KEYS, tables);
    }

    fn give_up(&mut self, reason: &'static str, tables: &mut Tables) {
        cannot_tell(tables, reason);
        self.close(Direction::Up, tables);
        self.close(Direction::Down, tables);
    }
}

fn unsupported(hello: &ServerHello, tables: &mut Tables) {
    let (suite, version) = (
        names::cipher_suite(hello.cipher_suite),
        names::version(hello.version),
    );
    tables.stats.count(
        format!("unsupported_cipher_suite:{suite} of {version}"),
        Severity::DataLoss,
        "TLS connections whose records are not opened: use TLS 1.3, or 1.2 with AES-GCM, AES-CCM or ChaCha20-Poly1305",
    );
}
