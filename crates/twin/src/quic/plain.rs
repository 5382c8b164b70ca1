// SPDX-License-Identifier: Apache-2.0
//! The place of TLS 1.3 without its cryptography: messages of the usual lengths, keys that change nothing.

use std::any::Any;
use std::io::Cursor;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    self, AeadKey, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey,
    KeyPair, Keys, PacketKey, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};

/// Length of the tag behind each packet.
pub const TAG_BYTES: usize = 16;
const CLIENT_HELLO_BYTES: usize = 300;
const SERVER_HELLO_BYTES: usize = 90;
const FINISHED_BYTES: usize = 36;
const LENGTH_BYTES: usize = 4;

/// Configuration of both sides.
pub struct Plain {
    /// Length of the server's flight behind its `ServerHello`.
    pub flight_bytes: usize,
}

struct Session {
    side: Side,
    own: Vec<u8>,
    peer: Option<TransportParameters>,
    flight_bytes: usize,
    heard: Vec<u8>,
    /// Messages that were read, and steps of writing that were taken.
    read: u32,
    written: u32,
}

impl Session {
    fn start(side: Side, params: &TransportParameters, flight_bytes: usize) -> Box<Self> {
        let mut own = Vec::new();
        params.write(&mut own);
        Box::new(Self {
            side,
            own,
            peer: None,
            flight_bytes,
            heard: Vec::new(),
            read: 0,
            written: 0,
        })
    }

    /// A message: its length, the parameters behind theirs, and what fills it up.
    fn message(&self, buf: &mut Vec<u8>, length: usize) {
        let begin = buf.len();
        let params = u32::try_from(self.own.len()).expect("short parameters");
        let length = length.max(2 * LENGTH_BYTES + self.own.len());
        buf.extend(
            u32::try_from(length)
                .expect("a short message")
                .to_be_bytes(),
        );
        buf.extend(params.to_be_bytes());
        buf.extend(&self.own);
        buf.resize(begin + length, 0);
    }

    fn hear(&mut self) -> Result<bool, TransportError> {
        let number = |bytes: &[u8]| {
            let bytes = bytes.try_into().expect("four bytes");
            usize::try_from(u32::from_be_bytes(bytes)).expect("a short message")
        };
        if self.heard.len() < 2 * LENGTH_BYTES {
            return Ok(false);
        }
        let length = number(&self.heard[..LENGTH_BYTES]);
        if self.heard.len() < length {
            return Ok(false);
        }
        let message: Vec<u8> = self.heard.drain(..length).collect();
        let params = number(&message[LENGTH_BYTES..2 * LENGTH_BYTES]);
        let told = &message[2 * LENGTH_BYTES..2 * LENGTH_BYTES + params];
        self.peer = Some(TransportParameters::read(
            self.side,
            &mut Cursor::new(told),
        )?);
        self.read += 1;
        Ok(true)
    }
}

fn keys() -> Keys {
    Keys {
        header: KeyPair {
            local: Box::new(Open),
            remote: Box::new(Open),
        },
        packet: KeyPair {
            local: Box::new(Open),
            remote: Box::new(Open),
        },
    }
}

impl crypto::Session for Session {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        (self.read > 0).then(|| Box::new(()) as Box<dyn Any>)
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.read < 2
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        let before = self.read;
        self.heard.extend(buf);
        while self.hear()? {}
        Ok(before == 0 && self.read > 0)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    /// Client: hello; keys of the handshake once it has the server's; Finished and keys of data once it has the flight.
    /// Server: once it has the client's hello, its own with keys of the handshake, then the flight with those of data.
    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let (step, read) = (self.written, self.read);
        let (length, gives_keys) = match (self.side, step) {
            (Side::Client, 0) => (CLIENT_HELLO_BYTES, false),
            (Side::Client, 1) if read >= 1 => (0, true),
            (Side::Client, 2) if read >= 2 => (FINISHED_BYTES, true),
            (Side::Server, 0) if read >= 1 => (SERVER_HELLO_BYTES, true),
            (Side::Server, 1) => (self.flight_bytes, true),
            _ => return None,
        };
        self.written += 1;
        if length > 0 {
            self.message(buf, length);
        }
        gives_keys.then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl crypto::ClientConfig for Plain {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        Ok(Session::start(Side::Client, params, self.flight_bytes))
    }
}

impl crypto::ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(
        self: Arc<Self>,
        _: u32,
        params: &TransportParameters,
    ) -> Box<dyn crypto::Session> {
        Session::start(Side::Server, params, self.flight_bytes)
    }
}

/// A key that changes nothing.
pub struct Open;

impl PacketKey for Open {
    fn encrypt(&self, _: u64, buf: &mut [u8], _: usize) {
        let end = buf.len();
        buf[end - TAG_BYTES..].fill(0xee);
    }

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG_BYTES).ok_or(CryptoError)?;
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG_BYTES
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Open {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG_BYTES
    }
}

impl HmacKey for Open {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        for (at, byte) in signature_out.iter_mut().enumerate() {
            *byte = data.get(at).copied().unwrap_or(1);
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Err(CryptoError)
    }
}

impl HandshakeTokenKey for Open {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self)
    }
}

impl AeadKey for Open {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}
