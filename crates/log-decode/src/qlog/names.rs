// SPDX-License-Identifier: Apache-2.0
//! One vocabulary: what dialects call packets, frames and packet number spaces, in the words of RFC 9000.

/// The names of packet types in the tables; `None` for what says that the log does not know.
pub(super) fn packet_type(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"1RTT" => "1RTT",
        b"initial" => "initial",
        b"handshake" => "handshake",
        b"0RTT" => "0RTT",
        _ => return rare_packet_type(name),
    })
}

#[cold]
fn rare_packet_type(name: &[u8]) -> Option<&'static str> {
    let mut plain = name.to_ascii_lowercase();
    plain.retain(u8::is_ascii_alphanumeric);
    Some(match plain.as_slice() {
        b"1rtt" | b"onertt" | b"short" | b"shortheader" | b"1rttprotected" => "1RTT",
        b"0rtt" | b"zerortt" | b"0rttprotected" => "0RTT",
        b"initial" => "initial",
        b"handshake" => "handshake",
        b"retry" => "retry",
        b"versionnegotiation" => "version_negotiation",
        b"statelessreset" => "stateless_reset",
        _ => return None,
    })
}

/// The packets that a packet number space counts, by the space's name.
pub(super) fn packet_type_of_space(space: &[u8]) -> Option<&'static str> {
    Some(match space.to_ascii_lowercase().as_slice() {
        b"initial" => "initial",
        b"handshake" => "handshake",
        b"application_data" | b"application" | b"appdata" => "1RTT",
        _ => return None,
    })
}

/// The packet number space that numbers packets of a type (RFC 9000 section 12.3).
pub(super) fn space_of(packet_type: Option<&str>) -> usize {
    match packet_type {
        Some("initial") => 0,
        Some("handshake") => 1,
        _ => 2,
    }
}

macro_rules! frame_types {
    ($($variant:ident $name:literal $(| $other:literal)*;)*) => {
        /// A frame type of QUIC, or of a drafted extension.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(super) enum FrameType {
            $($variant,)*
            /// A frame type whose name is none of these.
            #[default]
            Other,
        }

        impl FrameType {
            /// The name in the column `frame_type`; empty for one that keeps its own.
            pub(super) fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Other => "",
                }
            }

            fn of_lower_case(name: &str) -> Self {
                match name {
                    $($name $(| $other)* => Self::$variant,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

frame_types! {
    Stream "stream";
    Ack "ack" | "ack_ecn" | "ack_extended" | "ack_receive_timestamps" | "ack_receive_timestamps_draft_02"
        | "ack_receive_timestamps_draft_02_ecn";
    Padding "padding";
    Ping "ping";
    Crypto "crypto" | "crypto_frame" | "crypto_hs";
    ResetStream "reset_stream" | "rst_stream";
    ResetStreamAt "reset_stream_at" | "rst_stream_at";
    StopSending "stop_sending";
    NewToken "new_token";
    MaxData "max_data";
    MaxStreamData "max_stream_data";
    MaxStreams "max_streams" | "max_streams_bidi" | "max_streams_uni" | "max_streams_bidir" | "max_streams_unidir";
    DataBlocked "data_blocked" | "blocked";
    StreamDataBlocked "stream_data_blocked" | "stream_blocked";
    StreamsBlocked "streams_blocked" | "streams_blocked_bidi" | "streams_blocked_uni" | "streams_blocked_bidir"
        | "streams_blocked_unidir" | "stream_id_blocked";
    NewConnectionId "new_connection_id";
    RetireConnectionId "retire_connection_id";
    PathChallenge "path_challenge";
    PathResponse "path_response";
    ConnectionClose "connection_close" | "application_close";
    HandshakeDone "handshake_done";
    Datagram "datagram";
    AckFrequency "ack_frequency";
    ImmediateAck "immediate_ack";
    TimeStamp "time_stamp" | "timestamp";
    Unknown "unknown";
}

impl FrameType {
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"stream" => Self::Stream,
            b"ack" => Self::Ack,
            b"padding" => Self::Padding,
            _ => std::str::from_utf8(name).map_or(Self::Other, |name| {
                Self::of_lower_case(&name.to_ascii_lowercase())
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_agree() {
        for (name, expected) in [
            ("1-RTT", Some("1RTT")),
            ("RETRY", Some("retry")),
            ("one_rtt", Some("1RTT")),
            ("UNKNOWN", None),
        ] {
            assert_eq!(packet_type(name.as_bytes()), expected, "{name}");
        }
        for (name, expected) in [
            ("STREAM", "stream"),
            ("rst_stream", "reset_stream"),
            ("crypto_frame", "crypto"),
            ("application_close", "connection_close"),
            ("knob", ""),
        ] {
            assert_eq!(FrameType::of(name.as_bytes()).as_str(), expected, "{name}");
        }
    }
}
