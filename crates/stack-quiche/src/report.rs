// SPDX-License-Identifier: Apache-2.0
//! The client's own account. All instants are `CLOCK_MONOTONIC` in nanoseconds.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::failure::Failure;
use crate::sys::monotonic_ns;
use crate::QUICHE_VERSION;

/// What became of the offer to send data in 0-RTT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EarlyData {
    NotOffered,
    Accepted,
    Rejected,
}

/// What a client saw of the change of its address. Instants are those at which the program had read the bytes.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Moved {
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
    pub url: String,
    pub protocol: &'static str,
    pub start_ns: u64,
    pub first_byte_ns: Option<u64>,
    pub last_byte_ns: u64,
    pub close_ns: u64,
    pub status: Option<u16>,
    pub http_version: &'static str,
    pub body_bytes: usize,
    pub sha256: String,
    pub congestion_control: Option<&'static str>,
    pub alpn: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_group: Option<String>,
    /// Whether the server asked for another key share.
    #[serde(
        rename = "hello_retry_request",
        skip_serializing_if = "Option::is_none"
    )]
    pub retried: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_data: Option<EarlyData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrated: Option<bool>,
    /// Why the address did not change, or not as it should.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migration_failure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address_change: Option<Moved>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether it was whole before others of its connection failed.
    #[serde(skip)]
    pub spared: bool,
}

impl Request {
    /// A request that begins now.
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

    /// Size and hash, after the last byte.
    pub fn describe(&mut self, body: &[u8]) {
        self.body_bytes = body.len();
        self.sha256 = boring::sha::sha256(body)
            .iter()
            .fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    }
}

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    versions: BTreeMap<&'static str, &'static str>,
    requests: &'a [Request],
    close_ns: u64,
}

/// Write the account of a client's requests.
pub fn write(output: &Path, requests: &[Request]) -> Result<(), Failure> {
    let versions = BTreeMap::from([("quiche", QUICHE_VERSION)]);
    let report = Report {
        version: 1,
        versions,
        requests,
        close_ns: requests.last().map_or(0, |request| request.close_ns),
    };
    let text = serde_json::to_string_pretty(&report)
        .map_err(|error| Failure::cannot("write the report", error))?;
    std::fs::write(output, text)
        .map_err(|error| Failure::cannot(&format!("write {}", output.display()), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// What the laboratory reads of an account stands in it, as in the golden file of all writers of this format.
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
        request.describe(b"hello world");
        let file = std::env::temp_dir().join(format!("quiclab-quiche-{}.json", std::process::id()));
        write(&file, &[request]).expect("written");
        let own: Value =
            serde_json::from_str(&std::fs::read_to_string(&file).expect("read")).expect("JSON");
        std::fs::remove_file(&file).expect("removed");
        for (name, value) in golden["requests"][0].as_object().expect("an object") {
            assert_eq!(&own["requests"][0][name], value, "{name}");
        }
        assert_eq!(own["version"], golden["version"]);
        assert_eq!(own["close_ns"], golden["close_ns"]);
        assert!(own["versions"].is_object());
    }
}
