// SPDX-License-Identifier: Apache-2.0
//! The client's own account. All instants are `CLOCK_MONOTONIC` in nanoseconds.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use crate::clock::monotonic_ns;
use crate::failure::Failure;
use crate::lock::Versions;

/// Outcome of the offer to send data in 0-RTT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EarlyData {
    /// No session allowed it, or nobody asked for it.
    NotOffered,
    /// The server took it.
    Accepted,
    /// The server declined.
    Rejected,
}

/// Change of the client's address as the client saw it. Instants are those at which the program had read the bytes.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Moved {
    /// Instant at which it noticed.
    pub noticed_ns: Option<u64>,
    /// Bytes of the body that it had when it noticed.
    pub body_bytes_before: u64,
    /// The last new byte of the body before anything came over the new path.
    pub last_byte_before_ns: Option<u64>,
    /// The first one after that.
    pub first_byte_after_ns: Option<u64>,
}

/// One request.
#[derive(Debug, Serialize)]
pub struct Request {
    /// The object.
    pub url: String,
    /// Protocol that was asked for.
    pub protocol: &'static str,
    /// Instant at which it was asked for.
    pub start_ns: u64,
    /// Instant of the first byte of the body.
    pub first_byte_ns: Option<u64>,
    /// Instant of the last byte of the body.
    pub last_byte_ns: u64,
    /// Instant of the end of the connection.
    pub close_ns: u64,
    /// The status code.
    pub status: Option<u16>,
    /// The version that the answer came in.
    pub http_version: &'static str,
    /// Size of the body.
    pub body_bytes: usize,
    /// Hash of the body.
    pub sha256: String,
    /// The congestion controller of this end.
    pub congestion_control: Option<&'static str>,
    /// The protocol that TLS agreed on.
    pub alpn: Option<String>,
    /// The group of the key exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_group: Option<String>,
    /// True if the server answered with a `HelloRetryRequest`.
    #[serde(
        rename = "hello_retry_request",
        skip_serializing_if = "Option::is_none"
    )]
    pub retried: Option<bool>,
    /// True if the session was resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed: Option<bool>,
    /// Outcome of 0-RTT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_data: Option<EarlyData>,
    /// True if the server followed to the new address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrated: Option<bool>,
    /// Reason for which the address did not change as it should.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migration_failure: Option<String>,
    /// The change of the address, where somebody else made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_change: Option<Moved>,
    /// Reason for which the answer is not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// True if it was whole before others of its connection failed.
    #[serde(skip)]
    pub spared: bool,
}

impl Request {
    /// A request that begins now.
    #[must_use]
    pub fn begin(url: &str) -> Self {
        let now = monotonic_ns();
        Self {
            url: url.to_owned(),
            protocol: "h3",
            start_ns: now,
            first_byte_ns: None,
            last_byte_ns: now,
            close_ns: now,
            status: None,
            http_version: "unknown",
            body_bytes: 0,
            sha256: String::new(),
            congestion_control: None,
            alpn: None,
            tls_group: None,
            retried: None,
            resumed: None,
            early_data: None,
            migrated: None,
            migration_failure: None,
            address_change: None,
            error: None,
            spared: false,
        }
    }

    /// Notes size and hash, after the last byte.
    pub fn describe(&mut self, body_bytes: usize, sha256: &[u8]) {
        self.body_bytes = body_bytes;
        self.sha256 = hex(sha256);
    }
}

/// Lower-case digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    versions: &'a Versions,
    requests: &'a [Request],
    close_ns: u64,
}

/// Writes the account of a client's requests.
///
/// # Errors
/// The file cannot be written.
pub fn write(output: &Path, versions: &Versions, requests: &[Request]) -> Result<(), Failure> {
    let report = Report {
        version: 1,
        versions,
        requests,
        close_ns: requests.last().map_or(0, |request| request.close_ns),
    };
    let text = serde_json::to_string_pretty(&report)
        .map_err(|error| Failure::cannot("write the report", error))?;
    std::fs::write(output, text).map_err(|error| Failure::unwritable(output, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// The account has all that the laboratory reads, as the golden file of all writers of this format.
    #[test]
    fn the_account_is_the_golden_one() {
        let golden: Value = serde_json::from_str(include_str!("../../../tests/golden/client.json"))
            .expect("a golden account");
        let mut request = Request {
            start_ns: 1000,
            first_byte_ns: Some(2000),
            last_byte_ns: 3000,
            close_ns: 4000,
            status: Some(200),
            http_version: "HTTP/3",
            alpn: Some("h3".to_owned()),
            ..Request::begin("https://server.test/hello")
        };
        let hash = golden["requests"][0]["sha256"].as_str().expect("a hash");
        let digest: Vec<u8> = (0..hash.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hash[at..at + 2], 16).expect("digits"))
            .collect();
        request.describe(11, &digest);
        let file = std::env::temp_dir().join(format!("stack-common-{}.json", std::process::id()));
        let versions = Versions::from([("quinn", "0.11.12")]);
        write(&file, &versions, &[request]).expect("written");
        let own: Value =
            serde_json::from_str(&std::fs::read_to_string(&file).expect("read")).expect("JSON");
        std::fs::remove_file(&file).expect("removed");
        for (name, value) in golden["requests"][0].as_object().expect("an object") {
            assert_eq!(&own["requests"][0][name], value, "{name}");
        }
        assert_eq!(own["version"], golden["version"]);
        assert_eq!(own["close_ns"], golden["close_ns"]);
        assert_eq!(own["versions"]["quinn"], "0.11.12");
    }
}
