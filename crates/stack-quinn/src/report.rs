// SPDX-License-Identifier: Apache-2.0
//! What a client writes down of its transfer. All instants are `CLOCK_MONOTONIC` in nanoseconds.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::error::Error;

#[derive(Debug, Serialize)]
pub struct Report {
    version: u32,
    versions: BTreeMap<&'static str, &'static str>,
    requests: Vec<Request>,
    close_ns: i64,
}

#[derive(Debug, Serialize)]
pub struct Request {
    pub url: String,
    pub protocol: &'static str,
    pub start_ns: i64,
    pub first_byte_ns: Option<i64>,
    pub last_byte_ns: i64,
    pub close_ns: i64,
    pub status: Option<u16>,
    pub http_version: &'static str,
    pub body_bytes: usize,
    pub sha256: String,
    pub congestion_control: &'static str,
    pub alpn: Option<String>,
    pub resumed: bool,
    pub early_data: &'static str,
    /// Whether, after the change of address, the server challenged the new path and got its response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Request {
    /// The request with the protocol that its connection speaks.
    pub fn over(mut self, alpn: Option<String>) -> Self {
        self.alpn = alpn;
        self
    }
}

/// Writes the account of a visit's requests.
pub fn write(path: &Path, requests: Vec<Request>) -> Result<(), Error> {
    let report = Report {
        version: 1,
        versions: [
            ("quinn", env!("QUINN_VERSION")),
            ("quinn-proto", env!("QUINN_PROTO_VERSION")),
            ("h3", env!("H3_VERSION")),
            ("rustls", env!("RUSTLS_VERSION")),
        ]
        .into(),
        close_ns: requests.last().map_or(0, |request| request.close_ns),
        requests,
    };
    let text = serde_json::to_vec_pretty(&report).map_err(std::io::Error::from);
    text.and_then(|text| fs::write(path, text))
        .map_err(|source| Error::Unwritable {
            path: path.to_owned(),
            source,
        })
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
        let expected = &golden["requests"][0];
        let request = Request {
            url: "https://server.test/hello".into(),
            protocol: "h3",
            start_ns: 1000,
            first_byte_ns: Some(2000),
            last_byte_ns: 3000,
            close_ns: 4000,
            status: Some(200),
            http_version: "HTTP/3",
            body_bytes: 11,
            sha256: expected["sha256"].as_str().expect("a hash").into(),
            congestion_control: "reno",
            alpn: None,
            resumed: false,
            early_data: "not_offered",
            migrated: None,
            error: None,
        };
        let file = std::env::temp_dir().join(format!("quiclab-quinn-{}.json", std::process::id()));
        write(&file, vec![request.over(Some("h3".into()))]).expect("written");
        let own: Value = serde_json::from_slice(&fs::read(&file).expect("read")).expect("JSON");
        fs::remove_file(&file).expect("removed");
        for (name, value) in expected.as_object().expect("an object") {
            assert_eq!(&own["requests"][0][name], value, "{name}");
        }
        assert_eq!(own["version"], golden["version"]);
        assert_eq!(own["close_ns"], golden["close_ns"]);
        assert!(own["versions"].is_object());
    }
}
